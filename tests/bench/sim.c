/* SPDX-License-Identifier: MIT */
/*
 * sim LIBRARY vecadd|matmul|launch|memory [RUNS]
 *
 * What the simulated driver costs, in a fresh process; sim.py runs it and prints tables. Each line
 * is a name and a number: times are medians of RUNS (9) in milliseconds, and the fastest.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cushim/launch.h>

#include "../device/device.h"
#include "clock.h"
#include "matmul_ptx.h"
#include "sim_loop.h"
#include "vecadd_ptx.h"

enum { VECADD_COUNT = 1 << 24, MATMUL_SIZE = 512, MAX_RUNS = 101, LAUNCHES = 10000, SMALL = 256 };

static struct cushim *instance;
static const struct cushim_api *cu;
static int runs = 9;

struct times {
    double values[MAX_RUNS];
    int count;
};

static int compare(const void *a, const void *b)
{
    double difference = *(const double *)a - *(const double *)b;
    return (difference > 0) - (difference < 0);
}

static void note(struct times *times, long long start)
{
    times->values[times->count++] = (double)(clock_now() - start) * 1e-6;
}

static void print_median(const char *name, struct times *times)
{
    qsort(times->values, (size_t)times->count, sizeof *times->values, compare);
    printf("%s %.6f\n", name, times->values[times->count / 2]);
    printf("%s-fastest %.6f\n", name, times->values[0]);
}

static CUfunction load(const char *ptx, const char *name)
{
    CUmodule module = NULL;
    CUfunction function = NULL;
    CALL(cu->cuModuleLoadData(&module, ptx));
    CALL(cu->cuModuleGetFunction(&function, module, name));
    return function;
}

static CUdeviceptr upload(const float *from, size_t bytes)
{
    CUdeviceptr to = 0;
    CALL(cu->cuMemAlloc_v2(&to, bytes));
    CALL(cu->cuMemcpyHtoD_v2(to, from, bytes));
    return to;
}

/* Small whole numbers: every sum of products is exact, fused or not. */
static float *floats(size_t count, unsigned seed)
{
    float *values = malloc(count * sizeof *values);
    CHECK(values);
    for (size_t i = 0; i < count; i++)
        values[i] = (float)((i * 7 + seed) % 17);
    return values;
}

static void run(CUfunction function, unsigned blocks, unsigned high, unsigned wide, unsigned tall,
                void **arguments)
{
    CALL(cu->cuLaunchKernel(function, blocks, high, 1, wide, tall, 1, 0, NULL, arguments, NULL));
    CALL(cu->cuCtxSynchronize());
}

static void measure_vecadd(void)
{
    size_t bytes = VECADD_COUNT * sizeof(float);
    struct times kernel = {.count = 0}, whole = {.count = 0}, loop = {.count = 0};
    float *a = floats(VECADD_COUNT, 1), *b = floats(VECADD_COUNT, 5), *c = floats(VECADD_COUNT, 0);
    float *expected = floats(VECADD_COUNT, 0);
    CUfunction function = load(vecadd_ptx, "vecadd");
    unsigned count = VECADD_COUNT;
    for (int i = 0; i < runs; i++) {
        long long start = clock_now();
        CUdeviceptr device_a = upload(a, bytes), device_b = upload(b, bytes), device_c;
        CALL(cu->cuMemAlloc_v2(&device_c, bytes));
        void *arguments[] = {&device_a, &device_b, &device_c, &count};
        run(function, count / 256, 1, 256, 1, arguments); /* touches the result's pages */
        CALL(cu->cuMemcpyDtoH_v2(c, device_c, bytes));
        note(&whole, start);
        start = clock_now();
        run(function, count / 256, 1, 256, 1, arguments);
        note(&kernel, start);
        start = clock_now();
        loop_vecadd(a, b, expected, count);
        note(&loop, start);
        CHECK(memcmp(c, expected, bytes) == 0);
        CALL(cu->cuMemFree_v2(device_a));
        CALL(cu->cuMemFree_v2(device_b));
        CALL(cu->cuMemFree_v2(device_c));
    }
    print_median("whole", &whole);
    print_median("kernel", &kernel);
    print_median("loop", &loop);
    free(a), free(b), free(c), free(expected);
}

