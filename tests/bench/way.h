/* SPDX-License-Identifier: MIT */
/* What each module that is made of way.c exports. */
#ifndef CUSHIM_TESTS_BENCH_WAY_H
#define CUSHIM_TESTS_BENCH_WAY_H

#include <stdbool.h>

bool way_prepare(void *library); /* the driver's, which is loaded already */
long way_call(long calls);

#endif
