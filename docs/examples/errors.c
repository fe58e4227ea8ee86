/* SPDX-License-Identifier: MIT */
/* Errors where there is no driver at all: every call returns, and says why. Works everywhere, since
 * it opens a driver that does not exist. */
#include <stdio.h>
#include <string.h>

#include <cushim/device.h>
#include <cushim/error.h>

/* An application's own handler: what CUSHIM_CHECK prints to stderr by default comes here. */
static void note(void *user, const struct cushim_failure *failure)
{
    CUresult *last = user;
    *last = failure->code;
    printf("  line %d: %s\n    %s: %s\n    %s\n", failure->line, failure->expression, failure->name,
           failure->text, failure->detail);
}

/* Without a driver a machine looks like one whose driver found no device. */
static bool call_without_driver(const struct cushim_api *cu, const CUresult *last)
{
    const struct cushim_api *api = cu;
    CUdeviceptr memory = 0;
    int version = -1, count = -1;

    if (CUSHIM_CHECK(api->cuInit(0)) || *last != CUDA_ERROR_NO_DEVICE)
        return false;
    if (!CUSHIM_CHECK(api->cuDriverGetVersion(&version)) || version != 0)
        return false;
    if (CUSHIM_CHECK(api->cuMemAlloc(&memory, 1000)) || *last != CUDA_ERROR_NOT_INITIALIZED)
        return false;
    /* Helpers write outputs on success only. */
    return !CUSHIM_CHECK(cushim_device_list(cu, NULL, 0, &count)) &&
           *last == CUDA_ERROR_NO_DEVICE && count == -1;
}

/* Names and meanings of codes come from cushim, and through the driver's own functions as well. */
static bool name_codes(const struct cushim_api *api)
{
    const char *name = NULL;
    printf("700: %s: %s\n", cushim_error_name((CUresult)700), cushim_error_string((CUresult)700));
    return CUSHIM_CHECK(api->cuGetErrorName(CUDA_ERROR_OUT_OF_MEMORY, &name)) &&
           strcmp(name, "CUDA_ERROR_OUT_OF_MEMORY") == 0;
}

int main(void)
{
    static CUresult last; /* a handler's argument stays for good */
    struct cushim_options options = {.size = sizeof options, .path = "/nowhere/libcuda.so.1"};

    const struct cushim_api *cu = cushim_open(&options);
    if (!cu) { /* contradicting options, or no memory; never for want of a driver */
        fprintf(stderr, "%s\n", cushim_last_error());
        return 1;
    }
    printf("%s: %s\n", cushim_status_name(cushim_status(cu)), cushim_message(cu));
    size_t count = 0;
    struct cushim_attempt attempt = {.size = sizeof attempt};
    for (; cushim_attempt_at(cu, count, &attempt); count++)
        printf("  tried %s: %s\n", attempt.path, attempt.message);

    bool good = cushim_status(cu) == CUSHIM_ERROR_NOT_FOUND && count == 1 &&
                CUSHIM_CHECK(cushim_error_handler_set(note, &last)) &&
                call_without_driver(cu, &last) && name_codes(cu);
    good &= CUSHIM_CHECK(cushim_error_handler_set(NULL, NULL));
    /* Nothing of it has run: the system may unload the library, too, if there is one. */
    cushim_last_error_clear();
    cushim_close_unload(cu);
    return good ? 0 : 1;
}
