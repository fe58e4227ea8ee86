/* SPDX-License-Identifier: MIT */
/* Call a function that is newer than the headers in use. This source is written for CUDA 11.8, and
 * cuCtxGetId came with 12.0: the table has it, and the driver may. */
#define CUSHIM_CUDA_VERSION 11080
#include <stdio.h>
#include <string.h>

#include <cushim/device.h>
#include <cushim/error.h>

#if CUDA_VERSION >= 12000
#error "this example wants headers without cuCtxGetId"
#endif

/* For a function that not even cushim knows, the type is the caller's own. */
typedef CUresult(CUDAAPI *get_id_fn)(CUcontext context, unsigned long long *id);

static bool print_id(const struct cushim_api *cu, CUcontext context)
{
    unsigned long long by_table = 0, by_name = 0;
    enum cushim_proc_status why;

    if (!cushim_has(cu, "cuCtxGetId")) {
        /* It can be called all the same, and says what is missing. */
        CUresult code = cu->cuCtxGetId(context, &by_table);
        printf("%s: %s\n", cushim_error_name(code), cushim_last_error());
        return code == CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER;
    }
    if (!CUSHIM_CHECK(cu->cuCtxGetId(context, &by_table)))
        return false;

    /* The version is the release whose parameter list the type above has. */
    void *address = cushim_proc(cu, "cuCtxGetId", 12000, CUSHIM_STREAM_LEGACY, &why);
    get_id_fn get_id = NULL;
    memcpy(&get_id, &address, sizeof address);
    if (!get_id || !CUSHIM_CHECK(get_id(context, &by_name)))
        return false;
    printf("the context's id: %llu by the table, %llu by name\n", by_table, by_name);
    return by_table == by_name;
}

int main(void)
{
    const struct cushim_api *cu = cushim_load(NULL);
    struct cushim_device_scope gpu;
    if (cushim_device_enter(cu, 0, &gpu) != CUDA_SUCCESS) {
        printf("skipped: %s\n", gpu.outcome.message);
        return 77;
    }
    bool good = print_id(cu, gpu.context);
    good &= CUSHIM_CHECK(cushim_device_leave(&gpu));
    return good ? 0 : 1;
}
