/* SPDX-License-Identifier: MIT */
#include "driver.h"

#include "command.h"
#include "names.h"
#include "options.h"
#include "output.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

void driver_refuse_release(const char *path)
{
    const int release = path ? version_parse(path) : 0;

    if (release > 0 && release <= cushim_registry_version() && access(path, F_OK) != 0)
        options_refuse("--driver: '%s' is a CUDA release, and no file: run the command on a "
                       "simulated driver of it, by 'cushim sim --cuda %s -- cushim ...'",
                       path, path);
}

const struct cushim_api *driver_open(const char *path, enum cushim_order order)
{
    driver_refuse_release(path);
    struct cushim_options options = {.size = sizeof options, .path = path, .order = order};
    const struct cushim_api *cu = cushim_open(&options);

    if (!cu) {
        fprintf(stderr, "cushim: %s\n", cushim_last_error());
        exit(COMMAND_SYSTEM);
    }
    return cu;
}

bool driver_found(const struct cushim_api *cu, const char *command)
{
    if (cushim_status(cu) == CUSHIM_OK)
        return true;
    fprintf(stderr, "%s: %s\n", command, cushim_message(cu));
    return false;
}

bool driver_has_device(const struct cushim_api *cu, int device, const char *command)
{
    int count = 0;

    fflush(stdout); /* an old driver forks here */
    if (cushim_init(cu) != CUSHIM_OK) {
        fprintf(stderr, "%s: %s\n", command, cushim_message(cu));
        return false;
    }
    if (cu->cuDeviceGetCount(&count) == CUDA_SUCCESS && device < count)
        return true;
    fprintf(stderr, "%s: no device %d; the driver has %d\n", command, device, count);
    return false;
}

json_t *driver_json(const struct cushim_api *cu)
{
    json_t *driver = json_object();

    output_json_set(driver, "path", output_json_text(cushim_path(cu)));
    output_json_set(driver, "version", json_integer(cushim_driver_version(cu)));
    output_json_set(driver, "status", json_string(cushim_status_name(cushim_status(cu))));
    return driver;
}

void driver_print(const struct cushim_api *cu)
{
    char version[VERSION_TEXT_SIZE];

    if (cushim_status(cu) != CUSHIM_OK) {
        output_text(OUTPUT_BAD, "no driver");
    } else {
        const char *path = cushim_path(cu);
        output_text(OUTPUT_TITLE, path ? path : "a file that is not known");
        printf(", CUDA %s", version_text(version, cushim_driver_version(cu)));
    }
    putchar('\n');
}

const char *driver_offset(char text[OFFSET_TEXT_SIZE], const struct cushim_api *cu,
                          const struct cushim_slot *slot)
{
    if (!slot->address || !cushim_base(cu))
        return NULL;
    snprintf(text, OFFSET_TEXT_SIZE, "0x%" PRIxPTR,
             (uintptr_t)slot->address - (uintptr_t)cushim_base(cu));
    return text;
}
