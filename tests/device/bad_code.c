/* SPDX-License-Identifier: MIT */
/* Bad input for modules, links, libraries and launches, on a real device; see refuse.h for what is
 * demanded of every refusal. All else is in bad_input.c. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#define CUSHIM_CHECK_LAUNCHES /* CUSHIM_LAUNCH checks every launch */
#include <cushim/launch.h>
#include <cushim/memory.h>
#include <cushim/module.h>

#include "link_main_ptx.h"
#include "link_part_ptx.h"
#include "refuse.h"
#include "syntax_error_ptx.h"
#include "vecadd_ptx.h"

#define HEAD(version, target) ".version " version "\n.target " target "\n.address_size 64\n"
static const char newer[] = HEAD("19.0", "sm_50") ".visible .entry f()\n{\n  ret;\n}\n";
static const char no_kernel[] = HEAD("6.0", "sm_50");
static const char no_version[] = ".version";
static const char words_only[] = "this is no program";

static char marks[4];
#define A_MODULE ((CUmodule)(void *)&marks[0])
#define A_FUNCTION ((CUfunction)(void *)&marks[1])
#define A_LIBRARY ((CUlibrary)(void *)&marks[0])

static CUcontext here;

static void enter(void)
{
    OK(cushim_context_create(cu, 0, NULL, &here));
    OK(cu->cuCtxPushCurrent(here));
}

static void leave(void)
{
    OK(cu->cuCtxPopCurrent(&(CUcontext){NULL}));
    OK(cushim_context_destroy(cu, here));
}

static void images(void)
{
    CUmodule module = A_MODULE;
    CUlibrary library = A_LIBRARY;
    unsigned char elf[64] = "\177ELF\002\001\001";
    enter();
    REFUSED(cushim_module_load(cu, NULL, 10, NULL, NULL, &module), "data is NULL");
    REFUSED(cushim_module_load(cu, vecadd_ptx, 0, NULL, NULL, &module), "data has 0 bytes");
    REFUSED(cushim_module_load(cu, vecadd_ptx, sizeof vecadd_ptx, NULL, NULL, NULL),
            "module is NULL");
    REFUSED(cushim_module_load(cu, words_only, sizeof words_only, NULL, NULL, &module),
            "data: ", "not PTX");
    REFUSED(cushim_module_load(cu, no_version, sizeof no_version, NULL, NULL, &module),
            "data: ", "truncated");
    REFUSED(cushim_module_load(cu, elf, sizeof elf, NULL, NULL, &module), "data: ");
    REFUSED(cushim_module_load(cu, vecadd_ptx, sizeof vecadd_ptx - 5, NULL, NULL, &module),
            "data: cuModuleLoadDataEx: CUDA_ERROR_INVALID_PTX");
    struct cushim_jit_result result = {.size = sizeof result, .wall_ms = -1};
    REFUSED(
        cushim_module_load(cu, syntax_error_ptx, sizeof syntax_error_ptx, NULL, &result, &module),
        "data: cuModuleLoadDataEx: CUDA_ERROR_INVALID_PTX");
    CHECK(strstr(result.error_log, "line 14") && result.info_log && result.wall_ms >= 0);
    cushim_jit_result_release(&result); /* written on failure too */
    REFUSED(cushim_module_load(cu, newer, sizeof newer, NULL, NULL, &module),
            "data: ", ".version 19.0", "CUDA ");
    REFUSED(cushim_module_load_file(cu, NULL, NULL, NULL, &module), "path is NULL");
    REFUSED(cushim_module_load_file(cu, "", NULL, NULL, &module), "path is an empty string");
    REFUSED(cushim_module_load_file(cu, "/nonexistent/a.ptx", NULL, NULL, &module),
            "path: /nonexistent/a.ptx");
    REFUSED(cushim_module_load_file(cu, "/dev", NULL, NULL, &module), "path: /dev",
            "not a regular file");
    if (cushim_has(cu, "cuLibraryLoadData")) {
        REFUSED(cushim_library_load(cu, newer, sizeof newer, NULL, NULL, &library),
                ".version 19.0");
        REFUSED(cushim_library_load(cu, syntax_error_ptx, sizeof syntax_error_ptx, NULL, NULL,
                                    &library),
                "data: ", "CUDA_ERROR_INVALID_PTX");
    }
    CHECK(module == A_MODULE && library == A_LIBRARY);
    leave();
}

