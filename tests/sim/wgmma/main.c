/* SPDX-License-Identifier: MIT */
/* Run the instructions of wgmma.def with the driver in use:
 *
 *     sim-wgmma FILE            # compare what they give with FILE, which a device wrote
 *     sim-wgmma record FILE     # write it
 *     sim-wgmma time            # how fast those with the largest n are
 *
 * Each n of a line has a kernel with a in registers and one with a in shared memory, and each of
 * them three problems. A line of the file has the instruction and a sum over the bits of d for each
 * problem. Ends with 1 if anything differs, 77 where there is no device of compute capability 9.0.
 */
#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "data.h"
#include "recording.h"
#include "wgmma.h"

enum { PROBLEMS = 3 };

static struct recording recording;
static bool timing;
static CUdeviceptr memory;
static struct problem problem;

static void launch(CUfunction function)
{
    recording_check(cuMemcpyHtoD(memory, &problem, sizeof problem), "copy");
    recording_check(cuLaunchKernel(function, 1, 1, 1, WGMMA_THREADS, 1, 1, WGMMA_SHARED, NULL,
                                   (void *[]){&memory}, NULL),
                    "launch");
    recording_check(cuCtxSynchronize(), "kernel");
}

static uint64_t answer_of(CUfunction function, const struct instruction *one, unsigned number)
{
    wgmma_fill(one, number, &problem);
    launch(function);
    recording_check(cuMemcpyDtoH(problem.d, memory + offsetof(struct problem, d), sizeof problem.d),
                    "copy");
    return data_sum(DATA_SUM, problem.d, wgmma_registers(one) * sizeof *problem.d);
}

/* On one core, or one multiprocessor: there is one block. The processor's time is that of a
 * simulated device, whatever else the machine does. */
static void time_of(CUfunction function, const struct instruction *one, const char *name)
{
    enum { TIMES = 1000 };
    wgmma_fill(one, 0, &problem);
    problem.add = 0;
    launch(function);
    problem.times = TIMES;
    const clock_t begin = clock();
    launch(function);
    printf("%s: %.2f billion operations a second\n", name,
           2.0 * 64 * one->n * one->k * TIMES / ((double)(clock() - begin) / CLOCKS_PER_SEC) *
               1e-9);
}

static void write_name(char *name, size_t size, const struct instruction *one)
{
    const int at =
        snprintf(name, size, "m64n%uk%u.%s.%s.%s%s %s %+d%c %+d%c", one->n, one->k, one->d, one->a,
                 one->b, one->rest, one->registers ? "registers" : "memory", one->sign_a,
                 one->transposed_a ? 't' : 'n', one->sign_b, one->transposed_b ? 't' : 'n');
    if (one->selectors)
        snprintf(name + at, size - (size_t)at, " sparse %u", one->selector);
}

static void run(const struct instruction *one)
{
    char name[100], have[200];
    char *text = wgmma_text(one);
    CUmodule module;
    CUfunction function;
    write_name(name, sizeof name, one);
    recording_check(cuModuleLoadData(&module, text), name);
    recording_check(cuModuleGetFunction(&function, module, "k"), name);
    recording_check(
        cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, WGMMA_SHARED),
        name);
    if (timing) {
        time_of(function, one, name);
        recording_check(cuModuleUnload(module), name);
        free(text);
        return;
    }
    int at = snprintf(have, sizeof have, "%s", name);
    for (unsigned i = 0; i < PROBLEMS; i++)
        at +=
            snprintf(have + at, sizeof have - (size_t)at, " %016llx",
                     (unsigned long long)answer_of(function, one, recording.lines * PROBLEMS + i));
    recording_check(cuModuleUnload(module), name);
    free(text);
    recording_line(&recording, have);
}

/* Both kernels of one n; signs and transpositions in turn. */
static void run_both(struct instruction one)
{
    const unsigned turn = one.n / 8;
    one.sign_a = one.signs && turn % 4 == 1 ? -1 : 1;
    one.sign_b = one.signs && turn % 3 == 1 ? -1 : 1;
    one.transposed_b = one.halves && turn % 2;
    one.selector = one.selectors ? turn % one.selectors : 0;
    one.registers = true;
    run(&one);
    one.transposed_a = one.halves && turn / 2 % 2;
    one.transposed_b ^= one.halves;
    one.registers = false;
    run(&one);
}

static bool has(const struct instruction *one, unsigned n)
{
    const bool any = one->d[0] == 'f';
    return any || n % 16 == 0 || n == 8 || n == 24;
}

static void run_all(struct instruction one, unsigned step)
{
    unsigned count = 0;
    for (one.n = timing ? 256 : 8; one.n <= 256; one.n += 8)
        if (has(&one, one.n) && (count++ % step == 0 || one.n == 256))
            run_both(one);
}

int main(int count, char **words)
{
    timing = count == 2 && strcmp(words[1], "time") == 0;
    if (!timing && !recording_open(&recording, count, words)) {
        fprintf(stderr, "usage: sim-wgmma time|FILE|record FILE\n");
        return 2;
    }
    const CUdevice device = recording_device();
    recording_check(cuMemAlloc(&memory, sizeof problem), "memory");
#define WGMMA(d, a, b, rest, k, signs, halves, selectors, step)                                    \
    run_all((struct instruction){d, a, b, rest, 0, k, false, signs, halves, selectors, 0, 1, 1,    \
                                 false, false},                                                    \
            step);
#include "wgmma.def"
#undef WGMMA
    recording_check(cuMemFree(memory), "memory");
    recording_check(cuDevicePrimaryCtxRelease(device), "context");
    if (timing)
        return 0;
    return recording_close(&recording);
}
