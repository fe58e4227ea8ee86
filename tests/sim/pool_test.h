/* SPDX-License-Identifier: MIT */
/* What the tests of memory pools share. */
#ifndef TESTS_SIM_POOL_TEST_H
#define TESTS_SIM_POOL_TEST_H

#include "memory_test.h"

#define RESERVED CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT
#define POOL_GRAIN (32 * MIB)

static inline CUmemoryPool pool_of(size_t most)
{
    CUmemPoolProps props;
    CUmemoryPool pool = NULL;
    memset(&props, 0, sizeof props);
    props.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    props.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    props.maxSize = most;
    OK(cu->cuMemPoolCreate(&pool, &props));
    return pool;
}

static inline cuuint64_t pool_value(CUmemoryPool pool, CUmemPool_attribute attribute)
{
    cuuint64_t value = 0;
    OK(cu->cuMemPoolGetAttribute(pool, attribute, &value));
    return value;
}

static inline CUdeviceptr pool_take(size_t size, CUmemoryPool pool, CUstream stream)
{
    CUdeviceptr address = 0;
    OK(cu->cuMemAllocFromPoolAsync(&address, size, pool, stream));
    return address;
}

#endif
