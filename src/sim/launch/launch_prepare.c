/* SPDX-License-Identifier: MIT */
/* A launch made ready to run: arguments copied, and what the PTX engine needs to know. */
#include "launch/launch.h"

#include <stdio.h>

struct kernel {
    struct ptx_launch launch;
    struct ptx_world world;
    struct ptx_machine machine;
    struct sim_context *context;
    const struct sim_function *function;
    uint64_t serial; /* the function's */
    uint64_t reach;  /* devices, by ordinal; found when the kernel starts */
    uint64_t bound;  /* references as bound at that number of changes */
    CUlaunchAttribute *attributes;
    char *origin; /* what launched it, if that is wanted (core/callers.c) */
    /* The caller's form again, for graphs: pointers into `params`, or a packed buffer. */
    void *extra[5];
    size_t packed_size;
    void **pointers;
    char *params;
};

/* Devices whose plain memory the kernel may use: its own, and those with peer access. */
static uint64_t reachable(const struct sim_context *context)
{
    uint64_t devices = UINT64_C(1) << context->device->ordinal;
    SIM_EACH (const struct sim_context, other, SIM_CONTEXT)
        if (*sim_context_peer(context, other))
            devices |= UINT64_C(1) << other->device->ordinal;
    return devices;
}

/* Other kinds of memory belong to the host, or have access rights of their own. */
static bool reaches(const struct kernel *kernel, const struct sim_allocation *allocation)
{
    return (allocation->kind != SIM_MEMORY_DEVICE && allocation->kind != SIM_MEMORY_MODULE) ||
           !allocation->device || (kernel->reach >> allocation->device->ordinal & 1);
}

/* A program may unmap memory that it has registered, which a device does not notice; here the
 * kernel's next look is an illegal address. */
static bool is_there(const struct sim_allocation *allocation)
{
    return allocation->kind != SIM_MEMORY_REGISTERED ||
           sim_host_is_mapped(allocation->host, allocation->size);
}

static bool find(void *user, uint64_t address, struct ptx_range *range)
{
    const struct kernel *kernel = user;
    struct sim_allocation found;
    if (!sim_range_copy(address, &found) || !reaches(kernel, &found) || !is_there(&found))
        return false;
    *range = (struct ptx_range){.base = found.address,
                                .size = found.usable,
                                .host = found.host,
                                .flags = (found.readable ? PTX_RANGE_READ : 0U) |
                                         (found.writable ? PTX_RANGE_WRITE : 0U)};
    return true;
}

static const struct ptx_texture *texture(void *user, uint64_t handle)
{
    const struct kernel *kernel = user;
    return sim_table_find(handle, false, kernel->bound);
}

static const struct ptx_texture *surface(void *user, uint64_t handle)
{
    const struct kernel *kernel = user;
    return sim_table_find(handle, true, kernel->bound);
}

static void print(void *user, const char *text, size_t length)
{
    (void)user;
    fwrite(text, 1, length, stdout);
    fflush(stdout);
}

static void print_error(void *user, const char *text, size_t length)
{
    (void)user;
    fwrite(text, 1, length, stderr);
}

static void set_conditional(void *user, uint64_t handle, uint32_t value)
{
    (void)user;
    sim_condition_set(handle, value);
}

/* --- What a kernel's fault says to the user: where it was, what is near, and what follows. --- */

#define NEAR ((uint64_t)1 << 20)

/* The block that an illegal address was probably meant to be in. */
static void nearest(const struct kernel *kernel, uint64_t address, char *text, size_t size)
{
    struct sim_allocation below, above;
    bool has_below, has_above;
    sim_range_neighbours(address, &below, &has_below, &above, &has_above);
    uint64_t behind = has_below ? address - below.address : 0;
    uint64_t before = has_above ? above.address - address : UINT64_MAX;
    if (has_below && behind < below.size && !reaches(kernel, &below))
        snprintf(text, size, "; a block of %zu bytes, of device %d, is there", below.size,
                 below.device->ordinal);
    else if (has_below && behind < below.size)
        snprintf(text, size, "; a block of %zu bytes, which ends %llu bytes further on, is there",
                 below.size, (unsigned long long)(below.size - behind));
    else if (has_below && behind - below.size < NEAR && behind - below.size <= before)
        snprintf(text, size,
                 "; the nearest block, %zu bytes at 0x%llx, ends %llu bytes before that",
                 below.size, (unsigned long long)below.address,
                 (unsigned long long)(behind - below.size));
    else if (has_above && before < NEAR)
        snprintf(text, size,
                 "; the nearest block, %zu bytes at 0x%llx, begins %llu bytes behind that",
                 above.size, (unsigned long long)above.address, (unsigned long long)before);
    else
        snprintf(text, size, "; no block is near");
}

