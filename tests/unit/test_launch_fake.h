/* SPDX-License-Identifier: MIT */
/* A driver that has one device and says of functions what the test wants; for tests of launches. */
#ifndef CUSHIM_TESTS_UNIT_TEST_LAUNCH_FAKE_H
#define CUSHIM_TESTS_UNIT_TEST_LAUNCH_FAKE_H

#include <cushim/launch.h>

#include "common.h"

/* A CUfunction of the fake is the address of one of these. */
struct fake_function {
    size_t count, offsets[40], sizes[40];
    int threads, registers, static_shared, dynamic_now; /* -1: it does not say */
    struct fake_function *of_kernel;                    /* not NULL: this is a CUkernel */
};

/* All of the driver's state; set by open_fake. */
extern struct fake_launcher {
    int attributes[160]; /* of the device; -1: it does not know */
    CUresult device_code;
    int active_blocks, active_clusters;
    CUresult next[4]; /* what the next launches return */
    const char *name; /* of every function; NULL: cuFuncGetName fails */

    bool quiet; /* note nothing: several threads are at it */

    /* What happened. */
    unsigned asked, launches, opt_ins;
    const char *call; /* the launch's */
    unsigned grid[3], block[3], shared;
    CUstream stream;
    unsigned char values[40][64]; /* arguments as the kernel would read them */
    unsigned char packed[256];
    size_t packed_size;
    unsigned attribute_count;
    CUlaunchAttribute launch_attributes[24];
} fake;

/* An instance on a fresh fake; `missing` is a NULL-terminated list of symbols that it lacks. */
const struct cushim_api *open_fake(int version, const char *const *missing);

/* A function with parameters of these sizes, each aligned to its size, as the fake says. */
struct fake_function fake_function_of(size_t count, const size_t *sizes);

static inline CUfunction handle_of(struct fake_function *function)
{
    return (CUfunction)(void *)function;
}

/* The last error has all these words; NULL ends them. */
void assert_error_says(const char *const *words);
#define ERROR_SAYS(...) assert_error_says((const char *const[]){__VA_ARGS__, NULL})

#endif
