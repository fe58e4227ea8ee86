/* SPDX-License-Identifier: MIT */
/* Module images that are no text: fatbins with PTX, plain and packed, beside machine code or alone,
 * damaged ones, and cubins. The files are the fuzzer's.
 */
#include "memory_test.h"

#include <elf.h>

enum { COUNT = 300, SIZE = COUNT * sizeof(float), EM_OF_CUBINS = 190 };

static void *read_file(const char *name, size_t *size)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s.fatbin", FATBIN_FOLDER, name);
    FILE *file = fopen(path, "rb");
    void *bytes = calloc(1, 8192);
    assert_non_null(file);
    *size = fread(bytes, 1, 4096, file); /* what follows is zero */
    fclose(file);
    return bytes;
}

static void add(CUfunction function)
{
    float in[COUNT], out[COUNT];
    unsigned count = COUNT;
    for (unsigned i = 0; i < COUNT; i++)
        in[i] = (float)i;
    CUdeviceptr from = memory_of(SIZE), to = memory_of(SIZE);
    void *params[] = {&from, &from, &to, &count};
    OK(cu->cuMemcpyHtoD_v2(from, in, SIZE));
    OK(cu->cuLaunchKernel(function, 3, 1, 1, 128, 1, 1, 0, NULL, params, NULL));
    OK(cu->cuMemcpyDtoH_v2(out, to, SIZE));
    for (unsigned i = 0; i < COUNT; i++)
        assert_true(out[i] == 2 * (float)i);
    OK(cu->cuMemFree_v2(from));
    OK(cu->cuMemFree_v2(to));
}

/* By every way in: a file, memory as an image or a fatbin, a library. */
static void loads(const char *name)
{
    char path[4096];
    size_t size;
    void *bytes = read_file(name, &size);
    CUfunction function;
    CUlibrary library;
    CUkernel kernel;
    CUmodule module;
    snprintf(path, sizeof path, "%s/%s.fatbin", FATBIN_FOLDER, name);
    for (int way = 0; way < 3; way++) {
        OK(way == 0   ? cu->cuModuleLoad(&module, path)
           : way == 1 ? cu->cuModuleLoadData(&module, bytes)
                      : cu->cuModuleLoadFatBinary(&module, bytes));
        OK(cu->cuModuleGetFunction(&function, module, "vecadd"));
        add(function);
        OK(cu->cuModuleUnload(module));
    }
    OK(cu->cuLibraryLoadData(&library, bytes, NULL, NULL, 0, NULL, NULL, 0));
    OK(cu->cuLibraryGetKernel(&kernel, library, "vecadd"));
    OK(cu->cuKernelGetFunction(&function, kernel));
    add(function);
    OK(cu->cuLibraryUnload(library));
    free(bytes);
}

static void refuses(CUresult code, const void *image, const char *words)
{
    char log[1024] = "";
    CUjit_option names[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log, (void *)sizeof log};
    CUmodule module = NULL;
    GIVES(code, cu->cuModuleLoadDataEx(&module, image, 2, names, values));
    assert_null(module);
    if (!strstr(log, words))
        fail_msg("the log is: %s", log);
}

static void test_plain(void **state)
{
    (void)state;
    loads("two-none");
}

static void test_packed(void **state)
{
    (void)state;
#ifdef SIM_HAVE_LZ4
    loads("two-speed");
#endif
#ifdef SIM_HAVE_ZSTD
    loads("two-size");
    /* What is damaged there is the part for an older device. */
    loads("damaged");
    loads("bomb");
    /* Machine code stands behind the PTX. */
    CUmodule module;
    CUfunction function;
    OK(cu->cuModuleLoad(&module, FATBIN_FOLDER "/both.fatbin"));
    OK(cu->cuModuleGetFunction(&function, module, "fill"));
    OK(cu->cuModuleUnload(module));
#endif
}

static void test_machine_code(void **state)
{
    (void)state;
    Elf64_Ehdr *cubin = calloc(1, 8192);
    memcpy(cubin->e_ident, ELFMAG, SELFMAG);
    cubin->e_ident[EI_CLASS] = ELFCLASS64;
    cubin->e_ident[EI_DATA] = ELFDATA2LSB;
    cubin->e_machine = EM_OF_CUBINS;
    cubin->e_shnum = 1;
    refuses(CUDA_ERROR_NO_BINARY_FOR_GPU, cubin, "a cubin is machine code");
    free(cubin);
    /* A fatbin whose first part, PTX, is taken out. */
    size_t size;
    unsigned char *bytes = read_file("both", &size);
    uint32_t header;
    uint64_t part;
    memcpy(&header, bytes + 20, sizeof header);
    memcpy(&part, bytes + 24, sizeof part);
    size_t first = header + (size_t)part;
    memmove(bytes + 16, bytes + 16 + first, size - 16 - first);
    uint64_t left = size - 16 - first;
    memcpy(bytes + 8, &left, sizeof left);
    refuses(CUDA_ERROR_NO_BINARY_FOR_GPU, bytes, "");
    free(bytes);
}

static void test_damaged(void **state)
{
    static const char *const names[] = {"truncated", "endless", "packed-size"};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t size;
        void *bytes = read_file(names[i], &size);
        refuses(CUDA_ERROR_INVALID_IMAGE, bytes, "");
        free(bytes);
    }
}

static const struct CMUnitTest tests[] = {
    MEMORY_TEST(test_plain), MEMORY_TEST(test_packed),
    MEMORY_OWN(test_machine_code, "machine code is refused"),
    MEMORY_OWN(test_damaged, "the simulator reads more than a driver checks")};

/* The files hold parts for older devices that are damaged on purpose. */
int main(int argc, char **argv)
{
    setenv("CUSHIM_SIM_PROFILE", "hopper", 1);
    return memory_main(argc, argv, "images", tests, sizeof tests / sizeof *tests);
}
