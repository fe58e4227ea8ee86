/* SPDX-License-Identifier: MIT */
/* Fuzzing the PTX engine: any bytes must give a module or an error log, and what compiles must run
 * to an end or to a reported fault. Never a crash, never a leak. */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "../sim/ptx/dump.h"
#include "ptx/lower/lower.h"
#include "ptx/ptx.h"
#include "ptx/read/ir.h"
#include "ptx/read/read.h"

/* A byte of this value between two sources, so that linking is reached, too. */
enum { SEPARATOR = 0x01 };
/* What a launch may have: more would test the machine's memory. */
enum { MAX_VARIABLES = 32, MAX_BYTES = 1 << 16, MAX_LAUNCHES = 4, SCRATCH = 4096 };
#define BASE UINT64_C(0x7f0000000000)
#define HEAP_BASE (BASE + (UINT64_C(1) << 32))
#define HEAP_BYTES (1 << 16)

struct memory {
    struct ptx_range ranges[MAX_VARIABLES + 1];
    size_t count;
};

static bool find(void *user, uint64_t address, struct ptx_range *range)
{
    const struct memory *memory = user;
    for (size_t i = 0; i < memory->count; i++)
        if (address - memory->ranges[i].base < memory->ranges[i].size) {
            *range = memory->ranges[i];
            return true;
        }
    return false;
}

static const struct ptx_texture *no_texture(void *user, uint64_t handle)
{
    (void)user, (void)handle;
    return NULL;
}

static void print(void *user, const char *text, size_t length)
{
    (void)user;
    if (memchr(text, 0x7f, length) == text + length) /* reads all of it */
        abort();
}

/* Zeroed, at an address of its own; 0: no memory. Exactly `size` bytes, for the sanitizer. */
static uint64_t add(struct memory *memory, uint64_t size)
{
    struct ptx_range *range = &memory->ranges[memory->count];
    *range = (struct ptx_range){.base = BASE + memory->count * 2 * (MAX_BYTES + SCRATCH),
                                .size = size,
                                .host = aligned_alloc(256, (size + 256) & ~UINT64_C(255)),
                                .flags = PTX_RANGE_READ | PTX_RANGE_WRITE};
    if (!range->host)
        return 0;
    memset(range->host, 0, size);
    memory->count++;
    return range->base;
}

/* Parameters of 8 bytes point to the scratch memory, all others are 16. */
static void fill_params(const struct ptx_function_info *info, char *params, uint64_t scratch)
{
    for (uint32_t i = 0; i < info->param_count; i++) {
        const struct ptx_parameter *param = &info->params[i];
        if (param->size == sizeof scratch)
            memcpy(params + param->offset, &scratch, sizeof scratch);
        else if (param->size > 0)
            params[param->offset] = 16;
    }
}

static void launch(struct ptx_image *image, size_t index, const struct ptx_function_info *info,
                   struct memory *memory, uint64_t scratch, struct ptx_heap *heap)
{
    static char params[MAX_BYTES];
    struct ptx_world world = {.user = memory,
                              .find = find,
                              .texture = no_texture,
                              .surface = no_texture,
                              .print = print,
                              .heap = heap};
    struct ptx_machine machine = {.sm_count = 2,
                                  .architecture = 90,
                                  .workers = 1,
                                  .max_shared = 49152,
                                  .time_limit_ns = 10000000};
    struct ptx_launch request = {.image = image,
                                 .function = index,
                                 .grid = {1, 1, 1},
                                 .block = {40, 1, 1},
                                 .params = params,
                                 .machine = &machine,
                                 .world = &world};
    struct ptx_fault fault;
    memset(params, 0, sizeof params);
    fill_params(info, params, scratch);
    if (info->required[0])
        for (int i = 0; i < 3; i++)
            request.block[i] = info->required[i] ? info->required[i] : 1;
    for (int i = 0; i < 3; i++)
        request.grid[i] = info->cluster[i] ? info->cluster[i] : 1;
    if (!ptx_launch(&request, &fault) && (fault.kind == PTX_FAULT_NONE || !*fault.report))
        abort();
}

static void run(struct ptx_module *module)
{
    struct memory memory = {.count = 0};
    uint64_t addresses[MAX_VARIABLES], scratch = add(&memory, SCRATCH);
    char *hosts[MAX_VARIABLES];
    size_t count = ptx_module_variables(module);
    bool good = scratch != 0 && count <= MAX_VARIABLES;
    for (size_t i = 0; good && i < count; i++) {
        uint64_t size = ptx_module_variable(module, i)->size;
        good = size <= MAX_BYTES && (addresses[i] = add(&memory, size)) != 0;
        hosts[i] = good ? memory.ranges[memory.count - 1].host : NULL;
    }
    struct ptx_heap *heap =
        good && ptx_module_uses_heap(module) ? ptx_heap_create(HEAP_BASE, HEAP_BYTES) : NULL;
    struct ptx_image *image = good ? ptx_image_create(module, addresses, hosts) : NULL;
    for (size_t i = 0, done = 0; image && i < ptx_module_functions(module); i++) {
        const struct ptx_function_info *info = ptx_module_function(module, i);
        if (info->entry && info->param_size <= MAX_BYTES && info->static_shared <= MAX_BYTES &&
            info->local <= MAX_BYTES && done++ < MAX_LAUNCHES)
            launch(image, i, info, &memory, scratch, heap);
    }
    ptx_image_destroy(image);
    ptx_heap_destroy(heap);
    for (size_t i = 0; i < memory.count; i++)
        free(memory.ranges[i].host);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data;
    const char *middle = size > 0 ? memchr(text, SEPARATOR, size) : NULL;
    /* Any .target: a device would refuse sm_90a, or all others with an `a`. */
    struct ptx_options options = {.version = 901, .architecture = 0};
    struct ptx_source sources[2] = {{.name = "first", .text = text, .size = size}};
    size_t count = 1;
    if (middle) {
        size_t first = (size_t)(middle - text);
        sources[0].size = first;
        sources[1] =
            (struct ptx_source){.name = "second", .text = middle + 1, .size = size - first - 1};
        count = 2;
    }
    struct ptx_text errors = {0}, info = {0}, dump = {0};
    struct ptx_module *module = NULL;
    enum ptx_status status = ptx_compile(&options, sources, count, &errors, &info, &module);
    /* A refusal says why; success says nothing. */
    if ((status == PTX_OK) != !!module || (!module && errors.length == 0))
        abort();
    if (module) {
        dump_module(module->ir, &dump); /* touches every index of the module */
        run(module);
    }
    ptx_module_release(module);
    ptx_text_free(&errors);
    ptx_text_free(&info);
    ptx_text_free(&dump);
    return 0;
}
