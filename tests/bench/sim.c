/* SPDX-License-Identifier: MIT */
/*
 * sim vecadd|matmul RUNS LIBRARY OTHER
 * sim call|launch|memory RUNS LIBRARY
 * sim link INPUTS LIBRARY
 *
 * What the simulated driver costs, in a fresh process; sim.py runs it and prints tables. Each line
 * is a name and a number: times are medians of RUNS in milliseconds, and the fastest. A kernel runs
 * on one worker in LIBRARY and on two in OTHER, and a plain loop on one thread and on two, all in
 * turns: other work on the machine then slows all of them.
 */
#include <pthread.h>
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

enum {
    VECADD_COUNT = 1 << 24,
    MATMUL_SIZE = 512,
    MAX_RUNS = 101,
    CALLS = 100000,
    LAUNCHES = 10000,
    SMALL = 256
};

/* An opened driver. */
struct driver {
    const struct cushim_api *instance;
    const struct cushim_api *cu;
    CUfunction function;
    CUdeviceptr a, b, c;
};

static int runs;

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

/* A library reads the environment once, as it is loaded. */
static struct driver open_driver(const char *path, const char *workers)
{
    struct cushim_options options = {.size = sizeof options, .path = path};
    struct driver driver = {.instance = NULL};
    CUcontext context = NULL;
    if (workers)
        setenv("CUSHIM_SIM_WORKERS", workers, 1);
    driver.instance = cushim_open(&options);
    CHECK(cushim_status(driver.instance) == CUSHIM_OK);
    driver.cu = driver.instance;
    CALL(driver.cu->cuInit(0));
    CALL(driver.cu->cuDevicePrimaryCtxRetain(&context, 0));
    CALL(driver.cu->cuCtxSetCurrent(context));
    return driver;
}

static void close_driver(struct driver *driver)
{
    CALL(driver->cu->cuDevicePrimaryCtxRelease_v2(0));
    cushim_close(driver->instance);
}

static void load(struct driver *driver, const char *ptx, const char *name)
{
    CUmodule module = NULL;
    CALL(driver->cu->cuModuleLoadData(&module, ptx));
    CALL(driver->cu->cuModuleGetFunction(&driver->function, module, name));
}

static void upload(struct driver *driver, const float *a, const float *b, size_t bytes)
{
    const struct cushim_api *cu = driver->cu;
    CALL(cu->cuMemAlloc_v2(&driver->a, bytes));
    CALL(cu->cuMemAlloc_v2(&driver->b, bytes));
    CALL(cu->cuMemAlloc_v2(&driver->c, bytes));
    CALL(cu->cuMemcpyHtoD_v2(driver->a, a, bytes));
    CALL(cu->cuMemcpyHtoD_v2(driver->b, b, bytes));
}

static void discard(struct driver *driver)
{
    CALL(driver->cu->cuMemFree_v2(driver->a));
    CALL(driver->cu->cuMemFree_v2(driver->b));
    CALL(driver->cu->cuMemFree_v2(driver->c));
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

static void run(struct driver *driver, unsigned blocks, unsigned high, unsigned wide, unsigned tall,
                void **arguments)
{
    const struct cushim_api *cu = driver->cu;
    CALL(cu->cuLaunchKernel(driver->function, blocks, high, 1, wide, tall, 1, 0, NULL, arguments,
                            NULL));
    CALL(cu->cuCtxSynchronize());
}

/* ---- a kernel and a loop */

/* One of the two: what a driver runs, and the same as a loop over a part of it. */
struct work {
    const char *ptx, *name;
    size_t count; /* of floats in each array */
    void (*launch)(struct driver *driver);
    void (*loop)(const float *a, const float *b, float *c, unsigned part, unsigned parts);
};

static void launch_vecadd(struct driver *driver)
{
    unsigned count = VECADD_COUNT;
    void *arguments[] = {&driver->a, &driver->b, &driver->c, &count};
    run(driver, count / 256, 1, 256, 1, arguments);
}

static void part_vecadd(const float *a, const float *b, float *c, unsigned part, unsigned parts)
{
    unsigned share = VECADD_COUNT / parts;
    loop_vecadd(a + part * share, b + part * share, c + part * share, share);
}

static void launch_matmul(struct driver *driver)
{
    unsigned size = MATMUL_SIZE;
    void *arguments[] = {&driver->a, &driver->b, &driver->c, &size, &size, &size};
    run(driver, size / 16, size / 16, 16, 16, arguments);
}

static void part_matmul(const float *a, const float *b, float *c, unsigned part, unsigned parts)
{
    unsigned rows = MATMUL_SIZE / parts;
    size_t first = (size_t)part * rows * MATMUL_SIZE;
    loop_matmul(a + first, b, c + first, rows, MATMUL_SIZE);
}

static const struct work works[] = {
    {vecadd_ptx, "vecadd", VECADD_COUNT, launch_vecadd, part_vecadd},
    {matmul_ptx, "matmul", (size_t)MATMUL_SIZE *MATMUL_SIZE, launch_matmul, part_matmul},
};

struct half {
    const struct work *work;
    const float *a, *b;
    float *c;
};

static void *second_half(void *argument)
{
    const struct half *half = argument;
    half->work->loop(half->a, half->b, half->c, 1, 2);
    return NULL;
}

static void loop_on_two(const struct work *work, const float *a, const float *b, float *c)
{
    struct half half = {work, a, b, c};
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, second_half, &half) == 0);
    work->loop(a, b, c, 0, 2);
    CHECK(pthread_join(thread, NULL) == 0);
}