static unsigned long long notes;  /* of checks of kernels */
static unsigned long long faults; /* by which kernels ended */
static char *fault_origin;        /* what launched the first of them */

/* In the log the next line has the launch. */
static void tell(const struct kernel *kernel, const char *sentence)
{
    static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER;
    struct sim_report_line line = {.used = 0};
    pthread_mutex_lock(&one);
    sim_report_device(kernel->context->device->ordinal, sentence);
    if (kernel->origin && sim_report_has_log()) {
        sim_report_put(&line, "cushim: it was launched by %s", kernel->origin);
        sim_report_log(&line);
    }
    pthread_mutex_unlock(&one);
}

static void note(void *user, const char *sentence)
{
    __atomic_fetch_add(&notes, 1, __ATOMIC_RELAXED);
    tell(user, sentence);
}

struct sim_launch_findings sim_launch_prepare_findings(void)
{
    return (struct sim_launch_findings){__atomic_load_n(&notes, __ATOMIC_RELAXED),
                                        __atomic_load_n(&faults, __ATOMIC_RELAXED),
                                        __atomic_load_n(&fault_origin, __ATOMIC_ACQUIRE)};
}

static void keep_origin(const struct kernel *kernel)
{
    char *none = NULL, *copy = kernel->origin ? strdup(kernel->origin) : NULL;
    if (copy && !__atomic_compare_exchange_n(&fault_origin, &none, copy, false, __ATOMIC_ACQ_REL,
                                             __ATOMIC_RELAXED))
        free(copy);
}

static void report(const struct kernel *kernel, const struct ptx_fault *fault, CUresult code)
{
    char place[160] = "", sentence[sizeof fault->report + sizeof place + 80];
    const bool global =
        fault->kind == PTX_FAULT_ILLEGAL_ADDRESS && !strstr(fault->report, " shared ");
    const size_t freed = global ? sim_range_freed(fault->address) : 0;
    if (freed > 0)
        snprintf(place, sizeof place, "; a block of %zu bytes was there, and was freed", freed);
    else if (global)
        nearest(kernel, fault->address, place, sizeof place);
    snprintf(sentence, sizeof sentence, "%s%s%s", fault->report, place,
             sim_ticket_error_is_sticky(code)
                 ? "; every later call for this device fails because of it"
                 : "");
    tell(kernel, sentence);
}

static CUresult fault_code(enum ptx_fault_kind kind)
{
    static const CUresult codes[] = {
#define FAULT(kind, code) [PTX_FAULT_##kind] = CUDA_ERROR_##code,
#include "launch/fault.def"
    };
    return kind == PTX_FAULT_NONE || codes[kind] ? codes[kind] : CUDA_ERROR_UNKNOWN;
}

static CUresult run(void *user)
{
    struct kernel *kernel = user;
    struct ptx_fault fault;
    sim_lock_enter();
    kernel->reach = reachable(kernel->context);
    kernel->world.heap = sim_device_heap_blocks(kernel->context);
    sim_lock_leave();
    const int physical = kernel->context->device->physical;
    sim_interrupt_begin();
    sim_usage_kernel_begin(physical);
    const bool done = ptx_launch(&kernel->launch, &fault);
    sim_usage_kernel_end(physical);
    if (!done) {
        __atomic_fetch_add(&faults, fault.kind != PTX_FAULT_STOPPED, __ATOMIC_RELAXED);
        keep_origin(kernel);
        report(kernel, &fault, fault_code(fault.kind));
    }
    sim_interrupt_end();
    return done ? CUDA_SUCCESS : fault_code(fault.kind);
}

