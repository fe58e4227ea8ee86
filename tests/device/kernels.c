/* SPDX-License-Identifier: MIT */
/* On a device: every kernel of kernels/ against the same computation on the CPU, bit by bit; with a
 * name, that one alone. */
#include <string.h>

#include <checks.h>
#include <cushim/context.h>
#include <cushim/memory.h>

#include "device.h"

int main(int argc, char **argv)
{
    CUcontext context = NULL;
    const struct cushim_api *cu = cushim_load(NULL);
    struct check_run run = {.cu = cu};
    device_or_skip();
    setvbuf(stdout, NULL, _IOLBF, 0);
    CALL(cushim_primary_retain(cu, 0, &context));
    CALL(cu->cuCtxPushCurrent(context));
    for (const struct check *check = checks; check->name; check++) {
        if (argc > 1 && strcmp(argv[1], check->name) != 0)
            continue;
        bool good = check_kernel(check, &run);
        fprintf(good ? stdout : stderr, "%s: %s\n", check->name, run.message);
        CHECK(good);
    }
    CALL(cu->cuCtxPopCurrent(&context));
    CALL(cushim_primary_release(cu, 0));
    return 0;
}
