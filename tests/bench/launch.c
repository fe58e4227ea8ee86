/* SPDX-License-Identifier: MIT */
/*
 * launch [RUNS [LAUNCHES [csv]]]
 *
 * What a launch through a helper costs over the driver's own cuLaunchKernel: an empty kernel with
 * four parameters, LAUNCHES (100,000) times each way, RUNS (15) times, all ways in turns in one
 * process. Prints the median of nanoseconds a launch, and of the runs' ratios to the driver's call;
 * once for the time until the calls return, once until the launches are done. With csv: a line for
 * each way and run, for plot_launch.py.
 */
#include <stdlib.h>
#include <string.h>

#include <cushim/launch.h>

#include "../device/device.h"
#include "clock.h"

#define CHUNK 1000 /* what a stream's queue holds */

static const char ptx[] = ".version 3.2\n"
                          ".target sm_20\n"
                          ".address_size 64\n"
                          ".visible .entry empty(.param .u64 out, .param .u64 in, .param .f32 a,\n"
                          "                      .param .u32 n)\n"
                          "{\n"
                          "    ret;\n"
                          "}\n";

struct work {
    const struct cushim_api *instance;
    const struct cushim_api *cu;
    CUfunction function;
    CUstream stream;
};

/* The arguments change with every launch, so that no compiler makes them once. */
typedef CUresult launches_fn(const struct work *work, unsigned count);

KEEP CUresult launch_raw(const struct work *work, unsigned count);
KEEP CUresult launch_typed(const struct work *work, unsigned count);
KEEP CUresult launch_pointers(const struct work *work, unsigned count);
KEEP CUresult launch_raw_packed(const struct work *work, unsigned count);
KEEP CUresult launch_packed(const struct work *work, unsigned count);

KEEP CUresult launch_raw(const struct work *work, unsigned count)
{
    CUresult code = CUDA_SUCCESS;
    for (unsigned n = 0; n < count && code == CUDA_SUCCESS; n++) {
        CUdeviceptr out = 16 + n, in = 32 + n;
        float a = 1.5f;
        void *arguments[] = {&out, &in, &a, &n};
        code = work->cu->cuLaunchKernel(work->function, 1, 1, 1, 32, 1, 1, 0, work->stream,
                                        arguments, NULL);
    }
    return code;
}

KEEP CUresult launch_typed(const struct work *work, unsigned count)
{
    CUresult code = CUDA_SUCCESS;
    for (unsigned n = 0; n < count && code == CUDA_SUCCESS; n++) {
        CUdeviceptr out = 16 + n, in = 32 + n;
        struct cushim_launch launch = {.size = sizeof launch,
                                       .grid = CUSHIM_DIM(1),
                                       .block = CUSHIM_DIM(32),
                                       .stream = work->stream};
        code = CUSHIM_LAUNCH(work->instance, work->function, &launch, out, in, 1.5f, n);
    }
    return code;
}

KEEP CUresult launch_pointers(const struct work *work, unsigned count)
{
    CUresult code = CUDA_SUCCESS;
    for (unsigned n = 0; n < count && code == CUDA_SUCCESS; n++) {
        CUdeviceptr out = 16 + n, in = 32 + n;
        float a = 1.5f;
        void *arguments[] = {&out, &in, &a, &n};
        struct cushim_launch launch = {.size = sizeof launch,
                                       .grid = CUSHIM_DIM(1),
                                       .block = CUSHIM_DIM(32),
                                       .stream = work->stream};
        code = cushim_launch_kernel(work->instance, work->function, &launch, arguments, NULL, 4);
    }
    return code;
}

KEEP CUresult launch_raw_packed(const struct work *work, unsigned count)
{
    CUresult code = CUDA_SUCCESS;
    for (unsigned n = 0; n < count && code == CUDA_SUCCESS; n++) {
        struct {
            CUdeviceptr out, in;
            float a;
            unsigned n;
        } buffer = {16 + n, 32 + n, 1.5f, n};
        size_t size = sizeof buffer;
        void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &buffer, CU_LAUNCH_PARAM_BUFFER_SIZE,
                         &size, CU_LAUNCH_PARAM_END};
        code = work->cu->cuLaunchKernel(work->function, 1, 1, 1, 32, 1, 1, 0, work->stream, NULL,
                                        extra);
    }
    return code;
}

