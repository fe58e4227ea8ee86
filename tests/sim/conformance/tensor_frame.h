/* SPDX-License-Identifier: MIT */
/* A kernel around one bulk operation, and what it leaves in memory. */
#ifndef TESTS_SIM_TENSOR_FRAME_H
#define TESTS_SIM_TENSOR_FRAME_H

#include "conform.h"

#define COMMIT "\ncp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\nfence.proxy.async;\n"
#define AT1 "{%c0}"
#define AT2 "{%c0, %c1}"
#define AT3 "{%c0, %c1, %c2}"
#define AT4 "{%c0, %c1, %c2, %c3}"
#define AT5 "{%c0, %c1, %c2, %c3, %c4}"
/* Attributes of a kernel whose blocks come in clusters of so many. */
#define CLUSTER(count) ".explicitcluster\n.reqnctapercluster " #count ", 1, 1\n"

#define ONES                                                                                       \
    {                                                                                              \
        1, 1, 1, 1, 1                                                                              \
    }
#define U8 CU_TENSOR_MAP_DATA_TYPE_UINT8
#define U16 CU_TENSOR_MAP_DATA_TYPE_UINT16
#define U32 CU_TENSOR_MAP_DATA_TYPE_UINT32
#define F16 CU_TENSOR_MAP_DATA_TYPE_FLOAT16
#define F32 CU_TENSOR_MAP_DATA_TYPE_FLOAT32
#define F64 CU_TENSOR_MAP_DATA_TYPE_FLOAT64

struct tile {
    CUtensorMapDataType type;
    unsigned rank;
    int swizzle;
    cuuint64_t dims[5], strides[4];
    cuuint32_t box[5], steps[5];
    int at[5];
    unsigned bytes, to;
    int fill;
};

/* In the kernel's order. */
struct arguments {
    CUdeviceptr out, from;
    unsigned bytes, to;
    int at[5];
    unsigned more[3];
    CUdeviceptr map;
};
_Static_assert(sizeof(struct arguments) == 64, "the kernel reads it so");

/* In memory, and of the host: all filled with noise by tensor_prepare. */
extern CUdeviceptr tensor_memory, tensor_from;
extern CUtensorMap tensor_map;

/* A fault ends the use of its process: the cases are one process's until one of them faults, and
 * the next begins with another. */
void tensor_series(size_t count, void (*run)(size_t index));
void tensor_prepare(void);
/* tensor_map, of tensor_memory. */
CUresult tensor_encode(const struct tile *tile, CUtensorMapInterleave interleave);
/* The frame with the operation in it. tensor_text: of it, for an architecture's own target. */
const char *tensor_text(const char *operation, const char *attributes);
CUfunction tensor_kernel(const char *operation, const char *attributes);
void tensor_launch(CUfunction function, unsigned blocks, struct arguments *all);
/* After a launch: shared memory of each block, and where it is wanted the tensor. */
void tensor_see(unsigned blocks, bool whole);

#endif
