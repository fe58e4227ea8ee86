/* SPDX-License-Identifier: MIT */
/*
 * `cushim demo`: adds two vectors on a GPU, checks every element and says how long it took; on a
 * simulated GPU, where there is none, all kernels of kernels/ too.
 *
 * It is also an example of a program on the plain table: every driver call is cu->cuXxx. Where the
 * newest headers steer a name to an ABI that only new drivers have, the first ABI is named.
 */
#include "command.h"
#include "demo_kernels.h"
#include "demo_open.h"
#include "devices.h"
#include "driver.h"
#include "names.h"
#include "output.h"

#include "vecadd_ptx.h"

#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { COUNT = 1000000, BYTES = COUNT * (int)sizeof(float), BLOCK = 256, LOG_SIZE = 8192 };

static struct options {
    const char *driver; /* NULL: search */
    int device;
    bool all;       /* kernels, on a real device too */
    bool simulated; /* without a look at the real ones */
} given;

/* What the GPU holds for the demo; what is not held is zero. */
struct demo {
    const struct cushim_api *cu;
    CUdevice device;
    CUcontext context;
    CUmodule module;
    CUdeviceptr a, b, sum;
    CUevent start, stop;
    bool current; /* the context is */
    bool failed;  /* something was said on stderr */
};

static const struct option_row option_rows[] = {
    COMMAND_OPTION_DRIVER(given.driver),
    {.name = "device",
     .number = &given.device,
     .high = INT_MAX,
     .value = "N",
     .doc = "Use this device (default: 0)"},
    {.name = "all", .flag = &given.all, .doc = "Run and check all other kernels as well"},
#ifdef HAVE_SIM
    {.name = "simulated", .flag = &given.simulated, .doc = "Use a simulated GPU in any case"},
#endif
    {0},
};

static double seconds_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* True for success; else the call, the code and what it means go to stderr. */
static bool succeeded(const char *call, CUresult code)
{
    const char *name = cushim_error_name(code);
    const char *words = cushim_error_string(code);
    const char *reason = cushim_last_error(); /* of an entry that this driver lacks */

    if (code == CUDA_SUCCESS)
        return true;
    fflush(stdout);
    fprintf(stderr, "cushim demo: %s failed: %s (%d)", call, name ? name : "unknown code",
            (int)code);
    if (reason[0] != '\0')
        fprintf(stderr, ": %s", reason);
    else if (words)
        fprintf(stderr, ": %s", words);
    fputc('\n', stderr);
    cushim_last_error_clear();
    return false;
}

/* Values in [-128, 128) whose sums mostly need rounding. */
static float value_at(uint32_t index, uint32_t seed)
{
    uint32_t mixed = (index + seed) * 2654435761U;

    mixed ^= mixed >> 15;
    mixed *= 2246822519U;
    mixed ^= mixed >> 13;
    return (float)(mixed >> 8) / 65536.0F - 128.0F;
}

static bool load_kernel(struct demo *demo, CUfunction *vecadd)
{
    char log[LOG_SIZE] = "";
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log, (void *)(uintptr_t)LOG_SIZE};
    CUresult code = demo->cu->cuModuleLoadDataEx(&demo->module, vecadd_ptx, 2, options, values);

    log[LOG_SIZE - 1] = '\0';
    if (!succeeded("cuModuleLoadDataEx", code)) {
        if (log[0] != '\0')
            fprintf(stderr, "the driver's compiler says:\n%s\n", log);
        return false;
    }
    return succeeded("cuModuleGetFunction",
                     demo->cu->cuModuleGetFunction(vecadd, demo->module, "vecadd"));
}

static bool prepare(struct demo *demo, const float *a, const float *b)
{
    const struct cushim_api *cu = demo->cu;

    if (!succeeded("cuDevicePrimaryCtxRetain",
                   cu->cuDevicePrimaryCtxRetain(&demo->context, demo->device)))
        return false;
    if (!succeeded("cuCtxPushCurrent", cu->cuCtxPushCurrent(demo->context)))
        return false;
    demo->current = true;
    return succeeded("cuMemAlloc", cu->cuMemAlloc(&demo->a, BYTES)) &&
           succeeded("cuMemAlloc", cu->cuMemAlloc(&demo->b, BYTES)) &&
           succeeded("cuMemAlloc", cu->cuMemAlloc(&demo->sum, BYTES)) &&
           succeeded("cuMemcpyHtoD", cu->cuMemcpyHtoD(demo->a, a, BYTES)) &&
           succeeded("cuMemcpyHtoD", cu->cuMemcpyHtoD(demo->b, b, BYTES)) &&
           succeeded("cuEventCreate", cu->cuEventCreate(&demo->start, CU_EVENT_DEFAULT)) &&
           succeeded("cuEventCreate", cu->cuEventCreate(&demo->stop, CU_EVENT_DEFAULT));
}