static void check(struct driver *driver, const float *expected, float *c, size_t bytes)
{
    CALL(driver->cu->cuMemcpyDtoH_v2(c, driver->c, bytes));
    CHECK(memcmp(c, expected, bytes) == 0);
}

static void measure_work(const struct work *work, struct driver *one, struct driver *two)
{
    size_t bytes = work->count * sizeof(float);
    struct times times[5] = {{.count = 0}}, gain = {.count = 0}, loop_gain = {.count = 0};
    static const char *const names[] = {"one", "two", "loop-one", "loop-two", "whole"};
    float *a = floats(work->count, 1), *b = floats(work->count, 5), *c = floats(work->count, 0);
    float *expected = floats(work->count, 0);
    load(one, work->ptx, work->name);
    load(two, work->ptx, work->name);
    upload(one, a, b, bytes);
    work->launch(one); /* touches the result's pages */
    for (int i = 0; i < runs; i++) {
        long long start = clock_now();
        upload(two, a, b, bytes);
        work->launch(two);
        CALL(two->cu->cuMemcpyDtoH_v2(c, two->c, bytes));
        note(&times[4], start);
        start = clock_now();
        work->launch(one);
        note(&times[0], start);
        start = clock_now();
        work->launch(two);
        note(&times[1], start);
        start = clock_now();
        work->loop(a, b, expected, 0, 1);
        note(&times[2], start);
        start = clock_now();
        loop_on_two(work, a, b, expected);
        note(&times[3], start);
        check(one, expected, c, bytes);
        check(two, expected, c, bytes);
        discard(two);
        gain.values[gain.count++] = times[0].values[i] / times[1].values[i];
        loop_gain.values[loop_gain.count++] = times[2].values[i] / times[3].values[i];
    }
    for (int i = 0; i < 5; i++)
        print_median(names[i], &times[i]);
    print_median("gain", &gain);
    print_median("loop-gain", &loop_gain);
    discard(one);
    free(a), free(b), free(c), free(expected);
}

/* ---- calls, launches, memory */

/* A call that does next to nothing; by CALLS of them, `valgrind --tool=callgrind` counts it. */
static void measure_call(struct driver *driver)
{
    struct times times = {.count = 0};
    int version = 0;
    for (int i = 0; i < runs; i++) {
        long long start = clock_now();
        for (int n = 0; n < CALLS; n++)
            (void)driver->cu->cuDriverGetVersion(&version);
        note(&times, start);
    }
    CHECK(version > 0);
    print_median("call-100000", &times);
}

