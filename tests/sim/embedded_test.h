/* SPDX-License-Identifier: MIT */
/* What the tests of cushim/sim.h share. A process has one such driver, so that each case is a
 * process of its own. */
#ifndef TESTS_SIM_EMBEDDED_TEST_H
#define TESTS_SIM_EMBEDDED_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <limits.h>
#include <stdint.h>

#include <cmocka.h>

#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cushim/sim.h>

#define EXPECT(condition)                                                                          \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: not so: %s (%s)\n", __FILE__, __LINE__, #condition,            \
                    cushim_last_error());                                                          \
            _exit(1);                                                                              \
        }                                                                                          \
    } while (0)
#define GOOD(call) EXPECT((call) == CUDA_SUCCESS)

/* A child's exit code, or 128 and its signal. */
int embedded_end_of(pid_t child);
int embedded_in_child(void (*run)(void));
const struct cushim_api *embedded_open(struct cushim_sim_options options);
/* With device 0's first context current. */
const struct cushim_api *embedded_start(const struct cushim_api *cu);

#endif
