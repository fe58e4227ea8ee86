/* SPDX-License-Identifier: MIT */
/* The linker, and libraries that belong to no context. */
#include "conform.h"

#define HEAD ".version 6.0\n.target sm_50\n.address_size 64\n"

static char main_part[] = HEAD ".extern .func (.param .u32 r) seven();\n"
                               ".visible .entry call_it(.param .u64 p)\n{\n"
                               " .reg .u64 a;\n .reg .u32 x;\n .param .u32 r;\n"
                               " ld.param.u64 a, [p];\n call (r), seven;\n"
                               " ld.param.u32 x, [r];\n st.global.u32 [a], x;\n ret;\n}\n";
static char other_part[] = HEAD ".visible .func (.param .u32 r) seven()\n{\n"
                                " .reg .u32 x;\n mov.u32 x, 7;\n st.param.u32 [r], x;\n ret;\n}\n";

static CUlinkState started(void)
{
    CUlinkState state = NULL;
    MUST(cu->cuLinkCreate(0, NULL, NULL, &state));
    return state;
}

static CUresult add(CUlinkState state, char *text, const char *name)
{
    return cu->cuLinkAddData(state, CU_JIT_INPUT_PTX, text, strlen(text) + 1, name, 0, NULL, NULL);
}

static void link_two(void)
{
    CUlinkState state = NULL;
    CUmodule module = NULL;
    CUfunction function = NULL;
    CUdeviceptr a = conform_memory(64);
    void *values[] = {&a}, *cubin = NULL;
    size_t size = 0;
    CALL(cu->cuLinkCreate(0, NULL, NULL, &state));
    CALL(add(state, main_part, "main"));
    CALL(add(state, other_part, "other"));
    CALL(cu->cuLinkComplete(state, &cubin, &size));
    VALUE("cubin=%d size=%d", !!cubin, size > 0);
    CALL(cu->cuModuleLoadData(&module, cubin));
    CALL(cu->cuLinkDestroy(state));
    CALL(cu->cuModuleGetFunction(&function, module, "call_it"));
    CALL(cu->cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, values, NULL));
    CALL(cu->cuCtxSynchronize());
    VALUE("word=%u", conform_read(a));
}

static void link_unresolved(void)
{
    CUlinkState state = started();
    void *cubin = NULL;
    size_t size = 0;
    CALL(add(state, main_part, "main"));
    CALL(cu->cuLinkComplete(state, &cubin, &size));
    CALL(cu->cuLinkDestroy(state));
}

static void link_duplicate(void)
{
    CUlinkState state = started();
    void *cubin = NULL;
    size_t size = 0;
    CALL(add(state, other_part, "one"));
    CALL(add(state, other_part, "two"));
    CALL(cu->cuLinkComplete(state, &cubin, &size));
    CALL(cu->cuLinkDestroy(state));
}

static void link_bad_input(void)
{
    CUlinkState state = started();
    static char nonsense[] = "nonsense", half[] = HEAD ".visible .entry a()\n{";
    CALL(add(state, nonsense, "nonsense"));
    CALL(add(state, half, "half"));
    CALL(cu->cuLinkAddData(state, CU_JIT_INPUT_PTX, NULL, 10, "x", 0, NULL, NULL));
    CALL(cu->cuLinkAddData(state, CU_JIT_INPUT_PTX, main_part, 0, "x", 0, NULL, NULL));
    CALL(cu->cuLinkAddData(state, (CUjitInputType)99, main_part, sizeof main_part, "x", 0, NULL,
                           NULL));
    CALL(cu->cuLinkAddData(state, CU_JIT_INPUT_CUBIN, main_part, sizeof main_part, "x", 0, NULL,
                           NULL));
    CALL(cu->cuLinkAddFile(state, CU_JIT_INPUT_PTX, "/no/such/file", 0, NULL, NULL));
    CALL(cu->cuLinkAddFile(state, CU_JIT_INPUT_PTX, NULL, 0, NULL, NULL));
    CALL(add(state, other_part, NULL));
    CALL(cu->cuLinkDestroy(state));
}