/* One block that adds nothing: what is left is the launch. */
static void measure_launch(struct driver *driver)
{
    struct times turn = {.count = 0}, queued = {.count = 0}, first = {.count = 0};
    CUdeviceptr memory = 0;
    unsigned count = 0;
    void *arguments[] = {&memory, &memory, &memory, &count};
    for (int i = 0; i < runs; i++) {
        long long start = clock_now();
        load(driver, vecadd_ptx, "vecadd");
        run(driver, 1, 1, 32, 1, arguments);
        note(&first, start);
        start = clock_now();
        for (int n = 0; n < LAUNCHES; n++)
            run(driver, 1, 1, 32, 1, arguments);
        note(&turn, start);
        start = clock_now();
        for (int n = 0; n < LAUNCHES; n++)
            CALL(driver->cu->cuLaunchKernel(driver->function, 1, 1, 1, 32, 1, 1, 0, NULL, arguments,
                                            NULL));
        CALL(driver->cu->cuCtxSynchronize());
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

static void measure_memory(struct driver *driver, double before)
{
    size_t bytes = SMALL * sizeof(float);
    float *a = floats(SMALL, 1), *c = floats(SMALL, 0);
    unsigned count = SMALL;
    load(driver, vecadd_ptx, "vecadd");
    upload(driver, a, a, bytes);
    void *arguments[] = {&driver->a, &driver->b, &driver->c, &count};
    run(driver, 1, 1, SMALL, 1, arguments);
    CALL(driver->cu->cuMemcpyDtoH_v2(c, driver->c, bytes));
    CHECK(c[3] == a[3] + a[3]);
    printf("before %.6f\nafter %.6f\n", before, resident());
    discard(driver);
    free(a), free(c);
}

/* RUNS inputs of 400 instructions, each of which uses the next one's function, into one image, and
 * that loaded: for callgrind. */
static void measure_link(struct driver *driver)
{
    enum { TEXT = 1 << 15, PAIRS = 200 };
    char *text = malloc(TEXT);
    CUlinkState link;
    CUmodule module;
    void *image;
    CHECK(text);
    CALL(driver->cu->cuLinkCreate_v2(0, NULL, NULL, &link));
    for (int i = 0; i < runs; i++) {
        int used = snprintf(text, TEXT, ".version 6.0\n.target sm_50\n.address_size 64\n");
        if (i + 1 < runs)
            used += snprintf(text + used, TEXT - (size_t)used,
                             ".extern .func (.param .b32 o) f%d(.param .b32 i);\n", i + 1);
        used += snprintf(text + used, TEXT - (size_t)used,
                         ".visible .func (.param .b32 r) f%d(.param .b32 x)\n{\n"
                         " .reg .u32 a, b;\n ld.param.b32 a, [x];\n",
                         i);
        for (int n = 0; n < PAIRS; n++)
            used += snprintf(text + used, TEXT - (size_t)used,
                             " add.u32 b, a, %d;\n xor.b32 a, b, a;\n", n);
        snprintf(text + used, TEXT - (size_t)used,
                 " st.param.b32 [r], a;\n ret;\n}\n.visible .entry k%d() { ret; }\n", i);
        CALL(driver->cu->cuLinkAddData_v2(link, CU_JIT_INPUT_PTX, text, strlen(text) + 1, "input",
                                          0, NULL, NULL));
    }
    CALL(driver->cu->cuLinkComplete(link, &image, NULL));
    CALL(driver->cu->cuModuleLoadData(&module, image));
    CALL(driver->cu->cuModuleUnload(module));
    CALL(driver->cu->cuLinkDestroy(link));
    free(text);
}

static int usage(void)
{
    fprintf(stderr, "usage: sim vecadd|matmul RUNS LIBRARY OTHER\n"
                    "       sim call|launch|memory RUNS LIBRARY\n"
                    "       sim link INPUTS LIBRARY\n");
    return 2;
}

int main(int argc, char **argv)
{
    double before = resident();
    const struct work *work = NULL;
    if (argc < 4)
        return usage();
    runs = atoi(argv[2]);
    if (runs < 1 || runs > MAX_RUNS)
        runs = MAX_RUNS;
    for (size_t i = 0; i < sizeof works / sizeof *works; i++)
        if (strcmp(argv[1], works[i].name) == 0)
            work = &works[i];
    if (argc != (work ? 5 : 4))
        return usage();
    struct driver one = open_driver(argv[3], work ? "1" : NULL);
    if (work) {
        struct driver two = open_driver(argv[4], "2");
        measure_work(work, &one, &two);
        close_driver(&two);
    } else if (strcmp(argv[1], "launch") == 0) {
        measure_launch(&one);
    } else if (strcmp(argv[1], "call") == 0) {
        measure_call(&one);
    } else if (strcmp(argv[1], "link") == 0) {
        measure_link(&one);
    } else {
        measure_memory(&one, before);
    }
    close_driver(&one);
    return 0;
}