static void measure_matmul(void)
{
    size_t count = (size_t)MATMUL_SIZE * MATMUL_SIZE, bytes = count * sizeof(float);
    struct times kernel = {.count = 0}, loop = {.count = 0};
    float *a = floats(count, 1), *b = floats(count, 5), *c = floats(count, 0);
    float *expected = floats(count, 0);
    CUfunction function = load(matmul_ptx, "matmul");
    CUdeviceptr device_a = upload(a, bytes), device_b = upload(b, bytes),
                device_c = upload(c, bytes);
    unsigned size = MATMUL_SIZE;
    void *arguments[] = {&device_a, &device_b, &device_c, &size, &size, &size};
    for (int i = 0; i < runs; i++) {
        long long start = clock_now();
        run(function, size / 16, size / 16, 16, 16, arguments);
        note(&kernel, start);
        start = clock_now();
        loop_matmul(a, b, expected, size);
        note(&loop, start);
    }
    CALL(cu->cuMemcpyDtoH_v2(c, device_c, bytes));
    CHECK(memcmp(c, expected, bytes) == 0);
    print_median("kernel", &kernel);
    print_median("loop", &loop);
    free(a), free(b), free(c), free(expected);
}

/* One block that adds nothing: what is left is the launch. */
static void measure_launch(void)
{
    struct times turn = {.count = 0}, queued = {.count = 0}, first = {.count = 0};
    CUdeviceptr memory = 0;
    unsigned count = 0;
    void *arguments[] = {&memory, &memory, &memory, &count};
    for (int i = 0; i < runs; i++) {
        long long start = clock_now();
        CUfunction function = load(vecadd_ptx, "vecadd");
        run(function, 1, 1, 32, 1, arguments);
        note(&first, start);
        start = clock_now();
        for (int n = 0; n < LAUNCHES; n++)
            run(function, 1, 1, 32, 1, arguments);
        note(&turn, start);
        start = clock_now();
        for (int n = 0; n < LAUNCHES; n++)
            CALL(cu->cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, NULL, arguments, NULL));
        CALL(cu->cuCtxSynchronize());
        note(&queued, start);
    }
    print_median("load-and-first", &first);
    print_median("synchronised-10000", &turn);
    print_median("queued-10000", &queued);
}

/* MiB of the process that are in memory. */
static double resident(void)
{
    unsigned long whole = 0, pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    CHECK(file && fscanf(file, "%lu %lu", &whole, &pages) == 2);
    fclose(file);
    return (double)pages * (double)sysconf(_SC_PAGESIZE) / (1 << 20);
}

static void measure_memory(double before)
{
    size_t bytes = SMALL * sizeof(float);
    float *a = floats(SMALL, 1), *c = floats(SMALL, 0);
    CUfunction function = load(vecadd_ptx, "vecadd");
    CUdeviceptr device_a = upload(a, bytes), device_c = upload(c, bytes);
    unsigned count = SMALL;
    void *arguments[] = {&device_a, &device_a, &device_c, &count};
    run(function, 1, 1, SMALL, 1, arguments);
    CALL(cu->cuMemcpyDtoH_v2(c, device_c, bytes));
    CHECK(c[3] == a[3] + a[3]);
    printf("before %.6f\nafter %.6f\n", before, resident());
    free(a), free(c);
}

int main(int argc, char **argv)
{
    double before = resident();
    CUcontext context = NULL;
    if (argc < 3) {
        fprintf(stderr, "usage: sim LIBRARY vecadd|matmul|launch|memory [RUNS]\n");
        return 2;
    }
    if (argc > 3)
        runs = atoi(argv[3]);
    if (runs < 1 || runs > MAX_RUNS)
        runs = MAX_RUNS;
    struct cushim_options options = {.size = sizeof options, .path = argv[1]};
    instance = cushim_open(&options);
    CHECK(cushim_status(instance) == CUSHIM_OK);
    cu = cushim_table(instance);
    CALL(cu->cuInit(0));
    CALL(cu->cuDevicePrimaryCtxRetain(&context, 0));
    CALL(cu->cuCtxSetCurrent(context));
    if (strcmp(argv[2], "vecadd") == 0)
        measure_vecadd();
    else if (strcmp(argv[2], "matmul") == 0)
        measure_matmul();
    else if (strcmp(argv[2], "launch") == 0)
        measure_launch();
    else
        measure_memory(before);
    CALL(cu->cuDevicePrimaryCtxRelease_v2(0));
    cushim_close(instance);
    return 0;
}
