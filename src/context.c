/* SPDX-License-Identifier: MIT */
#include <cushim/context.h>

#include <string.h>

#include <cushim/launch.h>

#include "instance.h"
#include "device.h"
#include "helper.h"
#include "primary.h"
#include "scope.h"

/* Call with a context through the table: the sentence has the context where that is refused. */
#define TRY_CONTEXT(cu, context, call, ...)                                                        \
    cushim_context_checked(cu->call(__VA_ARGS__), __func__, #call, context)

/* ---- create and destroy ---- */

static CUresult read_context_options(const struct cushim_context_options *given, const char *helper,
                                     struct cushim_context_options *options)
{
    *options = (struct cushim_context_options){.size = sizeof *options};
    if (!given)
        return CUDA_SUCCESS;
    if (given->size < offsetof(struct cushim_context_options, flags) + sizeof given->flags)
        return cushim_refuse(CUDA_ERROR_INVALID_VALUE, helper,
                             "options: size %zu is not that of struct cushim_context_options",
                             given->size);
    memcpy(options, given, given->size < sizeof *options ? given->size : sizeof *options);
    if (options->sm_count && options->cig_type)
        return cushim_refuse(CUDA_ERROR_INVALID_VALUE, helper,
                             "options: sm_count %u and cig_type %d do not go together",
                             options->sm_count, options->cig_type);
    if (options->cig_type && !options->cig_data)
        return cushim_refuse(CUDA_ERROR_INVALID_VALUE, helper,
                             "options: cig_type is %d, but cig_data is NULL", options->cig_type);
    return CUDA_SUCCESS;
}

/* Refuse an option that needs an ABI which the driver lacks. */
static CUresult require_entry(const struct cushim_api *cu, const char *helper, const char *option,
                              const char *symbol)
{
    enum cushim_state state = CUSHIM_STATE_UNKNOWN;
    const char *reason = old_reason(cu, symbol, &state);
    if (state == CUSHIM_STATE_AVAILABLE)
        return CUDA_SUCCESS;
    return cushim_refuse(state == CUSHIM_STATE_NEWER ? CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER
                                                     : CUDA_ERROR_NOT_SUPPORTED,
                         helper, "options: %s: %s", option, reason);
}

/* By the newest ABI; what it was is in `call`. The driver makes the new context current. */
static CUresult create_by_driver(const struct cushim_api *cu, CUdevice device,
                                 const struct cushim_context_options *options, CUcontext *context,
                                 const char **call)
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

static CUresult creation_checked(const struct cushim_api *cu, CUresult code, const char *helper,
                                 const char *call, CUdevice device,
                                 const struct cushim_context_options *options)
{
    if (code == CUDA_ERROR_INVALID_VALUE)
        return cushim_refuse(code, helper,
                             "%s does not accept flags 0x%x, sm_count %u, cig_type %d and "
                             "device %d together",
                             call, options->flags, options->sm_count, options->cig_type, device);
    if (code == CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY)
        return cushim_refuse(code, helper,
                             "options: sm_count: %u: device %d has no execution affinity (it does "
                             "under MPS)",
                             options->sm_count, device);
    return cushim_device_checked(cu, code, helper, call, device);
}

CUresult cushim_context_create(const struct cushim_api *cu, CUdevice device,
                               const struct cushim_context_options *options, CUcontext *context)
{
    struct cushim_context_options wanted;
    CUcontext created = NULL, popped = NULL;
    const char *call = "";
    if (!context)
        return cushim_refuse(CUDA_ERROR_INVALID_VALUE, __func__, "context: NULL");
    CUresult code = read_context_options(options, __func__, &wanted);
    if (code == CUDA_SUCCESS)
        code = cushim_ready(cu, __func__);
    if (code == CUDA_SUCCESS && wanted.cig_type)
        code = require_entry(cu, __func__, "cig_type", "cuCtxCreate_v4");
    if (code == CUDA_SUCCESS && wanted.sm_count && !CUSHIM_HAS(cu, cuCtxCreate_v4))
        code = require_entry(cu, __func__, "sm_count", "cuCtxCreate_v3");
    if (code != CUDA_SUCCESS)
        return code;
    code = create_by_driver(cu, device, &wanted, &created, &call);
    code = creation_checked(cu, code, __func__, call, device, &wanted);
    if (code != CUDA_SUCCESS)
        return code;
    code = TRY_CONTEXT(cu, created, cuCtxPopCurrent_v2, &popped);
    if (code != CUDA_SUCCESS)
        cu->cuCtxDestroy_v2(created);
    else
        *context = created;
    return code;
}

CUresult cushim_context_destroy(const struct cushim_api *cu, CUcontext context)
{
    CUdevice device = 0;
    if (!context)
        return CUDA_SUCCESS;
    if (cushim_primary_find(cu, context, &device))
        return cushim_refuse(CUDA_ERROR_INVALID_CONTEXT, __func__,
                             "context: %p is the primary one of device %d, which is released and "
                             "not destroyed",
                             (void *)context, device);
    CUresult code = cushim_gone_is_done(cu->cuCtxDestroy_v2(context));
    cushim_launch_forget(); /* its functions are gone: their launches are to be checked anew */
    return cushim_context_checked(code, __func__, "cuCtxDestroy_v2", context);
}

/* ---- use counts ---- */

CUresult cushim_context_attach(const struct cushim_api *cu, CUcontext context)
{
    struct cushim_scope scope;
    CUcontext attached = NULL;
    CUresult code = cushim_scope_begin(cu, context, __func__, &scope);
    if (code != CUDA_SUCCESS)
        return code;
    code = TRY_CONTEXT(cu, context, cuCtxAttach, &attached, 0);
    return cushim_scope_end(&scope, __func__, code);
}

/* The driver wants it to be current, and pops it where that was the last user. */
CUresult cushim_context_detach(const struct cushim_api *cu, CUcontext context)
{
    struct cushim_scope scope = {.cu = NULL};
    CUcontext current = NULL;
    if (!context)
        return CUDA_SUCCESS;
    CUresult code = TRY_CONTEXT(cu, context, cuCtxGetCurrent, &current);
    if (code == CUDA_SUCCESS && current != context)
        code = cushim_scope_begin(cu, context, __func__, &scope);
    if (code == CUDA_SUCCESS)
        code = TRY_CONTEXT(cu, context, cuCtxDetach, context);
    cushim_launch_forget();
    return cushim_gone_is_done(cushim_scope_end(&scope, __func__, code));
}

/* ---- which is current ---- */

CUresult cushim_context_push(const struct cushim_api *cu, CUcontext context)
{
    CUresult code = cushim_context_required(cu, context, __func__, "context");
    return code == CUDA_SUCCESS ? TRY_CONTEXT(cu, context, cuCtxPushCurrent_v2, context) : code;
}

CUresult cushim_context_pop(const struct cushim_api *cu, CUcontext *context)
{
    CUcontext popped = NULL;
    CUresult code = cu->cuCtxPopCurrent_v2(&popped);
    if (code == CUDA_ERROR_INVALID_CONTEXT)
        return cushim_refuse(code, __func__, "this thread's stack of contexts is empty");
    code = cushim_context_checked(code, __func__, "cuCtxPopCurrent_v2", popped);
    if (code == CUDA_SUCCESS && context)
        *context = popped;
    return code;
}

CUresult cushim_context_set(const struct cushim_api *cu, CUcontext context)
{
    CUresult code =
        context ? cushim_context_required(cu, context, __func__, "context") : CUDA_SUCCESS;
    return code == CUDA_SUCCESS ? TRY_CONTEXT(cu, context, cuCtxSetCurrent, context) : code;
}

CUresult cushim_context_current(const struct cushim_api *cu, CUcontext *context)
{
    CUcontext current = NULL;
    if (!context)
        return cushim_refuse(CUDA_ERROR_INVALID_VALUE, __func__, "context: NULL");
    CUresult code = TRY_CONTEXT(cu, NULL, cuCtxGetCurrent, &current);
    if (code == CUDA_SUCCESS)
        *context = current;
    return code;
}

CUresult cushim_scope_enter(const struct cushim_api *cu, CUcontext context,
                            struct cushim_scope *scope)
{
    if (!scope)
        return cushim_refuse(CUDA_ERROR_INVALID_VALUE, __func__, "scope: NULL");
    return cushim_scope_begin(cu, context, __func__, scope);
}

CUresult cushim_scope_leave(struct cushim_scope *scope, CUresult code)
{
    return scope ? cushim_scope_end(scope, __func__, code) : code;
}

/* ---- in a context ---- */

/* Make a context current for a while; for NULL the current one stays, and there must be one. */
static CUresult enter_context(const struct cushim_api *cu, const char *helper, CUcontext *context,
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
    if (context && CUSHIM_HAS(cu, cuCtxSynchronize_v2))
        return TRY_CONTEXT(cu, context, cuCtxSynchronize_v2, context);
    CUresult code = enter_context(cu, __func__, &context, &scope);
    if (code == CUDA_SUCCESS)
        code = TRY_CONTEXT(cu, context, cuCtxSynchronize_v1);
    return cushim_scope_end(&scope, __func__, code);
}

CUresult cushim_context_describe(const struct cushim_api *cu, CUcontext context,
                                 struct cushim_context_properties *properties)
{
    struct cushim_context_properties found = {.size = 0};
    struct cushim_scope scope;
    if (!properties)
        return cushim_refuse(CUDA_ERROR_INVALID_VALUE, __func__, "properties: NULL");
    size_t size = properties->size;
    if (size < offsetof(struct cushim_context_properties, flags))
        return cushim_refuse(CUDA_ERROR_INVALID_VALUE, __func__,
                             "properties: size %zu is not that of "
                             "struct cushim_context_properties",
                             size);
    CUresult code = enter_context(cu, __func__, &context, &scope);
    if (code == CUDA_SUCCESS)
        code = TRY_CONTEXT(cu, context, cuCtxGetDevice_v1, &found.device);
    if (code == CUDA_SUCCESS)
        code = TRY_CONTEXT(cu, context, cuCtxGetApiVersion, context, &found.api_version);
    if (code == CUDA_SUCCESS && CUSHIM_HAS(cu, cuCtxGetFlags))
        code = TRY_CONTEXT(cu, context, cuCtxGetFlags, &found.flags);
    if (code == CUDA_SUCCESS && CUSHIM_HAS(cu, cuCtxGetId))
        code = TRY_CONTEXT(cu, context, cuCtxGetId, context, &found.id);
    code = cushim_scope_end(&scope, __func__, code);
    if (code != CUDA_SUCCESS)
        return code;
    found.size = size;
    memcpy(properties, &found, size < sizeof found ? size : sizeof found);
    return CUDA_SUCCESS;
}

CUresult cushim_context_set_limit(const struct cushim_api *cu, CUcontext context, CUlimit limit,
                                  size_t value, size_t *actual)
{
    struct cushim_scope scope;
    size_t taken = 0;
    CUresult code = enter_context(cu, __func__, &context, &scope);
    if (code == CUDA_SUCCESS) {
        code = TRY_CONTEXT(cu, context, cuCtxSetLimit, limit, value);
        if (code == CUDA_ERROR_INVALID_VALUE || code == CUDA_ERROR_UNSUPPORTED_LIMIT)
            cushim_refuse(code, __func__, "limit: %d, value: %zu: the driver does not accept them",
                          (int)limit, value);
    }
    if (code == CUDA_SUCCESS)
        code = TRY_CONTEXT(cu, context, cuCtxGetLimit, &taken, limit);
    code = cushim_scope_end(&scope, __func__, code);
    if (code == CUDA_SUCCESS && actual)
        *actual = taken;
    return code;
}
