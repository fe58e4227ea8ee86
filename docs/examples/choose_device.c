/* SPDX-License-Identifier: MIT */
/* Choose a device: the one whose UUID begins as the argument does, else of those with a compute
 * capability of 7.0 or later the one with the most memory. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cushim/device.h>
#include <cushim/error.h>

static bool is_wanted(const struct cushim_device_properties *is, const char *uuid)
{
    if (uuid)
        return strncmp(is->uuid, uuid, strlen(uuid)) == 0;
    return is->major >= 7;
}

/* The number of the best device; -1 if none will do, or a call failed. */
static int choose(const struct cushim_api *cu, const char *uuid)
{
    int count = 0, best = -1;
    size_t most = 0;
    if (!CUSHIM_CHECK(cushim_device_list(cu, NULL, 0, &count)))
        return -1;
    CUdevice *devices = calloc((size_t)count + 1, sizeof *devices);
    bool good = devices && CUSHIM_CHECK(cushim_device_list(cu, devices, count, NULL));
    for (int i = 0; good && i < count; i++) {
        struct cushim_device_properties is = {.size = sizeof is};
        if (!CUSHIM_CHECK(cushim_device_describe(cu, devices[i], &is)))
            break;
        printf("%d: %s, %s, %d.%d, %zu MiB\n", devices[i], is.name, is.uuid, is.major, is.minor,
               is.total_memory >> 20);
        if (!is_wanted(&is, uuid) || is.total_memory <= most)
            continue;
        best = devices[i];
        most = is.total_memory;
    }
    free(devices);
    return best;
}

int main(int argc, char **argv)
{
    const struct cushim_api *cu = cushim_load(NULL);
    if (cushim_init(cu) != CUSHIM_OK) {
        printf("skipped: %s\n", cushim_message(cu));
        return 77;
    }
    int device = choose(cu, argc > 1 ? argv[1] : NULL);
    if (device < 0) {
        puts("no device will do");
        return 1;
    }
    struct cushim_device_scope gpu;
    if (cushim_device_enter(cu, device, &gpu) == CUDA_SUCCESS) {
        size_t free_bytes = 0, bytes = 0;
        if (CUSHIM_KEEP(&gpu.outcome, cu->cuMemGetInfo(&free_bytes, &bytes)))
            printf("device %d, %zu of %zu MiB are free\n", device, free_bytes >> 20, bytes >> 20);
    }
    if (cushim_device_leave(&gpu) == CUDA_SUCCESS)
        return 0;
    fprintf(stderr, "%s\n", gpu.outcome.message);
    return 1;
}