static void link_misuse(void)
{
    CUlinkState state = started();
    void *cubin = NULL;
    size_t size = 0;
    CALL(cu->cuLinkCreate(0, NULL, NULL, NULL));
    CALL(cu->cuLinkCreate(1, NULL, NULL, &state));
    CALL(cu->cuLinkDestroy(NULL));
    CALL(cu->cuLinkComplete(NULL, &cubin, &size));
    state = started();
    CALL(cu->cuLinkComplete(state, &cubin, &size));
    VALUE("cubin=%d", !!cubin);
    state = started();
    CALL(add(state, other_part, "other"));
    CALL(cu->cuLinkComplete(state, NULL, &size));
    CALL(cu->cuLinkComplete(state, &cubin, NULL));
}

static void link_after_complete(void)
{
    CUlinkState state = started();
    void *cubin = NULL, *again = NULL;
    size_t size = 0;
    CALL(add(state, other_part, "other"));
    CALL(cu->cuLinkComplete(state, &cubin, &size));
    CALL(cu->cuLinkComplete(state, &again, &size));
    VALUE("same=%d", cubin == again);
    CALL(add(state, main_part, "main"));
    CALL(cu->cuLinkDestroy(state));
}

static char log_text[2048];

static void link_log(void)
{
    CUlinkState state = NULL;
    CUjit_option keys[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
                           CU_JIT_OPTIMIZATION_LEVEL};
    void *values[] = {log_text, (void *)sizeof log_text, (void *)4}, *cubin = NULL;
    size_t size = 0;
    CALL(cu->cuLinkCreate(3, keys, values, &state));
    CALL(add(state, main_part, "main"));
    CALL(cu->cuLinkComplete(state, &cubin, &size));
    VALUE("log=%d names=%d", log_text[0] != 0, !!strstr(log_text, "seven"));
    CALL(cu->cuLinkDestroy(state));
}

static CUlibrary loaded(void)
{
    CUlibrary library = NULL;
    MUST(cu->cuLibraryLoadData(&library, conform_ptx, NULL, NULL, 0, NULL, NULL, 0));
    return library;
}

static void library(void)
{
    CUlibrary library = NULL, owner = NULL;
    CUkernel kernel = NULL, again = NULL;
    CUfunction function = NULL;
    CUmodule module = NULL;
    const char *name = NULL;
    CALL(cu->cuLibraryLoadData(&library, conform_ptx, NULL, NULL, 0, NULL, NULL, 0));
    CALL(cu->cuLibraryGetKernel(&kernel, library, "store"));
    CALL(cu->cuLibraryGetKernel(&again, library, "store"));
    VALUE("same=%d", kernel == again);
    CALL(cu->cuKernelGetName(&name, kernel));
    VALUE("name=%s", name ? name : "NULL");
    CALL(cu->cuKernelGetLibrary(&owner, kernel));
    VALUE("same=%d", owner == library);
    CALL(cu->cuKernelGetFunction(&function, kernel));
    CALL(cu->cuLibraryGetModule(&module, library));
    CALL(cu->cuFuncGetName(&name, function));
    VALUE("name=%s", name ? name : "NULL");
    CALL(cu->cuLibraryUnload(library));
}