static void drop(void *user)
{
    struct kernel *kernel = user;
    free(kernel->attributes);
    free(kernel->pointers);
    free(kernel->params);
    free(kernel->origin);
    free(kernel);
}

/* The packed form: a buffer no larger than the parameters; what it leaves out is zero. */
static CUresult pack_extra(struct kernel *kernel, const struct ptx_function_info *info,
                           void **extra)
{
    const void *buffer = NULL, *size = NULL;
    for (; *extra != CU_LAUNCH_PARAM_END; extra += 2) {
        if (*extra == CU_LAUNCH_PARAM_BUFFER_POINTER)
            buffer = extra[1];
        else if (*extra == CU_LAUNCH_PARAM_BUFFER_SIZE)
            size = extra[1];
        else
            return CUDA_ERROR_INVALID_VALUE;
    }
    if (!buffer && !size)
        return info->param_count ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
    SIM_REFUSE(!buffer || !size);
    memcpy(&kernel->packed_size, size, sizeof kernel->packed_size);
    SIM_REFUSE(kernel->packed_size == 0 && info->param_count);
    SIM_FAIL(LAUNCH_OUT_OF_RESOURCES, kernel->packed_size > info->param_size);
    memcpy(kernel->params, buffer, kernel->packed_size);
    kernel->extra[0] = CU_LAUNCH_PARAM_BUFFER_POINTER;
    kernel->extra[1] = kernel->params;
    kernel->extra[2] = CU_LAUNCH_PARAM_BUFFER_SIZE;
    kernel->extra[3] = &kernel->packed_size;
    kernel->extra[4] = CU_LAUNCH_PARAM_END;
    return CUDA_SUCCESS;
}

/* So does driver 580, without a sentence. Helpers put a NULL behind the last argument. */
static CUresult report_null(const struct kernel *kernel, const struct ptx_function_info *info,
                            uint32_t index)
{
    char sentence[256];
    snprintf(sentence, sizeof sentence,
             "a launch was refused: kernel '%.100s' has %u parameters, and the pointer to number "
             "%u is NULL",
             info->name, info->param_count, index + 1);
    sim_report_device(kernel->context->device->ordinal, sentence);
    return CUDA_ERROR_INVALID_VALUE;
}

static CUresult pack(struct kernel *kernel, const struct ptx_function_info *info,
                     const CUDA_KERNEL_NODE_PARAMS_v2 *params)
{
    SIM_REFUSE(params->kernelParams && params->extra);
    kernel->params = calloc(1, info->param_size + 8); /* each can be read as an address */
    kernel->pointers = calloc(info->param_count + 1, sizeof *kernel->pointers);
    SIM_FAIL(OUT_OF_MEMORY, !kernel->params || !kernel->pointers);
    for (uint32_t i = 0; i < info->param_count; i++)
        kernel->pointers[i] = kernel->params + info->params[i].offset;
    if (params->extra)
        return pack_extra(kernel, info, params->extra);
    SIM_REFUSE(info->param_count && !params->kernelParams);
    for (uint32_t i = 0; i < info->param_count; i++) {
        if (!params->kernelParams[i])
            return report_null(kernel, info, i);
        memcpy(kernel->pointers[i], params->kernelParams[i], info->params[i].size);
    }
    return CUDA_SUCCESS;
}

static CUresult copy_attributes(struct kernel *kernel, const CUlaunchAttribute *attributes,
                                unsigned count)
{
    if (count == 0)
        return CUDA_SUCCESS;
    SIM_MADE(void *, copy, malloc(count * sizeof *attributes));
    kernel->attributes = memcpy(copy, attributes, count * sizeof *attributes);
    return CUDA_SUCCESS;
}