/* One launch; `sum` is poisoned before, so that an element that nobody wrote is noticed. */
static bool launch(struct demo *demo, CUfunction vecadd)
{
    const struct cushim_api *cu = demo->cu;
    unsigned count = COUNT;
    void *parameters[] = {&demo->a, &demo->b, &demo->sum, &count};

    return succeeded("cuMemsetD8", cu->cuMemsetD8(demo->sum, 0xff, BYTES)) &&
           succeeded("cuEventRecord", cu->cuEventRecord(demo->start, NULL)) &&
           succeeded("cuLaunchKernel",
                     cu->cuLaunchKernel(vecadd, (COUNT + BLOCK - 1) / BLOCK, 1, 1, BLOCK, 1, 1, 0,
                                        NULL, parameters, NULL)) &&
           succeeded("cuEventRecord", cu->cuEventRecord(demo->stop, NULL)) &&
           succeeded("cuEventSynchronize", cu->cuEventSynchronize(demo->stop));
}

/* Everything between device and checked result. `milliseconds` is the kernel's. */
static bool run_on_device(struct demo *demo, const float *a, const float *b, float *sum,
                          float *milliseconds)
{
    const struct cushim_api *cu = demo->cu;
    CUfunction vecadd = NULL;

    /* The first launch loads the kernel; the second one is timed. */
    return prepare(demo, a, b) && load_kernel(demo, &vecadd) && launch(demo, vecadd) &&
           launch(demo, vecadd) &&
           succeeded("cuEventElapsedTime",
                     cu->cuEventElapsedTime_v1(milliseconds, demo->start, demo->stop)) &&
           succeeded("cuMemcpyDtoH", cu->cuMemcpyDtoH(sum, demo->sum, BYTES));
}

/* After a failure the driver may refuse these calls too: the first one is all that is said. */
static bool released(const struct demo *demo, const char *call, CUresult code)
{
    return demo->failed ? code == CUDA_SUCCESS : succeeded(call, code);
}

/* Give back what is held. */
static bool release(struct demo *demo)
{
    const struct cushim_api *cu = demo->cu;
    CUcontext popped;
    bool good = true;

    if (demo->stop)
        good &= released(demo, "cuEventDestroy", cu->cuEventDestroy(demo->stop));
    if (demo->start)
        good &= released(demo, "cuEventDestroy", cu->cuEventDestroy(demo->start));
    if (demo->module)
        good &= released(demo, "cuModuleUnload", cu->cuModuleUnload(demo->module));
    if (demo->sum != 0)
        good &= released(demo, "cuMemFree", cu->cuMemFree(demo->sum));
    if (demo->b != 0)
        good &= released(demo, "cuMemFree", cu->cuMemFree(demo->b));
    if (demo->a != 0)
        good &= released(demo, "cuMemFree", cu->cuMemFree(demo->a));
    if (demo->current)
        good &= released(demo, "cuCtxPopCurrent", cu->cuCtxPopCurrent(&popped));
    if (demo->context)
        good &= released(demo, "cuDevicePrimaryCtxRelease",
                         cu->cuDevicePrimaryCtxRelease_v1(demo->device));
    return good;
}

static bool check(const float *a, const float *b, const float *sum)
{
    for (size_t i = 0; i < COUNT; i++) {
        float expected = a[i] + b[i];

        /* Not `sum[i] != expected`: the poison is a NaN, which is to fail whatever is expected. */
        if (!(sum[i] == expected)) {
            fprintf(stderr, "cushim demo: element %zu is %.9g instead of %.9g\n", i, (double)sum[i],
                    (double)expected);
            return false;
        }
    }
    return true;
}

