/* SPDX-License-Identifier: MIT */
#include "context.h"

#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "loader/init.h"
#include "loader/instance.h"
#include "scope.h"

/* Call with a context through the table: the sentence has the context if that is refused. */
#define CONTEXT_CALL(cu, context, call, ...)                                                       \
    cushim_scope_check(cu->call(__VA_ARGS__), __func__, #call, context)

/* ---- before a device is used ---- */

CUresult cushim_context_ready(const struct cushim_api *cu, const char *helper)
{
    struct cushim_error_saved sentence;
    const CUresult code = cushim_init_code(cu);
    if (code == CUDA_SUCCESS)
        return code;
    cushim_error_save(&sentence);
    return cushim_error_refuse(code, helper, "%s", sentence.text);
}

CUresult cushim_context_check_device(const struct cushim_api *cu, CUresult code, const char *helper,
                                     const char *call, CUdevice device)
{
    int count = 0;
    if (code != CUDA_ERROR_INVALID_DEVICE)
        return cushim_error_check(code, helper, call);
    if (cu->cuDeviceGetCount(&count) != CUDA_SUCCESS || count <= 0)
        return cushim_error_refuse(code, helper, "device is %d, which %s does not know", device,
                                   call);
    return cushim_error_refuse(code, helper, "device is %d; the driver has %d, numbered from 0",
                               device, count);
}

/* ---- how often primary contexts are retained ---- */

/* One device. The count is changed before the driver is called and after, never during. */
struct context_primary {
    atomic_uint count;
    _Atomic(CUcontext) context;
};

/* All devices of an instance, in one block that goes with it. */
struct context_primaries {
    int count;
    struct context_primary devices[];
};

/* NULL: nothing is retained, or there is no memory. */
static struct context_primaries *context_primaries(const struct cushim_api *cu)
{
    return atomic_load(&cu->instance->primary);
}

static struct context_primary *context_primary_of(const struct cushim_api *cu, CUdevice device)
{
    struct context_primaries *all = context_primaries(cu);
    return all && device >= 0 && device < all->count ? &all->devices[device] : NULL;
}

/* Two threads may both make the block; the second gives its own back. */
static CUresult context_make_primaries(const struct cushim_api *cu, const char *helper)
{
    int count = 0;
    void *none = NULL;
    if (context_primaries(cu))
        return CUDA_SUCCESS;
    CUresult code = CUSHIM_CALL(cu, helper, cuDeviceGetCount, &count);
    if (code != CUDA_SUCCESS)
        return code;
    struct context_primaries *made =
        calloc(1, sizeof *made + (size_t)count * sizeof *made->devices);
    if (!made)
        return cushim_error_refuse(CUDA_ERROR_OUT_OF_MEMORY, helper, "no memory to count it");
    made->count = count;
    if (!atomic_compare_exchange_strong(&cu->instance->primary, &none, made))
        free(made);
    return CUDA_SUCCESS;
}

/* Take one off; false if there is none. */
static bool context_count_release(struct context_primary *primary)
{
    unsigned count = primary ? atomic_load(&primary->count) : 0;
    while (count)
        if (atomic_compare_exchange_weak(&primary->count, &count, count - 1))
            return true;
    return false;
}

/* Whether a context is a primary one that is retained; then `device` is written. */
static bool context_is_primary(const struct cushim_api *cu, CUcontext context, CUdevice *device)
{
    struct context_primaries *all = context_primaries(cu);
    for (int i = 0; all && i < all->count; i++)
        if (atomic_load(&all->devices[i].count) &&
            atomic_load(&all->devices[i].context) == context) {
            *device = i;
            return true;
        }
    return false;
}

/* ---- primary contexts ---- */

CUresult cushim_context_retain_primary(const struct cushim_api *cu, const char *helper,
                                       CUdevice device, CUcontext *context)
{
    CUcontext primary = NULL;
    CUresult code = context_make_primaries(cu, helper);
    if (code != CUDA_SUCCESS)
        return code;
    code = cu->cuDevicePrimaryCtxRetain(&primary, device);
    code = cushim_context_check_device(cu, code, helper, "cuDevicePrimaryCtxRetain", device);
    if (code != CUDA_SUCCESS)
        return code;
    struct context_primary *counted = context_primary_of(cu, device);
    if (counted) {
        atomic_store(&counted->context, primary);
        atomic_fetch_add(&counted->count, 1);
    }
    *context = primary;
    return CUDA_SUCCESS;
}

CUresult cushim_context_release_primary(const struct cushim_api *cu, const char *helper,
                                        CUdevice device)
{
    struct context_primary *primary = context_primary_of(cu, device);
    if (!context_count_release(primary))
        return cushim_error_refuse(CUDA_ERROR_INVALID_CONTEXT, helper,
                                   "device: %d: its primary context is not retained through this "
                                   "instance, or was released as often already",
                                   device);
    /* The newer ABI also works while the context is active. */
    const bool newer = CUSHIM_HAS(cu, cuDevicePrimaryCtxRelease_v2);
    CUresult code =
        newer ? cu->cuDevicePrimaryCtxRelease_v2(device) : cu->cuDevicePrimaryCtxRelease_v1(device);
    code = cushim_context_check_device(
        cu, cushim_error_gone_is_done(code), helper,
        newer ? "cuDevicePrimaryCtxRelease_v2" : "cuDevicePrimaryCtxRelease", device);
    if (code != CUDA_SUCCESS)
        atomic_fetch_add(&primary->count, 1); /* still the caller's */
    return code;
}

CUresult cushim_primary_retain(const struct cushim_api *cu, CUdevice device, CUcontext *context)
{
    CUSHIM_REQUIRE(cu);
    CUSHIM_REQUIRE(context);
    CUresult code = cushim_context_ready(cu, __func__);
    if (code != CUDA_SUCCESS)
        return code;
    return cushim_context_retain_primary(cu, __func__, device, context);
}

CUresult cushim_primary_release(const struct cushim_api *cu, CUdevice device)
{
    CUSHIM_REQUIRE(cu);
    CUresult code = cushim_context_ready(cu, __func__);
    if (code != CUDA_SUCCESS)
        return code;
    return cushim_context_release_primary(cu, __func__, device);
}

CUresult cushim_primary_describe(const struct cushim_api *cu, CUdevice device,
                                 struct cushim_primary *primary)
{
    unsigned flags = 0;
    int active = 0;
    CUSHIM_REQUIRE(cu);
    CUSHIM_REQUIRE(primary);
    CUresult code = cushim_error_check_sized(__func__, "primary", primary,
                                             CUSHIM_LEAST(cushim_primary, reserved));
    if (code == CUDA_SUCCESS)
        code = cushim_context_ready(cu, __func__);
    if (code != CUDA_SUCCESS)
        return code;
    code = cu->cuDevicePrimaryCtxGetState(device, &flags, &active);
    code = cushim_context_check_device(cu, code, __func__, "cuDevicePrimaryCtxGetState", device);
    if (code != CUDA_SUCCESS)
        return code;
    struct context_primary *counted = context_primary_of(cu, device);
    const struct cushim_primary found = {.retained = counted ? atomic_load(&counted->count) : 0,
                                         .flags = flags,
                                         .active = active != 0};
    cushim_text_write_sized(primary, &found, sizeof found);
    return CUDA_SUCCESS;
}

/* ---- create and destroy ---- */

static CUresult context_read_options(const struct cushim_context_options *given, const char *helper,
                                     struct cushim_context_options *options)
{
    *options = (struct cushim_context_options){.size = sizeof *options};
    if (!given)
        return CUDA_SUCCESS;
    CUresult code = cushim_error_read_sized(helper, "options", given,
                                            CUSHIM_LEAST(cushim_context_options, cig_data), options,
                                            sizeof *options);
    if (code != CUDA_SUCCESS)
        return code;
    if (options->sm_count && options->cig_type)
        return cushim_error_refuse(CUDA_ERROR_INVALID_VALUE, helper,
                                   "options: sm_count %u and cig_type %d do not go together",
                                   options->sm_count, options->cig_type);
    if (options->cig_type && !options->cig_data)
        return cushim_error_refuse(CUDA_ERROR_INVALID_VALUE, helper,
                                   "options: cig_type is %d, but cig_data is NULL",
                                   options->cig_type);
    return CUDA_SUCCESS;
}

/* By the newest ABI; what it was is in `call`. The driver makes the new context current. */
static CUresult context_create_by_driver(const struct cushim_api *cu, CUdevice device,
                                         const struct cushim_context_options *options,
                                         CUcontext *context, const char **call)
{
    CUexecAffinityParam affinity = {.type = CU_EXEC_AFFINITY_TYPE_SM_COUNT};
    affinity.param.smCount.val = options->sm_count;
    const int affinities = options->sm_count ? 1 : 0;
    if (CUSHIM_HAS(cu, cuCtxCreate_v4)) {
        CUctxCigParam cig = {(CUcigDataType)options->cig_type, options->cig_data};
        CUctxCreateParams params = {
            .execAffinityParams = affinities ? &affinity : NULL,
            .numExecAffinityParams = affinities,
            .cigParams = options->cig_type ? &cig : NULL,
        };
        bool plain = !affinities && !options->cig_type;
        *call = "cuCtxCreate_v4";
        return cu->cuCtxCreate_v4(context, plain ? NULL : &params, options->flags, device);
    }
    if (CUSHIM_HAS(cu, cuCtxCreate_v3)) {
        *call = "cuCtxCreate_v3";
        return cu->cuCtxCreate_v3(context, affinities ? &affinity : NULL, affinities,
                                  options->flags, device);
    }
    *call = "cuCtxCreate_v2";
    return cu->cuCtxCreate_v2(context, options->flags, device);
}

static CUresult context_check_creation(const struct cushim_api *cu, CUresult code,
                                       const char *helper, const char *call, CUdevice device,
                                       const struct cushim_context_options *options)
{
    if (cushim_error_is_ruled())
        return cushim_error_check(code, helper, call);
    if (code == CUDA_ERROR_INVALID_VALUE)
        return cushim_error_refuse(code, helper,
                                   "%s does not accept flags 0x%x, sm_count %u, cig_type %d and "
                                   "device %d together",
                                   call, options->flags, options->sm_count, options->cig_type,
                                   device);
    if (code == CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY)
        return cushim_error_refuse(
            code, helper,
            "options: sm_count: %u: device %d has no execution affinity (it does "
            "under MPS)",
            options->sm_count, device);
    return cushim_context_check_device(cu, code, helper, call, device);
}

CUresult cushim_context_create(const struct cushim_api *cu, CUdevice device,
                               const struct cushim_context_options *options, CUcontext *context)
{
    struct cushim_context_options wanted;
    CUcontext created = NULL, popped = NULL;
    const char *call = "";
    CUSHIM_REQUIRE(cu);
    CUSHIM_REQUIRE(context);
    CUresult code = context_read_options(options, __func__, &wanted);
    if (code == CUDA_SUCCESS)
        code = cushim_context_ready(cu, __func__);
    const bool newest = code == CUDA_SUCCESS && CUSHIM_HAS(cu, cuCtxCreate_v4);
    if (code == CUDA_SUCCESS && wanted.cig_type && !newest)
        code = cushim_error_lacks(cu, __func__, "options: cig_type", "cuCtxCreate_v4");
    if (code == CUDA_SUCCESS && wanted.sm_count && !newest && !CUSHIM_HAS(cu, cuCtxCreate_v3))
        code = cushim_error_lacks(cu, __func__, "options: sm_count", "cuCtxCreate_v3");
    if (code != CUDA_SUCCESS)
        return code;
    code = context_create_by_driver(cu, device, &wanted, &created, &call);
    code = context_check_creation(cu, code, __func__, call, device, &wanted);
    if (code != CUDA_SUCCESS)
        return code;
    code = CONTEXT_CALL(cu, created, cuCtxPopCurrent_v2, &popped);
    if (code != CUDA_SUCCESS)
        cu->cuCtxDestroy_v2(created);
    else
        *context = created;
    return code;
}

CUresult cushim_context_destroy(const struct cushim_api *cu, CUcontext context)
{
    CUdevice device = 0;
    CUSHIM_REQUIRE(cu);
    if (!context)
        return CUDA_SUCCESS;
    if (context_is_primary(cu, context, &device))
        return cushim_error_refuse(CUDA_ERROR_INVALID_CONTEXT, __func__,
                                   "context: " CUSHIM_HANDLE
                                   " is the primary one of device %d, which is released and "
                                   "not destroyed",
                                   (void *)context, device);
    CUresult code = cushim_error_gone_is_done(cu->cuCtxDestroy_v2(context));
    return cushim_scope_check(code, __func__, "cuCtxDestroy_v2", context);
}

/* ---- in a context ---- */

/* Make a context current for a while. For NULL the current one stays, and there must be one. */
static CUresult context_enter(const struct cushim_api *cu, const char *helper, CUcontext *context,
                              struct cushim_scope *scope)
{
    scope->cu = NULL;
    if (*context)
        return cushim_scope_begin(cu, *context, helper, scope);
    return cushim_scope_current(cu, helper, context);
}

CUresult cushim_context_synchronize(const struct cushim_api *cu, CUcontext context)
{
    struct cushim_scope scope;
    CUSHIM_REQUIRE(cu);
    if (context && CUSHIM_HAS(cu, cuCtxSynchronize_v2))
        return CONTEXT_CALL(cu, context, cuCtxSynchronize_v2, context);
    CUresult code = context_enter(cu, __func__, &context, &scope);
    if (code == CUDA_SUCCESS)
        code =
            cushim_scope_check(cu->cuCtxSynchronize_v1(), __func__, "cuCtxSynchronize_v1", context);
    return cushim_scope_end(&scope, __func__, code);
}