/* Linked for this device, and its header then says another. */
static void other_architecture(void)
{
    const struct cushim_link_input input = {
        .size = sizeof input, .data = vecadd_ptx, .bytes = sizeof vecadd_ptx};
    struct cushim_cubin cubin;
    CUmodule module = A_MODULE;
    CUfunction function = A_FUNCTION;
    CUlibrary library = A_LIBRARY;
    enter();
    OK(cushim_cubin_link(cu, &input, 1, NULL, NULL, &cubin));
    unsigned char *bytes = cubin.data;
    bytes[bytes[7] == 0x41 ? 49 : 48] = 75;
    REFUSED(cushim_module_load(cu, cubin.data, cubin.bytes, NULL, NULL, &module),
            "data: ", "for sm_75", "compute capability");
    REFUSED(cushim_module_load(cu, cubin.data, cubin.bytes / 2, NULL, NULL, &module),
            "data: ", "truncated");
    CUresult code = cushim_library_load(cu, cubin.data, cubin.bytes, NULL, NULL, &library);
    printf("  as a library: %d %s\n", (int)code, code ? cushim_last_error() : "");
    if (code == CUDA_SUCCESS)
        OK(cushim_library_unload(cu, library));
    CHECK(module == A_MODULE && function == A_FUNCTION);
    cushim_cubin_release(&cubin);
    leave();
}

static void links(void)
{
    struct cushim_link_input inputs[] = {{.size = sizeof inputs[0],
                                          .data = link_main_ptx,
                                          .bytes = sizeof link_main_ptx,
                                          .name = "main"},
                                         {.size = sizeof inputs[0],
                                          .data = link_part_ptx,
                                          .bytes = sizeof link_part_ptx,
                                          .name = "part"}};
    struct cushim_jit_options options = {.size = 1};
    struct cushim_cubin cubin = {.bytes = 77};
    CUmodule module = A_MODULE;
    enter();
    REFUSED(cushim_cubin_link(cu, NULL, 2, NULL, NULL, &cubin), "inputs is NULL");
    REFUSED(cushim_cubin_link(cu, inputs, 0, NULL, NULL, &cubin), "count is 0");
    REFUSED(cushim_cubin_link(cu, inputs, 2, NULL, NULL, NULL), "cubin is NULL");
    REFUSED(cushim_cubin_link(cu, inputs, 2, &options, NULL, &cubin), "options: size: 1");
    REFUSED(cushim_cubin_link(cu, inputs, 1, NULL, NULL, &cubin), "inputs: ", "cuLinkComplete");
    REFUSED(cushim_module_link(cu, inputs, 1, NULL, NULL, &module), "inputs: ", "cuLinkComplete");
    inputs[1].path = "/nonexistent/a.ptx";
    REFUSED(cushim_cubin_link(cu, inputs, 2, NULL, NULL, &cubin), "inputs[1]: both data and path");
    inputs[1].data = NULL;
    REFUSED(cushim_cubin_link(cu, inputs, 2, NULL, NULL, &cubin), "inputs[1]: /nonexistent/a.ptx");
    inputs[1].path = NULL;
    REFUSED(cushim_cubin_link(cu, inputs, 2, NULL, NULL, &cubin), "inputs[1]", "NULL");
    inputs[1] = (struct cushim_link_input){.size = sizeof inputs[0],
                                           .data = syntax_error_ptx,
                                           .bytes = sizeof syntax_error_ptx,
                                           .name = "wrong"};
    REFUSED(cushim_cubin_link(cu, inputs, 2, NULL, NULL, &cubin), "wrong: cuLinkAddData_v2: ");
    options = (struct cushim_jit_options){.size = sizeof options, .cache_mode = 9};
    REFUSED(cushim_module_link(cu, inputs, 2, &options, NULL, &module), "options: cache_mode is 9");
    CHECK(module == A_MODULE && cubin.bytes == 77);
    leave();
}

