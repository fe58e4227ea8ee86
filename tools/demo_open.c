/* SPDX-License-Identifier: MIT */
#include "demo_open.h"

#include "command.h"
#include "driver.h"
#include "kernel_module.h"
#include "output.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef HAVE_SIM
#include <cushim/sim.h>

/* Why there is nothing to run on; NULL where there is, or where something is wrong with it that
 * its user wants to know of instead. */
static const char *lacking(const struct cushim_api *cu)
{
    struct kernel_module module;
    enum cushim_status status;
    int count = 0;

    if (cushim_status(cu) != CUSHIM_OK)
        return cushim_message(cu);
    fflush(stdout); /* an old driver forks here */
    status = cushim_init(cu);
    if (status == CUSHIM_OK) {
        bool none = cu->cuDeviceGetCount(&count) == CUDA_SUCCESS && count == 0;
        return none ? "the driver started, but lists no device" : NULL;
    }
    kernel_module_read(&module, "");
    return status == CUSHIM_ERROR_NO_DEVICE || !module.file ? cushim_message(cu) : NULL;
}

static const struct cushim_api *open_simulated(void)
{
    const char *devices = secure_getenv("CUSHIM_SIM_DEVICES");
    const struct cushim_api *cu;

    /* What may be why there is no device would leave none here either. */
    unsetenv("CUDA_VISIBLE_DEVICES");
    if (devices && strcmp(devices, "0") == 0)
        unsetenv("CUSHIM_SIM_DEVICES");
    cu = cushim_sim_open(NULL);
    if (!cu) {
        fprintf(stderr, "cushim: %s\n", cushim_last_error());
        exit(COMMAND_SYSTEM);
    }
    return cu;
}

struct demo_driver demo_open(const char *path, bool simulate)
{
    struct demo_driver driver = {NULL, simulate};
    const char *why = "asked for by --simulated";

    if (!simulate) {
        driver.cu = driver_open(path, CUSHIM_ORDER_DEFAULT);
        if (path || secure_getenv("CUSHIM_LIBCUDA"))
            return driver;
        why = lacking(driver.cu);
        if (!why)
            return driver;
    }
    output_text(OUTPUT_WARNING, "simulated GPU on this machine's CPU: ");
    output_text(OUTPUT_PLAIN, why);
    putchar('\n');
    if (driver.cu)
        cushim_close(driver.cu);
    return (struct demo_driver){open_simulated(), true};
}

#else

struct demo_driver demo_open(const char *path, bool simulate)
{
    (void)simulate;
    return (struct demo_driver){driver_open(path, CUSHIM_ORDER_DEFAULT), false};
}

#endif