KEEP CUresult launch_packed(const struct work *work, unsigned count)
{
    CUresult code = CUDA_SUCCESS;
    for (unsigned n = 0; n < count && code == CUDA_SUCCESS; n++) {
        unsigned char buffer[64];
        struct cushim_params params = CUSHIM_PARAMS(buffer);
        struct cushim_launch launch = {.size = sizeof launch,
                                       .grid = CUSHIM_DIM(1),
                                       .block = CUSHIM_DIM(32),
                                       .stream = work->stream};
        CUSHIM_PARAMS_ADD(&params, (CUdeviceptr)(16 + n));
        CUSHIM_PARAMS_ADD(&params, (CUdeviceptr)(32 + n));
        CUSHIM_PARAMS_ADD(&params, 1.5f);
        CUSHIM_PARAMS_ADD(&params, n);
        code = cushim_launch_packed(work->instance, work->function, &launch, &params);
    }
    return code;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, unsigned count)
{
    qsort(values, count, sizeof *values, by_size);
    return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

enum { MAX_RUNS = 1000 };

static const struct {
    const char *name;
    launches_fn *launches;
    int against; /* index of what it is compared with; -1: of none */
} ways[] = {
    {"cuLaunchKernel, pointers", launch_raw, -1},
    {"CUSHIM_LAUNCH, typed arguments", launch_typed, 0},
    {"cushim_launch_kernel, pointers", launch_pointers, 0},
    {"cuLaunchKernel, packed", launch_raw_packed, -1},
    {"cushim_launch_packed with adds", launch_packed, 3},
};
#define WAYS (sizeof ways / sizeof *ways)

/* What a run takes of each way, in nanoseconds a launch. */
static double host[WAYS][MAX_RUNS], all[WAYS][MAX_RUNS];

/* The ways in turns of CHUNK launches, each first as often as last. */
static void run_once(const struct work *work, unsigned run, unsigned count)
{
    for (unsigned done = 0, turn = 0; done < count; done += CHUNK, turn++)
        for (size_t i = 0; i < WAYS; i++) {
            size_t way = (turn % 2 ? WAYS - 1 - i : i) + turn / 2;
            way %= WAYS;
            long long start = clock_now();
            CALL(ways[way].launches(work, CHUNK));
            long long launched = clock_now();
            CALL(work->cu->cuStreamSynchronize(work->stream));
            host[way][run] += (double)(launched - start) / count;
            all[way][run] += (double)(clock_now() - start) / count;
        }
}

static void print_times(const char *title, double times[WAYS][MAX_RUNS], unsigned runs)
{
    static double ratios[WAYS][MAX_RUNS];
    for (size_t way = 0; way < WAYS; way++)
        for (unsigned run = 0; run < runs && ways[way].against >= 0; run++)
            ratios[way][run] = times[way][run] / times[ways[way].against][run];
    printf("%s\n", title);
    for (size_t way = 0; way < WAYS; way++) {
        double middle = median(times[way], runs);
        printf("  %-32s %8.1f ns (%.1f to %.1f)", ways[way].name, middle, times[way][0],
               times[way][runs - 1]);
        double ratio = median(ratios[way], runs);
        if (ways[way].against >= 0)
            printf("  %+.2f %% (%+.2f to %+.2f)", 100 * (ratio - 1), 100 * (ratios[way][0] - 1),
                   100 * (ratios[way][runs - 1] - 1));
        printf("\n");
    }
}

/* Until the calls return; percent over the driver's call of the same run. */
static void print_csv(unsigned runs)
{
    printf("way,run,ns,percent\n");
    for (size_t way = 0; way < WAYS; way++)
        for (unsigned run = 0; run < runs; run++) {
            const int against = ways[way].against;
            const double raw = host[against < 0 ? way : (size_t)against][run];
            printf("\"%s\",%u,%.2f,%.4f\n", ways[way].name, run, host[way][run],
                   100 * (host[way][run] / raw - 1));
        }
}

int main(int argc, char **argv)
{
    unsigned runs = argc > 1 ? (unsigned)atoi(argv[1]) : 15;
    unsigned count = argc > 2 ? (unsigned)atoi(argv[2]) : 100000;
    if (runs < 1 || runs > MAX_RUNS || count < CHUNK || count % CHUNK) {
        fprintf(stderr, "usage: launch [RUNS [LAUNCHES [csv]]], a multiple of %d\n", CHUNK);
        return 2;
    }
    struct work work = {.instance = cushim_load(NULL), .cu = device_or_skip()};
    const struct cushim_api *cu = work.cu;
    CUcontext context;
    CUmodule module;
    char name[256] = "";
    CALL(cu->cuDevicePrimaryCtxRetain(&context, 0));
    CALL(cu->cuCtxSetCurrent(context));
    CALL(cu->cuDeviceGetName(name, sizeof name, 0));
    CALL(cu->cuModuleLoadData(&module, ptx));
    CALL(cu->cuModuleGetFunction(&work.function, module, "empty"));
    CALL(cu->cuStreamCreate(&work.stream, CU_STREAM_NON_BLOCKING));
    const bool csv = argc > 3;
    fprintf(csv ? stderr : stdout,
            "%s, %s\n%u launches each way in turns of %d; median of %u runs (least to most)\n",
            name, cushim_message(cushim_load(NULL)), count, CHUNK, runs);
    for (size_t way = 0; way < WAYS; way++)
        CALL(ways[way].launches(&work, CHUNK));
    CALL(cu->cuStreamSynchronize(work.stream));
    for (unsigned run = 0; run < runs; run++)
        run_once(&work, run, count);
    if (csv) {
        print_csv(runs);
    } else {
        print_times("until the calls return", host, runs);
        print_times("until the launches are done", all, runs);
    }
    CALL(cu->cuStreamDestroy(work.stream));
    CALL(cu->cuModuleUnload(module));
    CALL(cu->cuDevicePrimaryCtxRelease(0));
    return 0;
}
