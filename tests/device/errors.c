/* SPDX-License-Identifier: MIT */
/* On a real device: names of codes are the driver's, and what the check macro says of calls that
 * fail there. */
#include <string.h>

#include <cushim/context.h>
#include <cushim/device.h>
#include <cushim/error.h>

#include "device.h"

static struct {
    unsigned calls;
    CUresult code;
} seen;

static void print_failure(void *user, const struct cushim_failure *failure)
{
    CHECK(user == &seen);
    seen.calls++;
    seen.code = failure->code;
    printf("  %s\n", failure->message);
    CHECK(strcmp(failure->name, "unknown error") != 0);
}

/* Every code that either of the two knows. */
static void compare_names(const struct cushim_api *cu)
{
    unsigned same = 0, newer = 0, other = 0;
    for (int code = 0; code < 2000; code++) {
        const char *theirs = NULL, *ours = cushim_error_name((CUresult)code);
        if (cu->cuGetErrorName((CUresult)code, &theirs) != CUDA_SUCCESS)
            theirs = NULL;
        if (!ours && !theirs)
            continue;
        if (ours && theirs && strcmp(ours, theirs) == 0) {
            same++;
            continue;
        }
        printf("  code %d: %s here, %s in the driver\n", code, ours ? ours : "none",
               theirs ? theirs : "none");
        if (theirs)
            other++;
        else
            newer++;
    }
    printf("names of codes: %u as in the driver, %u that it does not know, %u that differ\n", same,
           newer, other);
    CHECK(same > 60);
    if (cushim_driver_version(cushim_load(NULL)) <= cushim_registry_version())
        CHECK(other == 0);
}

static CUresult allocate(const struct cushim_api *cu, size_t bytes, CUdeviceptr *memory)
{
    CUSHIM_RETURN_IF_FAILED(cu->cuMemAlloc_v2(memory, bytes));
    return CUDA_SUCCESS;
}

int main(void)
{
    const struct cushim_api *cu = device_or_skip();
    const struct cushim_api *instance = cushim_load(NULL);
    CUcontext context = NULL;
    CUdeviceptr memory = 0x5a5a;
    CALL(cushim_error_handler_set(print_failure, &seen));
    compare_names(cu);

    printf("failures:\n");
    CHECK(!CUSHIM_CHECK(cu->cuMemFree_v2(0x1234)));
    CHECK(seen.calls == 1); /* no context is current */
    CHECK(CUSHIM_CHECK(cushim_primary_retain(instance, 0, &context)));
    CHECK(CUSHIM_CHECK(instance->cuCtxPushCurrent(context)));
    CHECK(seen.calls == 1);
    CHECK(!CUSHIM_CHECK(cu->cuMemFree_v2(0x1234)));
    CHECK(seen.calls == 2 && seen.code == CUDA_ERROR_INVALID_VALUE);
    CHECK(allocate(cu, (size_t)1 << 50, &memory) == CUDA_ERROR_OUT_OF_MEMORY);
    CHECK(seen.calls == 3 && seen.code == CUDA_ERROR_OUT_OF_MEMORY);
    CHECK(allocate(cu, 0, &memory) == CUDA_ERROR_INVALID_VALUE);
    CHECK(!CUSHIM_CHECK(instance->cuCtxPushCurrent(NULL)));
    CHECK(!CUSHIM_CHECK(cushim_primary_retain(instance, 4711, &context)));
    CHECK(seen.calls == 6 && seen.code == CUDA_ERROR_INVALID_DEVICE);

    /* An entry that the driver lacks says why. */
    for (size_t i = 0; i < cushim_entry_count(); i++) {
        struct cushim_entry entry;
        CHECK(cushim_entry_at(i, &entry));
        if (strcmp(entry.symbol, "cuWGLGetDevice") != 0)
            continue;
        CUdevice device;
        char text[512];
        printf("  %s: %s\n", entry.symbol,
               cushim_reason(instance, entry.symbol, NULL, text, sizeof text));
        CHECK(!CUSHIM_CHECK(cu->cuWGLGetDevice(&device, NULL)));
        CHECK(seen.code == CUDA_ERROR_NOT_SUPPORTED && strstr(cushim_last_error(), "Windows"));
    }
    CHECK(CUSHIM_CHECK(instance->cuCtxPopCurrent(&(CUcontext){NULL})));
    CHECK(CUSHIM_CHECK(cushim_primary_release(instance, 0)));
    return 0;
}
