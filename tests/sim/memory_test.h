/* SPDX-License-Identifier: MIT */
/* What the tests of the simulated driver share: a driver with two small devices, whose memory is
 * the same before and after every test. With a real driver's path instead, they check the tests:
 * what is not MEMORY_OWN has to hold there as well. */
#ifndef TESTS_SIM_MEMORY_TEST_H
#define TESTS_SIM_MEMORY_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <cushim/cushim.h>

#define KIB ((size_t)1 << 10)
#define MIB ((size_t)1 << 20)
#define DEVICE_MEMORY (256 * MIB)

/* A call and its code: on a difference cmocka prints both. */
#define OK(call) assert_int_equal((call), CUDA_SUCCESS)
#define GIVES(code, call) assert_int_equal((call), (code))

extern const struct cushim_api *cu;
extern CUcontext memory_context;
extern bool memory_simulated; /* by the library's name; else a real driver is tried */
int memory_devices(void);

void memory_library(const char *path); /* of a process that runs no tests */
int memory_setup(void **state);        /* of the group: argv[1] of the program is the library */
int memory_teardown(void **state);     /* of the group */
int memory_before(void **state);
int memory_after(void **state); /* fails where memory of a device is missing */
int memory_main(int argc, char **argv, const char *name, const struct CMUnitTest *tests,
                size_t count);
#define MEMORY_TEST(function) cmocka_unit_test_setup_teardown(function, memory_before, memory_after)
/* A case of the simulator's own, which is not run on a real driver, with the reason. */
#define MEMORY_OWN(function, why)                                                                  \
    {                                                                                              \
#function, function, memory_before, memory_after, (void *)(uintptr_t)(why)                 \
    }
#define MEMORY_MAIN(name, tests)                                                                   \
    int main(int argc, char **argv)                                                                \
    {                                                                                              \
        return memory_main(argc, argv, name, tests, sizeof(tests) / sizeof *(tests));              \
    }

CUdeviceptr memory_of(size_t size); /* cuMemAlloc, which must succeed */
size_t memory_free_bytes(void);     /* of the current context's device */
/* By qemu-user, which keeps account of every page that was ever mapped. */
bool memory_emulated(void);
size_t memory_resident(void); /* bytes of the process that are in memory; under a sanitizer,
                                 which needs its own: always 0 */
uint32_t memory_random(void); /* the same sequence in every run */
void memory_fill(void *bytes, size_t size);

/* A stream that runs nothing until the gate opens. */
struct memory_gate {
    volatile int open;
};
void memory_gate_close(struct memory_gate *gate, CUstream stream);
void memory_gate_open(struct memory_gate *gate);

#endif
