/* SPDX-License-Identifier: MIT */
#include "fake_contexts.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

struct fake_contexts fake;

/* A context is the address of one of these. They are not used twice within a test. */
static struct fake_context {
    bool live;
    unsigned users;
    unsigned flags;
    CUdevice device;
} contexts[FAKE_CONTEXTS], primaries[FAKE_DEVICES];
static unsigned made;

static _Thread_local CUcontext stack[FAKE_DEPTH];
static _Thread_local int depth;

static pthread_mutex_t note_lock = PTHREAD_MUTEX_INITIALIZER;

CUresult fake_note(const char *call)
{
    pthread_mutex_lock(&note_lock);
    size_t length = strlen(fake.calls);
    fake.call_count++;
    snprintf(fake.calls + length, sizeof fake.calls - length, "%s ", call);
    CUresult code = fake.fail_at > 0 && --fake.fail_at == 0 ? fake.fail_code : CUDA_SUCCESS;
    if (fake.fails && strcmp(fake.fails, call) == 0)
        code = fake.fail_code;
    pthread_mutex_unlock(&note_lock);
    return code;
}

static struct fake_context *find(CUcontext handle)
{
    for (size_t i = 0; i < COUNT(contexts); i++)
        if ((CUcontext)(void *)&contexts[i] == handle)
            return contexts[i].live ? &contexts[i] : NULL;
    for (size_t i = 0; i < COUNT(primaries); i++)
        if ((CUcontext)(void *)&primaries[i] == handle)
            return fake.primary_retains[i] ? &primaries[i] : NULL;
    return NULL;
}

#define CURRENT(context)                                                                           \
    struct fake_context *context = depth ? find(stack[depth - 1]) : NULL;                          \
    if (!context)                                                                                  \
    return CUDA_ERROR_INVALID_CONTEXT

/* ---- primary contexts ---- */

static CUresult CUDAAPI f_cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device)
{
    FAKE_CALLED("cuDevicePrimaryCtxRetain");
    if (!fake_is_device(device))
        return CUDA_ERROR_INVALID_DEVICE;
    __atomic_fetch_add(&fake.primary_retains[device], 1, __ATOMIC_SEQ_CST);
    *context = (CUcontext)(void *)&primaries[device];
    return CUDA_SUCCESS;
}

static CUresult release(CUdevice device)
{
    if (!fake_is_device(device))
        return CUDA_ERROR_INVALID_DEVICE;
    if (__atomic_load_n(&fake.primary_retains[device], __ATOMIC_SEQ_CST) == 0)
        return CUDA_ERROR_INVALID_CONTEXT;
    __atomic_fetch_sub(&fake.primary_retains[device], 1, __ATOMIC_SEQ_CST);
    return CUDA_SUCCESS;
}

static CUresult CUDAAPI f_cuDevicePrimaryCtxRelease(CUdevice device)
{
    FAKE_CALLED("cuDevicePrimaryCtxRelease");
    return release(device);
}

static CUresult CUDAAPI f_cuDevicePrimaryCtxRelease_v2(CUdevice device)
{
    FAKE_CALLED("cuDevicePrimaryCtxRelease_v2");
    return release(device);
}

static CUresult set_flags(CUdevice device, unsigned flags)
{
    if (!fake_is_device(device))
        return CUDA_ERROR_INVALID_DEVICE;
    if (flags > 0xff)
        return CUDA_ERROR_INVALID_VALUE;
    fake.primary_flags[device] = flags;
    return CUDA_SUCCESS;
}

static CUresult CUDAAPI f_cuDevicePrimaryCtxSetFlags(CUdevice device, unsigned flags)
{
    FAKE_CALLED("cuDevicePrimaryCtxSetFlags");
    if (fake_is_device(device) && fake.primary_retains[device])
        return CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE;
    return set_flags(device, flags);
}

static CUresult CUDAAPI f_cuDevicePrimaryCtxSetFlags_v2(CUdevice device, unsigned flags)
{
    FAKE_CALLED("cuDevicePrimaryCtxSetFlags_v2");
    return set_flags(device, flags);
}

static CUresult CUDAAPI f_cuDevicePrimaryCtxGetState(CUdevice device, unsigned *flags, int *active)
{
    FAKE_CALLED("cuDevicePrimaryCtxGetState");
    if (!fake_is_device(device))
        return CUDA_ERROR_INVALID_DEVICE;
    *flags = fake.primary_flags[device];
    *active = fake.primary_retains[device] != 0;
    return CUDA_SUCCESS;
}

/* ---- creation ---- */

static CUresult make(CUcontext *context, unsigned flags, CUdevice device)
{
    if (!fake_is_device(device))
        return CUDA_ERROR_INVALID_DEVICE;
    if (flags > 0xff)
        return CUDA_ERROR_INVALID_VALUE;
    assert_true(made < COUNT(contexts) && depth < FAKE_DEPTH);
    contexts[made] = (struct fake_context){true, 1, flags, device};
    *context = stack[depth++] = (CUcontext)(void *)&contexts[made++];
    fake.flags = flags;
    return CUDA_SUCCESS;
}

