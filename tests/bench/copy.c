/* SPDX-License-Identifier: MIT */
/*
 * copy [--runs N] [--max BYTES] [--device N]
 *
 * Bandwidth of copies through the helpers and through the driver's own calls, in turns: pinned and
 * pageable memory, both directions, 1 KiB to 1 GiB. CSV on stdout, for plot.py; what is measured
 * and where on stderr. Exit code 77 without a GPU.
 *
 * A row's bandwidths are medians of its runs, in 10^9 bytes a second, and so is its ratio, helper
 * to raw of one and the same run.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cushim/memory.h>

#include "clock.h"

enum { MAX_RUNS = 101, SMALLEST = 1024 };
#define RUN_TIME 10e6 /* nanoseconds that a run lasts at least */
#define FEWEST 2      /* copies in a run */

static const struct cushim_api *cu;
static CUdeviceptr device;

static void stop(const char *what)
{
    fprintf(stderr, "%s: %s\n", what, cushim_last_error());
    exit(1);
}

/* ---- one run of each */

KEEP double run_raw(bool to_device, void *host, size_t bytes, long copies);
KEEP double run_helper(bool to_device, void *host, size_t bytes, long copies);

/* Nanoseconds of a copy. */
KEEP double run_raw(bool to_device, void *host, size_t bytes, long copies)
{
    CUresult result = CUDA_SUCCESS;
    long long start = clock_now();
    for (long i = 0; i < copies; i++)
        result |= to_device ? cu->cuMemcpyHtoD_v2(device, host, bytes)
                            : cu->cuMemcpyDtoH_v2(host, device, bytes);
    result |= cu->cuStreamSynchronize(NULL);
    double taken = (double)(clock_now() - start) / (double)copies;
    if (result != CUDA_SUCCESS)
        stop("a raw copy");
    return taken;
}

KEEP double run_helper(bool to_device, void *host, size_t bytes, long copies)
{
    CUresult result = CUDA_SUCCESS;
    long long start = clock_now();
    for (long i = 0; i < copies; i++)
        result |= to_device ? cushim_copy_to_device(cu, device, host, bytes)
                            : cushim_copy_to_host(cu, host, device, bytes);
    result |= cu->cuStreamSynchronize(NULL);
    double taken = (double)(clock_now() - start) / (double)copies;
    if (result != CUDA_SUCCESS)
        stop("a helper's copy");
    return taken;
}

/* ---- one row */

static int by_value(const void *one, const void *two)
{
    double a, b;
    memcpy(&a, one, sizeof a);
    memcpy(&b, two, sizeof b);
    return (a > b) - (a < b);
}

static double median(double *values, int count)
{
    qsort(values, (size_t)count, sizeof *values, by_value);
    return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

static void measure(bool to_device, bool pinned, void *host, size_t bytes, int runs)
{
    double raw[MAX_RUNS], helper[MAX_RUNS], ratio[MAX_RUNS];
    double once = run_raw(to_device, host, bytes, FEWEST);
    long copies = (long)(RUN_TIME / once) > FEWEST ? (long)(RUN_TIME / once) : FEWEST;
    run_helper(to_device, host, bytes, copies);
    run_raw(to_device, host, bytes, copies);
    for (int i = 0; i < runs; i++) {
        double of_raw = 0, of_helper;
        if (i % 2)
            of_raw = run_raw(to_device, host, bytes, copies);
        of_helper = run_helper(to_device, host, bytes, copies);
        if (i % 2 == 0)
            of_raw = run_raw(to_device, host, bytes, copies);
        raw[i] = (double)bytes / of_raw;
        helper[i] = (double)bytes / of_helper;
        ratio[i] = of_raw / of_helper;
    }
    printf("%s,%s,%zu,%.4f,%.4f,%.4f\n", to_device ? "to-device" : "to-host",
           pinned ? "pinned" : "pageable", bytes, median(raw, runs), median(helper, runs),
           median(ratio, runs));
    fflush(stdout);
}

/* ---- */

static long long number(const char *text, long long smallest, long long largest)
{
    char *end;
    long long value = strtoll(text, &end, 0);
    if (*end || end == text || value < smallest || value > largest) {
        fprintf(stderr, "copy: %s is no number from %lld to %lld\n", text, smallest, largest);
        exit(2);
    }
    return value;
}

static void open_device(int ordinal)
{
    char name[96] = "";
    CUcontext context;
    cu = cushim_load(NULL);
    if (cushim_init(cu) != CUSHIM_OK) {
        fprintf(stderr, "skipped: %s\n", cushim_message(cu));
        exit(77);
    }
    if (cu->cuDeviceGetName(name, sizeof name, ordinal) != CUDA_SUCCESS ||
        cu->cuDevicePrimaryCtxRetain(&context, ordinal) != CUDA_SUCCESS ||
        cu->cuCtxSetCurrent(context) != CUDA_SUCCESS) {
        fprintf(stderr, "copy: device %d cannot be used\n", ordinal);
        exit(1);
    }
    fprintf(stderr, "%s, driver of CUDA %d.%d\n", name, cushim_driver_version(cu) / 1000,
            cushim_driver_version(cu) % 1000 / 10);
}

int main(int count, char **arguments)
{
    size_t largest = (size_t)1 << 30;
    int runs = 15, ordinal = 0;
    for (int i = 1; i < count; i += 2) {
        const char *value = i + 1 < count ? arguments[i + 1] : "";
        if (strcmp(arguments[i], "--runs") == 0)
            runs = (int)number(value, 1, MAX_RUNS);
        else if (strcmp(arguments[i], "--max") == 0)
            largest = (size_t)number(value, SMALLEST, INT64_MAX / 2);
        else if (strcmp(arguments[i], "--device") == 0)
            ordinal = (int)number(value, 0, 1023);
        else {
            fprintf(stderr, "usage: copy [--runs N] [--max BYTES] [--device N]\n");
            return 2;
        }
    }
    void *pinned = NULL, *pageable = malloc(largest);
    open_device(ordinal);
    if (!pageable || cushim_memory_alloc(cu, largest, &device) != CUDA_SUCCESS ||
        cu->cuMemHostAlloc(&pinned, largest, 0) != CUDA_SUCCESS)
        stop("memory");
    memset(pageable, 1, largest);
    memset(pinned, 1, largest);
    fprintf(stderr, "%d runs of each, of %.0f ms or %d copies\n", runs, RUN_TIME / 1e6, FEWEST);
    printf("direction,memory,bytes,raw_gb_s,helper_gb_s,ratio\n");
    for (int kind = 0; kind < 4; kind++)
        for (size_t bytes = SMALLEST; bytes <= largest; bytes *= 2)
            measure(kind % 2 == 0, kind < 2, kind < 2 ? pinned : pageable, bytes, runs);
    free(pageable);
    if (cu->cuMemFreeHost(pinned) != CUDA_SUCCESS || cushim_memory_free(cu, device) != CUDA_SUCCESS)
        stop("memory");
    cu->cuDevicePrimaryCtxRelease_v2(ordinal);
    return 0;
}
