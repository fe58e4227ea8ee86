/* SPDX-License-Identifier: MIT */
/* toolkit-run LIBRARY PTX: runs the kernel `test` on 4 blocks of 128 threads. Its input are 4096
 * words on standard input, its output 16384 words, zero at first, on standard output. */
#include <cushim/cushim.h>

#include "../../device/device.h"

enum { INPUT = 4096, OUTPUT = 16384 };

int main(int argc, char **argv)
{
    static int in[INPUT], out[OUTPUT];
    struct cushim_options options = {.size = sizeof options, .path = argv[1]};
    CUcontext context = NULL;
    CUmodule module = NULL;
    CUfunction function = NULL;
    CUdeviceptr device_in = 0, device_out = 0;
    void *arguments[] = {&device_in, &device_out};
    char log[4096] = "";
    CUjit_option names[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log, (void *)sizeof log};
    if (argc != 3 || fread(in, sizeof *in, INPUT, stdin) != INPUT) {
        fprintf(stderr, "usage: toolkit-run LIBRARY PTX < 4096-WORDS > 16384-WORDS\n");
        return 2;
    }
    FILE *file = fopen(argv[2], "rb");
    CHECK(file && fseek(file, 0, SEEK_END) == 0);
    size_t size = (size_t)ftell(file);
    char *text = calloc(1, size + 1);
    rewind(file);
    CHECK(text && fread(text, 1, size, file) == size);
    fclose(file);

    const struct cushim_api *instance = cushim_open(&options);
    CHECK(cushim_status(instance) == CUSHIM_OK);
    const struct cushim_api *cu = instance;
    CALL(cu->cuInit(0));
    CALL(cu->cuDevicePrimaryCtxRetain(&context, 0));
    CALL(cu->cuCtxSetCurrent(context));
    CALL(cu->cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 16384)); /* for what is not optimised */
    if (cu->cuModuleLoadDataEx(&module, text, 2, names, values) != CUDA_SUCCESS) {
        fprintf(stderr, "%s\n", log);
        return 1;
    }
    CALL(cu->cuModuleGetFunction(&function, module, "test"));
    CALL(cu->cuMemAlloc_v2(&device_in, sizeof in));
    CALL(cu->cuMemAlloc_v2(&device_out, sizeof out));
    CALL(cu->cuMemcpyHtoD_v2(device_in, in, sizeof in));
    CALL(cu->cuMemsetD32_v2(device_out, 0, OUTPUT));
    CALL(cu->cuLaunchKernel(function, 4, 1, 1, 128, 1, 1, 0, NULL, arguments, NULL));
    CALL(cu->cuCtxSynchronize());
    CALL(cu->cuMemcpyDtoH_v2(out, device_out, sizeof out));
    CHECK(fwrite(out, sizeof *out, OUTPUT, stdout) == OUTPUT);
    CALL(cu->cuDevicePrimaryCtxRelease_v2(0));
    cushim_close(instance);
    free(text);
    return 0;
}