static CUresult CUDAAPI f_cuCtxCreate_v2(CUcontext *context, unsigned flags, CUdevice device)
{
    FAKE_CALLED("cuCtxCreate_v2");
    return make(context, flags, device);
}

static CUresult CUDAAPI f_cuCtxCreate_v3(CUcontext *context, CUexecAffinityParam *params, int count,
                                         unsigned flags, CUdevice device)
{
    FAKE_CALLED("cuCtxCreate_v3");
    fake.affinities = count;
    assert_true((count > 0) == !!params);
    if (count)
        fake.affinity = *params;
    return device == 1 && count ? CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY
                                : make(context, flags, device);
}

static CUresult CUDAAPI f_cuCtxCreate_v4(CUcontext *context, CUctxCreateParams *params,
                                         unsigned flags, CUdevice device)
{
    FAKE_CALLED("cuCtxCreate_v4");
    fake.affinities = params ? params->numExecAffinityParams : 0;
    fake.had_cig = params && params->cigParams;
    if (fake.affinities)
        fake.affinity = *params->execAffinityParams;
    if (fake.had_cig)
        fake.cig = *params->cigParams;
    return device == 1 && fake.affinities ? CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY
                                          : make(context, flags, device);
}

static void end(struct fake_context *context)
{
    context->live = false;
    if (depth && stack[depth - 1] == (CUcontext)(void *)context)
        depth--;
}

static CUresult CUDAAPI f_cuCtxDestroy_v2(CUcontext handle)
{
    FAKE_CALLED("cuCtxDestroy_v2");
    struct fake_context *context = find(handle);
    if (!context)
        return CUDA_ERROR_INVALID_CONTEXT;
    assert_true(context >= contexts && context < contexts + FAKE_CONTEXTS);
    end(context);
    return CUDA_SUCCESS;
}

static CUresult CUDAAPI f_cuCtxAttach(CUcontext *handle, unsigned flags)
{
    FAKE_CALLED("cuCtxAttach");
    CURRENT(context);
    assert_true(flags == 0);
    context->users++;
    *handle = stack[depth - 1];
    return CUDA_SUCCESS;
}

static CUresult CUDAAPI f_cuCtxDetach(CUcontext handle)
{
    FAKE_CALLED("cuCtxDetach");
    CURRENT(context);
    if (stack[depth - 1] != handle)
        return CUDA_ERROR_INVALID_CONTEXT;
    if (--context->users == 0)
        end(context);
    return CUDA_SUCCESS;
}

/* ---- stacks ---- */

static CUresult CUDAAPI f_cuCtxPushCurrent_v2(CUcontext handle)
{
    FAKE_CALLED("cuCtxPushCurrent_v2");
    if (!fake.takes_gone && !find(handle))
        return CUDA_ERROR_INVALID_CONTEXT;
    assert_true(depth < FAKE_DEPTH);
    stack[depth++] = handle;
    return CUDA_SUCCESS;
}

static CUresult CUDAAPI f_cuCtxPopCurrent_v2(CUcontext *handle)
{
    FAKE_CALLED("cuCtxPopCurrent_v2");
    if (!depth)
        return CUDA_ERROR_INVALID_CONTEXT;
    *handle = stack[--depth];
    return CUDA_SUCCESS;
}

static CUresult CUDAAPI f_cuCtxSetCurrent(CUcontext handle)
{
    FAKE_CALLED("cuCtxSetCurrent");
    if (handle && !fake.takes_gone && !find(handle))
        return CUDA_ERROR_INVALID_CONTEXT;
    if (depth)
        depth--;
    if (handle)
        stack[depth++] = handle;
    return CUDA_SUCCESS;
}

static CUresult CUDAAPI f_cuCtxGetCurrent(CUcontext *handle)
{
    FAKE_CALLED("cuCtxGetCurrent");
    *handle = depth ? stack[depth - 1] : NULL;
    return CUDA_SUCCESS;
}

/* ---- in a context ---- */

static CUresult CUDAAPI f_cuCtxSynchronize(void)
{
    FAKE_CALLED("cuCtxSynchronize");
    CURRENT(context);
    return CUDA_SUCCESS;
}