/* The whole computation on one device; all that it takes is released again. */
static int add_vectors(const struct cushim_api *cu, CUdevice device, float *milliseconds)
{
    struct demo demo = {.cu = cu, .device = device};
    float *a = malloc(BYTES), *b = malloc(BYTES), *sum = malloc(BYTES);
    bool good;

    if (!a || !b || !sum)
        output_no_memory();
    for (uint32_t i = 0; i < COUNT; i++) {
        a[i] = value_at(i, 1);
        b[i] = value_at(i, 77777777);
    }
    demo.failed = !run_on_device(&demo, a, b, sum, milliseconds) || !check(a, b, sum);
    good = release(&demo) && !demo.failed;
    free(sum);
    free(b);
    free(a);
    return good ? COMMAND_OK : COMMAND_FAILED;
}

/* Exit code; what went wrong goes to stderr. */
static int find_device(const struct cushim_api *cu, int ordinal, struct device_facts *facts)
{
    int count = 0;

    fflush(stdout); /* an old driver forks here */
    if (cushim_init(cu) != CUSHIM_OK) {
        fprintf(stderr, "cushim demo: %s\n", cushim_message(cu));
        return COMMAND_NO_DRIVER;
    }
    if (!succeeded("cuDeviceGetCount", cu->cuDeviceGetCount(&count)))
        return COMMAND_FAILED;
    if (ordinal >= count || !device_read(cu, ordinal, facts)) {
        fprintf(stderr,
                "cushim demo: no device %d; this driver has %d, numbered from 0: 'cushim info "
                "--init' lists them\n",
                ordinal, count);
        return COMMAND_NO_DRIVER;
    }
    return COMMAND_OK;
}

static void print_driver(const struct cushim_api *cu, bool simulated)
{
    char version[VERSION_TEXT_SIZE];
    size_t available = 0;

    for (size_t i = 0; i < cushim_entry_count(); i++)
        available += cushim_slot_at(cu, i).state == CUSHIM_STATE_AVAILABLE;
    printf("driver   ");
    if (simulated)
        printf("simulated, CUDA %s\n", version_text(version, cushim_driver_version(cu)));
    else
        driver_print(cu);
    printf("entries  %zu of %zu are available\n", available, cushim_entry_count());
}

static int run_on(const struct demo_driver *driver, const struct options *options, double start)
{
    struct device_facts facts;
    const struct cushim_api *cu = driver->cu;
    float milliseconds = 0;
    char memory[DEVICE_TEXT_SIZE];
    int result;

    if (!driver_found(cu, "cushim demo"))
        return COMMAND_NO_DRIVER;
    print_driver(cu, driver->simulated);
    result = find_device(cu, options->device, &facts);
    if (result != COMMAND_OK)
        return result;
    printf("device   %d: %s, compute %d.%d, %s\n", options->device, facts.name, facts.major,
           facts.minor, device_memory(memory, facts.memory));

    result = add_vectors(cu, facts.device, &milliseconds);
    if (result != COMMAND_OK)
        return result;
    printf("vecadd   %d sums, ", COUNT);
    output_text(OUTPUT_GOOD, "every one correct");
    printf("\ntime     %.1f us in the kernel, %.1f ms in all, start of the GPU included\n",
           (double)milliseconds * 1e3, (seconds_now() - start) * 1e3);
    return options->all || driver->simulated ? demo_kernels(cu, facts.device) : COMMAND_OK;
}

static int run(const char *title, char **words)
{
    struct demo_driver driver;
    double start;
    int result;

    (void)title, (void)words;
    if (given.simulated && given.driver)
        options_refuse("--simulated and --driver exclude each other");
    start = seconds_now();
    driver = demo_open(given.driver, given.simulated);
    result = run_on(&driver, &given, start);
    cushim_close(driver.cu);
    return result;
}

const struct command command_demo = {
    .name = "demo",
    .summary = "run kernels and check what they computed",
    .doc = "Load the CUDA driver, add two vectors of one million floats on a GPU, check every "
           "element and print the time."
#ifdef HAVE_SIM
           " Where no driver was asked for (--driver, CUSHIM_LIBCUDA) and there is no GPU, a "
           "simulated one runs this and all other kernels on the CPU."
#endif
    ,
    .options = option_rows,
    .run = run,
};
