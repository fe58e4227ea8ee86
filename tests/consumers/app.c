/* SPDX-License-Identifier: MIT */
/* A program on the table, the same for every way of adopting cushim. */
#include <stdio.h>

#include <cushim/cushim.h>

int main(void)
{
    const struct cushim_api *cu = cushim_load(NULL);
    const struct cushim_api *cushim = cushim_load(NULL);
    CUdeviceptr memory = 0;
    printf("status %s\n", cushim_status_name(cushim_status(cushim)));
    printf("driver %d\n", cushim_driver_version(cushim));
    /* Before cuInit, with a driver and without one. */
    printf("cuMemAlloc %s\n", cushim_error_name(cu->cuMemAlloc(&memory, 1)));
    return 0;
}