static void library_misuse(void)
{
    CUlibrary library = loaded(), made = NULL;
    CUkernel kernel = (CUkernel)&kernel;
    CUmodule module = NULL;
    CALL(cu->cuLibraryGetKernel(&kernel, library, "nothing"));
    VALUE("touched=%d", kernel != (CUkernel)&kernel);
    CALL(cu->cuLibraryGetKernel(NULL, library, "store"));
    CALL(cu->cuLibraryGetKernel(&kernel, NULL, "store"));
    CALL(cu->cuLibraryGetKernel(&kernel, library, NULL));
    CALL(cu->cuLibraryLoadData(NULL, conform_ptx, NULL, NULL, 0, NULL, NULL, 0));
    CALL(cu->cuLibraryLoadData(&made, NULL, NULL, NULL, 0, NULL, NULL, 0));
    CALL(cu->cuLibraryLoadData(&made, "nonsense", NULL, NULL, 0, NULL, NULL, 0));
    CALL(cu->cuLibraryLoadFromFile(&made, "/no/such/file", NULL, NULL, 0, NULL, NULL, 0));
    CALL(cu->cuLibraryLoadFromFile(&made, NULL, NULL, NULL, 0, NULL, NULL, 0));
    CALL(cu->cuLibraryUnload(NULL));
    CALL(cu->cuLibraryGetModule(NULL, library));
    CALL(cu->cuLibraryGetModule(&module, NULL));
}

static void library_count(void)
{
    CUlibrary library = loaded();
    CUkernel list[32] = {0};
    unsigned count = 77;
    CALL(cu->cuLibraryGetKernelCount(&count, library));
    VALUE("count=%u", count);
    CALL(cu->cuLibraryGetKernelCount(NULL, library));
    CALL(cu->cuLibraryGetKernelCount(&count, NULL));
    CALL(cu->cuLibraryEnumerateKernels(list, 32, library));
    VALUE("filled=%d", !!list[0]);
    CALL(cu->cuLibraryEnumerateKernels(list, 0, library));
    CALL(cu->cuLibraryEnumerateKernels(NULL, 1, library));
}

static void library_globals(void)
{
    CUlibrary library = loaded();
    CUdeviceptr address = 77;
    size_t size = 77;
    void *pointer = NULL;
    CALL(cu->cuLibraryGetGlobal(&address, &size, library, "counter"));
    VALUE("size=%zu word=%u", size, conform_read(address));
    CALL(cu->cuLibraryGetGlobal(&address, &size, library, "nothing"));
    CALL(cu->cuLibraryGetGlobal(NULL, NULL, library, "counter"));
    CALL(cu->cuLibraryGetGlobal(&address, NULL, library, "counter"));
    CALL(cu->cuLibraryGetGlobal(&address, &size, NULL, "counter"));
    CALL(cu->cuLibraryGetManaged(&address, &size, library, "counter"));
    CALL(cu->cuLibraryGetUnifiedFunction(&pointer, library, "empty"));
}

static void kernel_attributes(void)
{
    CUlibrary library = loaded();
    CUkernel kernel = NULL;
    MUST(cu->cuLibraryGetKernel(&kernel, library, "statically"));
    for (int attribute = -1; attribute < 17; attribute++) {
        int value = -77;
        EACH(cu->cuKernelGetAttribute(&value, (CUfunction_attribute)attribute, kernel, dev),
             "attribute %d", attribute);
        if (attribute != CU_FUNC_ATTRIBUTE_NUM_REGS &&
            attribute != CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES)
            VALUE("value=%d", value);
    }
    const CUfunction_attribute dynamic = CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
    int value = -77;
    CALL(cu->cuKernelSetAttribute(dynamic, 100000, kernel, dev));
    CALL(cu->cuKernelGetAttribute(&value, dynamic, kernel, dev));
    VALUE("value=%d", value);
    CALL(cu->cuKernelSetAttribute(dynamic, 1 << 20, kernel, dev));
    CALL(cu->cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_NUM_REGS, 1, kernel, dev));
    CALL(cu->cuKernelSetAttribute(dynamic, 0, kernel, 5));
    CALL(cu->cuKernelGetAttribute(&value, dynamic, kernel, 5));
    CALL(cu->cuKernelGetAttribute(NULL, dynamic, kernel, dev));
    CALL(cu->cuKernelSetCacheConfig(kernel, CU_FUNC_CACHE_PREFER_L1, dev));
    CALL(cu->cuKernelSetCacheConfig(kernel, (CUfunc_cache)9, dev));
}

