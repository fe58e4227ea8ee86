/* SPDX-License-Identifier: MIT */
/* Run the matrix instructions of matrix.def with the driver in use, and look at what they give:
 *
 *     sim-matrix matrix.ptx [record|compare FILE|all]
 *
 * Of each instruction in registers: matrices with a single element that is not 0, which show in
 * which register of which lane it is, up to 512 of them or with `all` each one; small integers, of
 * which every sum is exact; and random elements. Integers, bits and f64 of integers are to be
 * exact, other floats within a bound, see bound_of. `record` writes the answers to the random
 * problems into FILE, `compare` says how many of them are others than in FILE. Ends with 1 if an
 * answer is wrong, 77 where there is no device.
 */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cushim/context.h>
#include <cushim/cushim.h>
#include <cushim/error.h>
#include <cushim/launch.h>
#include <cushim/memory.h>
#include <cushim/module.h>

#include "matrix.h"

static const struct instruction instructions[] = {
#define MMA(name, text, sm, m, n, k, A, B, C, D, na, nb, nc, nd)                                   \
    {#name, text, sm, m, n, k, A, B, C, D, {na, nb, nc, nd}, NULL, NULL},
#define WMMA(name, shape, mma, types, m, n, k, A, C, D, la, lb, na, nb, nc, nd, doubling)          \
    {#name, mma types, 80, m, n, k, A, A, C, D, {na, nb, nc, nd}, la, lb},
#include "matrix.def"
};

static const struct cushim_api *cu;
static FILE *file;
static bool recording, whole;
static unsigned differing, recorded, failures;

static void check(CUresult code, const char *what)
{
    if (code == CUDA_SUCCESS)
        return;
    printf("%s: %s: %s\n", what, cushim_error_name(code), cushim_last_error());
    exit(1);
}

/* --- One launch of many problems --- */
enum { EXACT_PROBLEMS = 4, RANDOM_PROBLEMS = 4 };

static void launch(CUmodule module, const struct instruction *one, struct batch *batch)
{
    struct cushim_launch how = {
        .size = sizeof how, .grid = {batch->count, 1, 1}, .block = {32, 1, 1}};
    CUdeviceptr at[5] = {0};
    CUfunction function;

    for (int i = 0; i < 4; i++) {
        check(cushim_memory_alloc(cu, batch->bytes[i], &at[i]), "memory");
        check(cushim_copy_to_device(cu, at[i], batch->arrays[i], batch->bytes[i]), "copy");
    }
    check(cushim_memory_alloc(cu, sizeof batch->sizes, &at[4]), "memory");
    check(cushim_copy_to_device(cu, at[4], batch->sizes, sizeof batch->sizes), "copy");
    check(cushim_module_function(cu, module, one->name, &function), one->name);
    if (one->layout_a)
        check(CUSHIM_LAUNCH(cu, function, &how, at[0], at[1], at[2], at[3], at[4]), one->name);
    else
        check(CUSHIM_LAUNCH(cu, function, &how, at[0], at[1], at[2], at[3]), one->name);
    check(cu->cuCtxSynchronize(), one->name);
    check(cushim_copy_to_host(cu, batch->arrays[3], at[3], batch->bytes[3]), "copy");
    for (int i = 0; i < 5; i++)
        check(cushim_memory_free(cu, at[i]), "memory");
}

/* What a random problem gave, kept or compared. */
static void remember(const struct instruction *one, const struct problem *problem)
{
    const size_t count = (size_t)one->m * one->n * matrix_quads(one);
    unsigned other = 0;

    for (size_t i = 0; i < count && file; i++) {
        uint64_t bits = problem->d[i];

        if (recording)
            fwrite(&bits, 8, 1, file);
        else if (fread(&bits, 8, 1, file) != 1 || bits != problem->d[i])
            other++;
    }
    recorded += (unsigned)count;
    differing += other;
    if (other)
        printf("%s: %u of %zu elements are not those of the file\n", one->name, other, count);
}

static void run(CUmodule module, const struct instruction *one)
{
    const bool memory = one->layout_a;
    const unsigned elements = memory ? 0 : matrix_elements(one);
    const unsigned step = whole ? 1 : elements / 512 + 1, ones = elements / step;
    struct batch batch;
    double worst = 0;
    unsigned wrong = 0, wrong_places = 0;

    matrix_batch(&batch, one, ones + EXACT_PROBLEMS + RANDOM_PROBLEMS);
    for (unsigned p = 0; p < batch.count; p++) {
        struct problem *problem = &batch.problems[p];

        if (p < ones)
            matrix_fill_one(one, problem, p * step + p % step);
        else
            matrix_fill(one, problem, p - ones >= EXACT_PROBLEMS);
        matrix_put(&batch, p);
    }
    launch(module, one, &batch);
    for (unsigned p = 0; p < batch.count; p++) {
        double error;

        matrix_get(&batch, p);
        error = matrix_error(one, &batch.problems[p], p < ones + EXACT_PROBLEMS);
        wrong += error > 1.0;
        wrong_places += error > 1.0 && p < ones;
        if (p >= ones + EXACT_PROBLEMS)
            worst = error > worst ? error : worst;
    }
    remember(one, &batch.problems[batch.count - 1]);
    printf("%-28s %5u problems, %u wrong (%u of them one-hot), error %.3f of the bound\n",
           one->name, batch.count, wrong, wrong_places, worst);
    failures += wrong != 0;
    matrix_batch_free(&batch);
}

int main(int argc, char **argv)
{
    struct cushim_jit_result result = {.size = sizeof result};
    CUcontext context;
    CUmodule module;
    int devices = 0, major = 0, minor = 0;
    unsigned ran = 0;

    cu = cushim_load(NULL);
    whole = argc == 3 && strcmp(argv[2], "all") == 0;
    if (argc < 2 || argc > 4 || (argc == 3 && !whole)) {
        printf("usage: %s matrix.ptx [record|compare FILE|all]\n", argv[0]);
        return 1;
    }
    if (cu->cuInit(0) != CUDA_SUCCESS || cu->cuDeviceGetCount(&devices) != CUDA_SUCCESS ||
        devices == 0) {
        printf("no device: %s\n", cushim_message(cu));
        return 77;
    }
    if (argc == 4) {
        recording = strcmp(argv[2], "record") == 0;
        file = fopen(argv[3], recording ? "wb" : "rb");
        if (!file) {
            perror(argv[3]);
            return 1;
        }
    }
    check(cushim_primary_retain(cu, 0, &context), "context");
    check(cu->cuCtxSetCurrent(context), "context");
    check(cu->cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 0), "sm");
    check(cu->cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 0), "sm");
    if (major < 9) {
        printf("the kernels are for sm_90, and this device is sm_%d%d\n", major, minor);
        return 77;
    }
    if (cushim_module_load_file(cu, argv[1], NULL, &result, &module) != CUDA_SUCCESS) {
        printf("%s: %s\n%s\n", argv[1], cushim_last_error(), result.error_log);
        return 1;
    }
    for (size_t i = 0; i < sizeof instructions / sizeof *instructions; i++, ran++)
        run(module, &instructions[i]);
    cushim_jit_result_release(&result);
    check(cushim_module_unload(cu, module), "module");
    check(cushim_primary_release(cu, 0), "context");
    printf("%u instructions on sm_%d%d, %u with wrong answers\n", ran, major, minor, failures);
    if (file && !recording)
        printf("%u of %u recorded elements differ\n", differing, recorded);
    if (file && fclose(file) != 0)
        return 1;
    return failures != 0;
}
