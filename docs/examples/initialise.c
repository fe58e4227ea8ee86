/* SPDX-License-Identifier: MIT */
/* Load the driver, initialise it, and say what came of it. */
#include <stdio.h>

#include <cushim/error.h>

int main(void)
{
    /* The process-wide instance: opened by the first call, never NULL. This touches no GPU. */
    const struct cushim_api *cu = cushim_load(NULL);
    printf("driver: %s\n", cushim_message(cu));

    /* cuInit(0), and its answer in words. Some old drivers fork in there: what is not flushed would
     * be printed twice. */
    fflush(stdout);
    enum cushim_status status = cushim_init(cu);
    if (status != CUSHIM_OK) {
        printf("skipped: %s: %s\n", cushim_status_name(status), cushim_message(cu));
        return 77;
    }

    int version = 0, count = 0;
    if (!CUSHIM_CHECK(cu->cuDriverGetVersion(&version)) ||
        !CUSHIM_CHECK(cu->cuDeviceGetCount(&count)))
        return 1;
    printf("CUDA %d.%d, %d device(s)\n", version / 1000, version % 1000 / 10, count);
    return version == cushim_driver_version(cu) && count > 0 ? 0 : 1;
}