static void fill_launch(struct kernel *kernel, const CUDA_KERNEL_NODE_PARAMS_v2 *params,
                        const struct sim_launch_extras *extras)
{
    const struct sim_device *device = kernel->context->device;
    int processors = sim_device_value(device, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    int shared = sim_device_value(device, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
    /* A device rounds the shared memory of a block up to 128 bytes. */
    uint32_t grain = sim_config.grain < 128 ? (uint32_t)sim_config.grain : 128;
    static unsigned all_workers;
    if (!all_workers)
        all_workers = sim_machine_read("").processors;
    kernel->world = (struct ptx_world){kernel,          find, texture, surface, print, print_error,
                                       set_conditional, NULL, note};
    kernel->machine =
        (struct ptx_machine){.sm_count = (uint32_t)processors,
                             .architecture = (uint32_t)sim_device_architecture(device),
                             .workers = sim_config.workers ? sim_config.workers : all_workers,
                             .max_shared = (uint32_t)shared,
                             .shared_grain = grain,
                             .time_limit_ns = sim_config.time_limit_ns,
                             .stack_limit = (uint32_t)kernel->context->limits[CU_LIMIT_STACK_SIZE]};
    kernel->launch =
        (struct ptx_launch){.image = kernel->function->module->image,
                            .function = kernel->function->index,
                            .grid = {params->gridDimX, params->gridDimY, params->gridDimZ},
                            .block = {params->blockDimX, params->blockDimY, params->blockDimZ},
                            .cluster = {extras->cluster[0], extras->cluster[1], extras->cluster[2]},
                            .dynamic_shared = params->sharedMemBytes,
                            .params = kernel->params,
                            .cooperative = extras->cooperative,
                            .machine = &kernel->machine,
                            .world = &kernel->world};
}

CUresult sim_launch_prepare(struct sim_context *context, const CUDA_KERNEL_NODE_PARAMS_v2 *params,
                            const CUlaunchAttribute *attributes, unsigned attribute_count,
                            struct sim_item *item)
{
    const void *handle = params->func ? (const void *)params->func : (const void *)params->kern;
    SIM_FIND(struct sim_function *, function, sim_function_of(context, handle, &function));
    SIM_FAIL(INVALID_HANDLE, function->object.context != context);
    if (sim_module_lacks(context->device, function->module->ptx, function->index))
        return SIM_LACK_cuLaunchKernelEx_instruction;
    SIM_FIND(struct sim_launch_extras, extras,
             sim_launch_check_attributes(attributes, attribute_count, &extras));
    SIM_TRY(sim_launch_check(function, params, &extras));
    if (ptx_module_uses_heap(function->module->ptx))
        SIM_TRY(sim_device_heap_make(context));
    SIM_NEW(struct kernel, kernel);
    kernel->context = context;
    kernel->origin = sim_callers_of_call();
    kernel->function = function;
    kernel->serial = function->object.serial;
    kernel->bound = SIM_TABLE_NEWEST;
    SIM_TRY_OR(pack(kernel, sim_function_info(function), params), drop(kernel));
    SIM_TRY_OR(copy_attributes(kernel, attributes, attribute_count), drop(kernel));
    fill_launch(kernel, params, &extras);
    *item = (struct sim_item){.params = {.type = CU_GRAPH_NODE_TYPE_KERNEL},
                              .attributes = kernel->attributes,
                              .attribute_count = attribute_count,
                              .run = run,
                              .user = kernel,
                              .drop = drop};
    memcpy(&item->params.kernel, params, sizeof *params);
    item->params.kernel.kernelParams = params->extra ? NULL : kernel->pointers;
    item->params.kernel.extra = params->extra ? kernel->extra : NULL;
    return CUDA_SUCCESS;
}

void sim_launch_prepare_keep_bindings(const struct sim_item *item)
{
    ((struct kernel *)item->user)->bound = sim_table_changes;
}

void sim_launch_prepare_keep_origin(const struct sim_item *from, const struct sim_item *item)
{
    struct kernel *kernel = item->user;
    const char *origin = ((const struct kernel *)from->user)->origin;
    free(kernel->origin);
    kernel->origin = origin ? strdup(origin) : NULL;
}

bool sim_launch_prepare_is_alive(const struct sim_item *item)
{
    const struct kernel *kernel = item->user;
    return sim_object_alive(SIM_FUNCTION, kernel->function, kernel->serial);
}

bool sim_launch_prepare_is_bound(const struct sim_item *item)
{
    return sim_function_info(((const struct kernel *)item->user)->function)->uses_references;
}