static void names(void)
{
    CUmodule module = NULL;
    CUfunction function = A_FUNCTION;
    enter();
    OK(cushim_module_load(cu, vecadd_ptx, sizeof vecadd_ptx, NULL, NULL, &module));
    REFUSED(cushim_module_function(cu, module, "vecad", &function), "name: vecad");
    REFUSED(cushim_module_function(cu, module, "", &function), "name is an empty string");
    REFUSED(cushim_module_function(cu, module, NULL, &function), "name is NULL");
    REFUSED(cushim_module_function(cu, NULL, "vecadd", &function), "module is NULL");
    REFUSED(cushim_module_function(cu, module, "vecadd", NULL), "function is NULL");
    CHECK(function == A_FUNCTION);
    OK(cushim_module_unload(cu, module));
    /* A module that has no kernel has no names to offer. */
    OK(cushim_module_load(cu, no_kernel, sizeof no_kernel, NULL, NULL, &module));
    REFUSED(cushim_module_function(cu, module, "any", &function), "name: any");
    OK(cushim_module_unload(cu, module));
    leave();
}

/* ---- launches ---- */

static const struct cushim_launch one = {
    .size = sizeof one, .grid = CUSHIM_DIM(1), .block = CUSHIM_DIM(32)};

static CUfunction vecadd(CUmodule *module)
{
    CUfunction function = NULL;
    OK(cushim_module_load(cu, vecadd_ptx, sizeof vecadd_ptx, NULL, NULL, module));
    OK(cushim_module_function(cu, *module, "vecadd", &function));
    return function;
}

static void shapes(CUfunction function, CUdeviceptr memory)
{
    const CUdeviceptr a = memory;
    struct cushim_launch launch = one;
#define SHAPE(member, value, words)                                                                \
    launch = one;                                                                                  \
    launch.member = value;                                                                         \
    REFUSED(CUSHIM_LAUNCH(cu, function, &launch, a, a, a, 0u), words)
    SHAPE(block[0], 0, "block: x is 0");
    SHAPE(block[2], 0, "block: z is 0");
    SHAPE(grid[1], 0, "grid: y is 0");
    SHAPE(grid[0], (size_t)1 << 31, "grid: x is 2147483648");
    SHAPE(grid[0], ((size_t)1 << 32) + 1, "grid: x is 4294967297");
    SHAPE(grid[1], 65536, "grid: y is 65536");
    SHAPE(block[0], 1025, "block: x is 1025");
    SHAPE(block[1], 64, "block: 32 x 64 x 1 are 2048 threads");
    SHAPE(shared, (size_t)1 << 20, "shared: 1048576 bytes");
    SHAPE(cluster[0], 3, "cluster: ");
    SHAPE(attribute_count, 99, "attribute");
}

static void arguments(CUfunction function, CUdeviceptr memory)
{
    const CUdeviceptr a = memory;
    unsigned char buffer[64];
    struct cushim_params params = CUSHIM_PARAMS(buffer);
    size_t block = 77;
    void *pointers[] = {(void *)&a, (void *)&a, NULL, (void *)&a};
    REFUSED(CUSHIM_LAUNCH(cu, NULL, &one, a, a, a, 0u), "function is NULL");
    REFUSED(CUSHIM_LAUNCH(cu, function, NULL, a, a, a, 0u), "launch is NULL");
    REFUSED(cushim_launch_kernel(cu, function, &one, NULL, NULL, 4), "pointers is NULL");
    REFUSED(cushim_launch_kernel(cu, function, &one, pointers, NULL, 4), "number 3 is NULL");
    REFUSED(cushim_launch_packed(cu, function, &one, NULL), "params is NULL");
    REFUSED(cushim_launch_block_size(cu, function, 0, NULL, 0, NULL, NULL), "block is NULL");
    REFUSED(cushim_launch_block_size(cu, NULL, 0, NULL, 0, &block, NULL), "function is NULL");
    REFUSED(cushim_launch_occupancy(cu, function, NULL, &block, NULL), "launch is NULL");
    CHECK(block == 77);
    REFUSED(cushim_params_add(&params, &a, 0, 8), "size is 0; pass the size of the value");
    REFUSED(cushim_launch_packed(cu, function, &one, &params), "params: parameter 1");
    params = (struct cushim_params)CUSHIM_PARAMS(buffer);
    REFUSED(cushim_params_add(&params, &a, 8, 3), "alignment: 3");
    params = (struct cushim_params)CUSHIM_PARAMS(buffer);
    REFUSED(cushim_params_add(&params, buffer, 65, 1), "size: 65 bytes");
    if (!cushim_has(cu, "cuFuncGetParamInfo")) {
        printf("  this driver tells nothing of parameters\n");
        return;
    }
    REFUSED(CUSHIM_LAUNCH(cu, function, &one, a, a, a), "3 given", "takes 4");
    REFUSED(CUSHIM_LAUNCH(cu, function, &one, a, a, a, 0u, 0u), "5 given", "takes 4");
    REFUSED(CUSHIM_LAUNCH(cu, function, &one, a, a, a, (char)0), "number 4 has 1 bytes");
}