static void kernel_parameters(void)
{
    CUlibrary library = loaded();
    CUkernel kernel = NULL;
    MUST(cu->cuLibraryGetKernel(&kernel, library, "params"));
    for (size_t index = 0; index < 6; index++) {
        size_t offset = 77, size = 77;
        EACH(cu->cuKernelGetParamInfo(kernel, index, &offset, &size), "parameter %zu", index);
        VALUE("offset=%zu size=%zu", offset, size);
    }
    size_t offset = 77;
    CALL(cu->cuKernelGetParamInfo(kernel, 0, NULL, &offset));
    CALL(cu->cuKernelGetParamInfo(NULL, 0, &offset, &offset));
}

static void kernel_launch(void)
{
    CUlibrary library = loaded();
    CUkernel kernel = NULL;
    CUdeviceptr a = conform_memory(64);
    unsigned value = 9;
    int count = 0;
    void *values[] = {&a, &value};
    MUST(cu->cuLibraryGetKernel(&kernel, library, "store"));
    CALL(cu->cuLaunchKernel((CUfunction)kernel, 1, 1, 1, 1, 1, 1, 0, NULL, values, NULL));
    CALL(cu->cuCtxSynchronize());
    VALUE("word=%u", conform_read(a));
    CALL(cu->cuOccupancyMaxActiveBlocksPerMultiprocessor(&count, (CUfunction)kernel, 128, 0));
    VALUE("count=%d", count);
    MUST(cu->cuCtxSetCurrent(NULL));
    CALL(cu->cuLaunchKernel((CUfunction)kernel, 1, 1, 1, 1, 1, 1, 0, NULL, values, NULL));
    CUfunction function = NULL;
    CALL(cu->cuKernelGetFunction(&function, kernel));
    CUmodule module = NULL;
    CALL(cu->cuLibraryGetModule(&module, library));
}

static void library_options(void)
{
    CUlibrary library = NULL;
    CUlibraryOption keys[] = {CU_LIBRARY_BINARY_IS_PRESERVED};
    void *values[] = {(void *)1};
    CALL(cu->cuLibraryLoadData(&library, conform_ptx, NULL, NULL, 0, keys, values, 1));
    keys[0] = (CUlibraryOption)9;
    CALL(cu->cuLibraryLoadData(&library, conform_ptx, NULL, NULL, 0, keys, values, 1));
}

static void library_bad_ptx(void)
{
    CUlibrary library = NULL;
    CUkernel kernel = NULL;
    CALL(cu->cuLibraryLoadData(&library, HEAD "nonsense", NULL, NULL, 0, NULL, NULL, 0));
    CALL(cu->cuLibraryLoadData(&library, ".version 99.0\n.target sm_50\n", NULL, NULL, 0, NULL,
                               NULL, 0));
    CALL(cu->cuLibraryLoadData(&library, "", NULL, NULL, 0, NULL, NULL, 0));
    (void)kernel;
}

static const struct sequence sequences[] = {S(link_two, PRIMARY),
                                            S(link_unresolved, PRIMARY),
                                            S(link_duplicate, PRIMARY),
                                            S(link_bad_input, PRIMARY),
                                            S(link_misuse, PRIMARY),
                                            S(link_after_complete, PRIMARY),
                                            S(link_log, PRIMARY),
                                            S(library, PRIMARY),
                                            S(library_misuse, PRIMARY),
                                            S(library_count, PRIMARY),
                                            S(library_globals, PRIMARY),
                                            S(kernel_attributes, PRIMARY),
                                            S(kernel_parameters, PRIMARY),
                                            S(kernel_launch, PRIMARY),
                                            S(library_options, PRIMARY),
                                            S(library_bad_ptx, PRIMARY),
                                            {0}};
const struct family library_family = {"library", sequences};
