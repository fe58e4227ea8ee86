/* SPDX-License-Identifier: MIT */
/* What attributes promise: each function tries the call, with the attribute's value. */
#ifndef TESTS_SIM_ATTRIBUTES_H
#define TESTS_SIM_ATTRIBUTES_H

#include "memory_test.h"

static inline CUresult first_of(CUresult one, CUresult other)
{
    return one != CUDA_SUCCESS ? one : other;
}

/* Memory that is mapped (attributes_memory.c). */
CUresult virtual_plain(int value);
CUresult virtual_file(int value);
CUresult virtual_fabric(int value);
CUresult virtual_compressed(int value);
CUresult virtual_remote(int value);
CUresult virtual_numa(int value);
CUresult virtual_host(int value);
CUresult range_handle(int value);
CUresult range_mapped(int value);

#endif