static CUresult CUDAAPI f_cuCtxSynchronize_v2(CUcontext handle)
{
    FAKE_CALLED("cuCtxSynchronize_v2");
    return find(handle) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

static CUresult CUDAAPI f_cuCtxGetDevice(CUdevice *device)
{
    FAKE_CALLED("cuCtxGetDevice");
    CURRENT(context);
    *device = context->device;
    return CUDA_SUCCESS;
}

static CUresult CUDAAPI f_cuCtxGetApiVersion(CUcontext handle, unsigned *version)
{
    FAKE_CALLED("cuCtxGetApiVersion");
    *version = 3020;
    return find(handle) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

static CUresult CUDAAPI f_cuCtxGetFlags(unsigned *flags)
{
    FAKE_CALLED("cuCtxGetFlags");
    CURRENT(context);
    *flags = context->flags;
    return CUDA_SUCCESS;
}

static CUresult CUDAAPI f_cuCtxGetId(CUcontext handle, unsigned long long *id)
{
    FAKE_CALLED("cuCtxGetId");
    *id = 77;
    return find(handle) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

static CUresult CUDAAPI f_cuCtxSetLimit(CUlimit limit, size_t value)
{
    FAKE_CALLED("cuCtxSetLimit");
    CURRENT(context);
    if ((int)limit > 100)
        return CUDA_ERROR_UNSUPPORTED_LIMIT;
    fake.limit = (value + 15) & ~(size_t)15;
    return CUDA_SUCCESS;
}

static CUresult CUDAAPI f_cuCtxGetLimit(size_t *value, CUlimit limit)
{
    FAKE_CALLED("cuCtxGetLimit");
    CURRENT(context);
    (void)limit;
    *value = fake.limit;
    return CUDA_SUCCESS;
}

/* ---- the fake itself ---- */

static const struct fake_export fake_context_exports[] = {
    FAKE_EXPORT(cuDevicePrimaryCtxRetain),
    FAKE_EXPORT(cuDevicePrimaryCtxRelease),
    FAKE_EXPORT(cuDevicePrimaryCtxRelease_v2),
    FAKE_EXPORT(cuDevicePrimaryCtxSetFlags),
    FAKE_EXPORT(cuDevicePrimaryCtxSetFlags_v2),
    FAKE_EXPORT(cuDevicePrimaryCtxGetState),
    FAKE_EXPORT(cuCtxCreate_v2),
    FAKE_EXPORT(cuCtxCreate_v3),
    FAKE_EXPORT(cuCtxCreate_v4),
    FAKE_EXPORT(cuCtxDestroy_v2),
    FAKE_EXPORT(cuCtxAttach),
    FAKE_EXPORT(cuCtxDetach),
    FAKE_EXPORT(cuCtxPushCurrent_v2),
    FAKE_EXPORT(cuCtxPopCurrent_v2),
    FAKE_EXPORT(cuCtxSetCurrent),
    FAKE_EXPORT(cuCtxGetCurrent),
    FAKE_EXPORT(cuCtxSynchronize),
    FAKE_EXPORT(cuCtxSynchronize_v2),
    FAKE_EXPORT(cuCtxGetDevice),
    FAKE_EXPORT(cuCtxGetApiVersion),
    FAKE_EXPORT(cuCtxGetFlags),
    FAKE_EXPORT(cuCtxGetId),
    FAKE_EXPORT(cuCtxSetLimit),
    FAKE_EXPORT(cuCtxGetLimit)};
static any_fn *find_export(const struct fake_export *exports, size_t count, const char *symbol)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(exports[i].symbol, symbol) == 0)
            return exports[i].function;
    return NULL;
}

static void *resolve(void *user, const char *symbol)
{
    struct cushim_entry entry;
    void *address;
    (void)user;
    any_fn *function = find_export(fake_device_exports, fake_device_export_count, symbol);
    if (!function)
        function = find_export(fake_context_exports, COUNT(fake_context_exports), symbol);
    if (!function || (fake.lacks && strcmp(fake.lacks, symbol) == 0))
        return NULL;
    memcpy(&address, &function, sizeof address);
    assert_true(cushim_entry_at(entry_index(symbol), &entry));
    return entry.since <= fake.version ? address : NULL;
}

const struct cushim_api *fake_open(int version)
{
    struct cushim_options options = defaults();
    options.resolver = resolve;
    const char *lacks = fake.lacks;
    memset(&fake, 0, sizeof fake);
    memset(contexts, 0, sizeof contexts);
    for (int i = 0; i < FAKE_DEVICES; i++)
        primaries[i].device = i;
    made = 0;
    depth = 0;
    fake.version = version;
    fake.lacks = lacks;
    const struct cushim_api *cu = cushim_open(&options);
    assert_non_null(cu);
    if (cushim_status(cu) != CUSHIM_OK)
        fail_msg("%s", cushim_message(cu));
    fake_forget();
    return cu;
}

void fake_forget(void)
{
    fake.calls[0] = '\0';
    fake.call_count = 0;
}

unsigned fake_live(void)
{
    unsigned live = 0;
    for (size_t i = 0; i < COUNT(contexts); i++)
        live += contexts[i].live;
    return live;
}

bool fake_is_live(CUcontext context)
{
    return find(context);
}

int fake_depth(void)
{
    return depth;
}

CUcontext fake_at(int level)
{
    return stack[level];
}

void fake_clear_stack(void)
{
    depth = 0;
}

CUcontext fake_stranger(void)
{
    return (CUcontext)(void *)&fake;
}
