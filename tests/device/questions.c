/* SPDX-License-Identifier: MIT */
/* questions list | attributes | NAME
 *
 * What NVIDIA's manual leaves open and the simulated driver has to answer: questions.sh asks it all
 * of a device. `list` prints the names, `attributes` every attribute of the device. */
#include "questions.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SECONDS = 3, LAST_ATTRIBUTE = 160 };

static const struct question *const all[] = {questions_contexts, questions_textures,
                                             questions_threads};

void question_answer(const char *what, const char *format, ...)
{
    va_list arguments;

    printf("  %s: ", what);
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    putchar('\n');
    fflush(stdout);
}

void question_words(const char *what, const unsigned *words, unsigned count)
{
    char line[2048] = "";
    size_t length = 0;

    for (unsigned i = 0, run; i < count && length < sizeof line; i += run) {
        for (run = 1; i + run < count && words[i + run] == words[i];)
            run++;
        length += (size_t)snprintf(line + length, sizeof line - length, run > 1 ? " %xx%u" : " %x",
                                   words[i], run);
    }
    question_answer(what, "%s", line + 1);
}

void question_need(const char *what, CUresult code)
{
    if (code == CUDA_SUCCESS)
        return;
    question_answer(what, "%d", (int)code);
    exit(0);
}

CUdevice question_context(const struct cushim_api *cu, CUcontext *context)
{
    CUcontext primary;
    CUdevice device;

    question_need("cuInit", cu->cuInit(0));
    question_need("cuDeviceGet", cu->cuDeviceGet(&device, 0));
    question_need("cuDevicePrimaryCtxRetain", cu->cuDevicePrimaryCtxRetain(&primary, device));
    question_need("cuCtxSetCurrent", cu->cuCtxSetCurrent(primary));
    if (context)
        *context = primary;
    return device;
}

/* The stream's code when it is done; a kernel that is not done in time is not waited for. */
static CUresult wait_for(const struct cushim_api *cu, CUstream stream)
{
    struct timespec nap = {0, 2000000};

    for (int i = 0; i < SECONDS * 500; i++) {
        CUresult code = cu->cuStreamQuery(stream);

        if (code != CUDA_ERROR_NOT_READY)
            return code;
        nanosleep(&nap, NULL);
    }
    question_answer("outcome", "hangs");
    _Exit(0);
}

const unsigned *question_run(const struct cushim_api *cu, const char *text, unsigned threads,
                             unsigned long long value)
{
    static unsigned words[QUESTION_WORDS];
    static char log[4096];
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log, (void *)sizeof log};
    CUdeviceptr out;
    CUmodule module;
    CUfunction function;
    CUstream stream;
    CUresult code = cu->cuModuleLoadDataEx(&module, text, 2, options, values);

    if (code != CUDA_SUCCESS) {
        question_answer("module", "%d", (int)code);
        fprintf(stderr, "%s\n", log);
        return NULL;
    }
    question_need("cuModuleGetFunction", cu->cuModuleGetFunction(&function, module, "k"));
    question_need("cuMemAlloc", cu->cuMemAlloc_v2(&out, sizeof words));
    question_need("cuMemsetD32", cu->cuMemsetD32_v2(out, 0xffffffffU, QUESTION_WORDS));
    question_need("cuCtxSynchronize", cu->cuCtxSynchronize());
    question_need("cuStreamCreate", cu->cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    void *arguments[] = {&out, &value};
    code = cu->cuLaunchKernel(function, 1, 1, 1, threads, 1, 1, 0, stream, arguments, NULL);
    if (code == CUDA_SUCCESS)
        code = wait_for(cu, stream);
    question_answer("outcome", "%d", (int)code);
    if (code != CUDA_SUCCESS)
        return NULL;
    question_need("cuMemcpyDtoH", cu->cuMemcpyDtoH_v2(words, out, sizeof words));
    return words;
}

static int attributes(const struct cushim_api *cu)
{
    CUresult init = cu->cuInit(0);

    if (init != CUDA_SUCCESS) {
        printf("skipped: there is no device, cuInit returns %d\n", (int)init);
        return 77;
    }
    CUdevice device = question_context(cu, NULL);
    char name[256] = "";
    size_t bytes = 0;
    int version = 0;

    (void)cu->cuDriverGetVersion(&version);
    (void)cu->cuDeviceGetName(name, sizeof name, device);
    (void)cu->cuDeviceTotalMem_v2(&bytes, device);
    printf("%s, driver %d, %zu bytes\n", name, version, bytes);
    for (int i = 1; i <= LAST_ATTRIBUTE; i++) {
        int value = 0;
        CUresult code = cu->cuDeviceGetAttribute(&value, (CUdevice_attribute)i, device);

        if (code == CUDA_SUCCESS)
            printf("%d %d\n", i, value);
        else
            printf("%d error %d\n", i, (int)code);
    }
    return 0;
}

int main(int argc, char **argv)
{
    const struct cushim_api *cu;

    if (argc != 2) {
        fprintf(stderr, "usage: %s list | attributes | NAME\n", argv[0]);
        return 2;
    }
    if (strcmp(argv[1], "list") == 0) {
        for (size_t i = 0; i < sizeof all / sizeof *all; i++)
            for (const struct question *one = all[i]; one->name; one++)
                puts(one->name);
        return 0;
    }
    cu = cushim_load(NULL);
    if (strcmp(argv[1], "attributes") == 0)
        return attributes(cu);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        for (const struct question *one = all[i]; one->name; one++)
            if (strcmp(one->name, argv[1]) == 0) {
                one->ask(cu, one->data);
                return 0;
            }
    fprintf(stderr, "%s: no question '%s'\n", argv[0], argv[1]);
    return 2;
}
