/* SPDX-License-Identifier: MIT */
/* Run the instructions of mma.def with the driver in use:
 *
 *     sim-mma FILE            # compare what they give with FILE, which a device wrote
 *     sim-mma record FILE     # write it
 *
 * A line of the file has the instruction and sums over the bits of d: one for each kind of problem.
 * Ends with 1 if anything differs, 77 where there is no device of compute capability 9.0.
 */
#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../wgmma/data.h"
#include "../wgmma/recording.h"
#include "mma.h"

/* Of each kind of elements there are problems with metadata as the ISA demands, and others. */
enum { KINDS = 2 * DATA_MODES, PROBLEMS = 4 * KINDS };

static struct recording recording;
static CUdeviceptr memory;
static struct problem problems[PROBLEMS];

static void fill(const struct instruction *one, unsigned number, struct problem *problem)
{
    const unsigned mode = number % DATA_MODES;
    uint64_t state = (recording.lines * PROBLEMS + number) * UINT64_C(0x9e3779b97f4a7c15);
    data_fill(problem->a, sizeof problem->a, one->a, mode, &state);
    data_fill(problem->b, sizeof problem->b, one->b, mode, &state);
    data_fill(problem->c, sizeof problem->c, one->c, mode, &state);
    data_fill_metadata(problem->metadata, MMA_LANES, one->a, number % KINDS < DATA_MODES, &state);
    memset(problem->d, 0, sizeof problem->d);
}

static void launch(const struct instruction *one, const char *name)
{
    char *text = mma_text(one);
    CUmodule module;
    CUfunction function;
    for (unsigned i = 0; i < PROBLEMS; i++)
        fill(one, i, &problems[i]);
    recording_check(cuModuleLoadData(&module, text), name);
    recording_check(cuModuleGetFunction(&function, module, "k"), name);
    recording_check(cuMemcpyHtoD(memory, problems, sizeof problems), "copy");
    recording_check(cuLaunchKernel(function, PROBLEMS, 1, 1, MMA_LANES, 1, 1, 0, NULL,
                                   (void *[]){&memory}, NULL),
                    name);
    recording_check(cuMemcpyDtoH(problems, memory, sizeof problems), name);
    recording_check(cuModuleUnload(module), name);
    free(text);
}

static void run(const struct instruction *one)
{
    char name[100], have[300];
    snprintf(name, sizeof name, one->selector < 0 ? "%s%s" : "%s%s %d",
             one->shape ? one->shape : "", one->name, one->selector);
    launch(one, name);
    int at = snprintf(have, sizeof have, "%s", name);
    for (unsigned kind = 0; kind < (one->selector < 0 ? DATA_MODES : KINDS); kind++) {
        uint64_t sum = DATA_SUM;
        for (unsigned i = kind; i < PROBLEMS; i += one->selector < 0 ? DATA_MODES : KINDS)
            sum = data_sum(sum, problems[i].d, sizeof problems[i].d);
        at += snprintf(have + at, sizeof have - (size_t)at, " %016llx", (unsigned long long)sum);
    }
    recording_line(&recording, have);
}

static void run_sparse(struct instruction one, int selectors)
{
    for (one.selector = 0; one.selector < selectors; one.selector++)
        run(&one);
}

int main(int count, char **words)
{
    if (!recording_open(&recording, count, words)) {
        fprintf(stderr, "usage: sim-mma FILE|record FILE\n");
        return 2;
    }
    const CUdevice device = recording_device();
    recording_check(cuMemAlloc(&memory, sizeof problems), "memory");
#define MMA(name, a, b, c, d, na, nb, nc, nd)                                                      \
    run(&(struct instruction){name, NULL, a, b, c, d, {na, nb, nc, nd}, -1});
#define WMMA(shape, types, a, c, d, na, nb, nc, nd)                                                \
    run(&(struct instruction){types, shape, a, a, c, d, {na, nb, nc, nd}, -1});
#define SPARSE(shape, d, a, b, c, sat, na, nb, nc, nd, selectors)                                  \
    run_sparse((struct instruction){"mma.sp::ordered_metadata.sync.aligned." shape ".row.col" sat  \
                                    "." d "." a "." b "." c,                                       \
                                    NULL,                                                          \
                                    a,                                                             \
                                    b,                                                             \
                                    c,                                                             \
                                    d,                                                             \
                                    {na, nb, nc, nd},                                              \
                                    0},                                                            \
               selectors);
#include "mma.def"
    recording_check(cuMemFree(memory), "memory");
    recording_check(cuDevicePrimaryCtxRelease(device), "context");
    return recording_close(&recording);
}