static void launches(void)
{
    CUmodule module = NULL;
    CUdeviceptr memory = 0;
    enter();
    CUfunction function = vecadd(&module);
    OK(cushim_memory_alloc(cu, 4096, &memory));
    OK(cu->cuMemsetD8(memory, 0, 4096));
    for (int round = 0; round < 2; round++) {
        shapes(function, memory);
        arguments(function, memory);
        OK(CUSHIM_LAUNCH(cu, function, &one, memory, memory, memory, 8u));
        OK(cushim_context_synchronize(cu, NULL));
    }
    OK(cushim_memory_free(cu, memory));
    OK(cushim_module_unload(cu, module));
    leave();
}

/* A kernel that was launched before, and whose context is gone with its module. */
static void after_destroy(void)
{
    CUmodule module = NULL, made = A_MODULE;
    struct cushim_cubin cubin = {.bytes = 77};
    const struct cushim_link_input input = {
        .size = sizeof input, .data = vecadd_ptx, .bytes = sizeof vecadd_ptx};
    const CUdeviceptr a = 16;
    enter();
    CUfunction function = vecadd(&module);
    OK(CUSHIM_LAUNCH(cu, function, &one, a, a, a, 0u));
    leave();
    live_gone(LIVE_MODULES, 1);
    REFUSED(CUSHIM_LAUNCH(cu, function, &one, a, a, a, 0u), "no context is current");
    REFUSED(cushim_module_load(cu, vecadd_ptx, sizeof vecadd_ptx, NULL, NULL, &made), "context");
    REFUSED(cushim_cubin_link(cu, &input, 1, NULL, NULL, &cubin), "context");
    CHECK(made == A_MODULE && cubin.bytes == 77);
}

/* ---- in a forked child ---- */

static CUfunction parents;
static CUmodule parents_module;

static void child(void)
{
    CUmodule made = A_MODULE;
    CUfunction found = A_FUNCTION;
    const CUdeviceptr a = 16;
    REFUSED_IN_CHILD(CUSHIM_LAUNCH(cu, parents, &one, a, a, a, 0u), "fork");
    REFUSED_IN_CHILD(CUSHIM_LAUNCH(cu, parents, &one, a), "fork");
    REFUSED_IN_CHILD(cushim_module_load(cu, vecadd_ptx, sizeof vecadd_ptx, NULL, NULL, &made),
                     "cuModuleLoadDataEx", "fork");
    REFUSED_IN_CHILD(cushim_module_function(cu, parents_module, "vecadd", &found),
                     "cuModuleGetFunction", "fork");
    CHECK(made == A_MODULE && found == A_FUNCTION);
}

static void forked(void)
{
    const CUdeviceptr a = 16;
    enter();
    parents = vecadd(&parents_module);
    OK(CUSHIM_LAUNCH(cu, parents, &one, a, a, a, 0u));
    refuse_in_child(child);
    OK(CUSHIM_LAUNCH(cu, parents, &one, a, a, a, 0u));
    OK(cushim_context_synchronize(cu, NULL)); /* the parent goes on */
    OK(cushim_module_unload(cu, parents_module));
    leave();
}

int main(void)
{
    static const struct refuse_part parts[] = {
        {"images", images},
        {"another architecture", other_architecture},
        {"links", links},
        {"names", names},
        {"launches", launches},
        {"after the context was destroyed", after_destroy},
        {"in a forked child", forked},
    };
    return refuse_all(parts, sizeof parts / sizeof *parts);
}
