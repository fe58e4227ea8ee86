/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Launching kernels: arguments by value, as pointers or packed.
 *
 *     struct cushim_launch launch = cushim_launch_1d(count, 256, NULL);
 *     if (CUSHIM_LAUNCH(cu, saxpy, &launch, n, 2.0f, x, y) != CUDA_SUCCESS)
 *         fail(cushim_last_error());
 *
 * A function is the driver's plain CUfunction, of the current context; from CUDA 12.0 on a CUkernel
 * cast to CUfunction will do too.
 *
 * A launch costs what the driver's call costs. If the driver refuses it, cushim queries the device
 * and the function, and the sentence says what does not fit:
 * - the device: grid, block, threads in a block, shared memory, clusters, cooperative launch;
 * - the function: how many threads it can have in a block, its own shared memory;
 * - its parameters, their number and sizes, if the driver can tell (cuFuncGetParamInfo, from 12.4).
 *
 * A driver reads as many arguments as the kernel has, whatever it is given. It reports no error if
 * there are too few of them, or if one has another size. cushim_launch_check finds that without
 * launching. Define CUSHIM_CHECK_LAUNCHES before this header, in debug builds, and CUSHIM_LAUNCH
 * calls it each time (a few microseconds). Drivers before 12.4 do not tell the parameters, and
 * there a wrong number or size of arguments is not found.
 *
 * For every function below:
 * - sizes are in bytes unless something else is said;
 * - it works in the current context and leaves it current, on errors too;
 * - it returns CUDA_SUCCESS or an error code; cushim_last_error() then names the helper, and either
 *   the argument and its value, or the driver's call that failed;
 * - outputs are written on success only;
 * - Threads: safe. Since: 0.1.
 */
#ifndef CUSHIM_LAUNCH_H
#define CUSHIM_LAUNCH_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include <cushim/cushim.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Braces for a grid, block or cluster of one, two or three numbers of any integer type: {x, y, z},
 * with 1 for those left out. A negative number becomes one that every device refuses. */
#define CUSHIM_DIM(...) CUSHIM_DIM_(__VA_ARGS__, 1, 1, 1)
#define CUSHIM_DIM_(x, y, z, ...)                                                                  \
    {                                                                                              \
        CUSHIM_SIZE_OF_DIM_(x), CUSHIM_SIZE_OF_DIM_(y), CUSHIM_SIZE_OF_DIM_(z)                     \
    }
#ifdef __cplusplus
#define CUSHIM_SIZE_OF_DIM_(value) static_cast<size_t>(value)
#else
#define CUSHIM_SIZE_OF_DIM_(value) (size_t)(value)
#endif

/**
 * Where and how a kernel runs: made by cushim_launch_1d, _2d or _3d, or by hand:
 *
 *     struct cushim_launch launch = {
 *         .size = sizeof launch, .grid = CUSHIM_DIM(64, 32), .block = CUSHIM_DIM(16, 16)};
 *
 * All but size, grid and block may be zero. The numbers are wider than the driver's own, so that a
 * grid computed as 2^32 + 1 blocks is refused, not cut to 1.
 */
struct cushim_launch {
    size_t size;       /**< of this structure */
    size_t grid[3];    /**< blocks in x, y and z; none 0 */
    size_t block[3];   /**< threads in x, y and z; none 0 */
    size_t shared;     /**< dynamic shared memory of a block. If the launch needs more than the
                          function may have, the function is set to what the device has, and stays
                          so (CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES) */
    CUstream stream;   /**< NULL: the instance's default stream */
    size_t cluster[3]; /**< blocks of a cluster; all 0: as the function was compiled. Divides the
                          grid. Compute capability 9.0, drivers from 11.6 */
    bool cooperative;  /**< all blocks run at once and may wait for each other */
    unsigned int attribute_count;                  /**< at most 16 */
    const struct CUlaunchAttribute_st *attributes; /**< of type CUlaunchAttribute; passed on as they
                                                      are, drivers from 11.6 */
};

/**
 * Launch a kernel with one pointer to each argument (cuLaunchKernel; cuLaunchCooperativeKernel;
 * cuLaunchKernelEx for clusters, attributes and what else needs it).
 *
 * @param function  of the current context; or a CUkernel, cast
 * @param launch    not NULL; read before this returns
 * @param pointers  `count` of them, in the order of the parameters; the values are read before this
 *                  returns. NULL if count is 0
 * @param sizes     of what they point to, for the sentence if the launch is refused; NULL if the
 *                  caller does not know them
 * @param count     number of arguments
 * @return CUDA_ERROR_INVALID_VALUE for numbers outside the device's limits and for arguments that
 *         are not the kernel's; CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES for more threads in a block than
 *         the function can have; CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE; CUDA_ERROR_NOT_SUPPORTED
 *         or CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER for what this device or driver does not have;
 *         else the driver's code, which may be one of earlier work
 */
CUSHIM_PUBLIC CUresult cushim_launch_kernel(const struct cushim_api *cu, CUfunction function,
                                            const struct cushim_launch *launch, void **pointers,
                                            const size_t *sizes, size_t count);

/**
 * Check a launch against the device, the function and, from CUDA 12.4 on, its parameters, without
 * launching. The driver is queried each time; nothing is changed.
 *
 * @param function  of the current context; or a CUkernel, cast
 * @param launch    not NULL
 * @param sizes     as for cushim_launch_kernel; NULL to check no sizes
 * @param count     number of arguments
 * @return what does not fit, as an error; CUDA_SUCCESS if nothing was found
 */
CUSHIM_PUBLIC CUresult cushim_launch_check(const struct cushim_api *cu, CUfunction function,
                                           const struct cushim_launch *launch, const size_t *sizes,
                                           size_t count);

/* ---- packed parameters */

/**
 * Parameters laid out in one buffer as the device reads them; begin with CUSHIM_PARAMS(buffer).
 * Read size and count; leave the rest to the functions.
 */
struct cushim_params {
    unsigned char *buffer; /**< the caller's; any alignment */
    size_t capacity;       /**< of the buffer. A kernel has at most 4096 bytes of parameters; 32764
                              from compute capability 7.0, drivers from 12.1 and PTX 8.1 */
    size_t size;           /**< up to the end of the last parameter: nothing behind it counts */
    size_t count;          /**< of parameters */
    CUresult code;         /**< of the first cushim_params_add that failed */
};
/* The size of this structure never changes. */

/** Initializer for struct cushim_params over an array of bytes. */
#define CUSHIM_PARAMS(array)                                                                       \
    {                                                                                              \
        (unsigned char *)(array), sizeof(array), 0, 0, CUDA_SUCCESS                                \
    }

/**
 * Append a parameter behind zeroed padding, at the next multiple of its alignment.
 *
 * Rule: each parameter lies at a multiple of its alignment on the device, whatever the host's; the
 * whole has no padding at its end. A scalar is aligned to its size, so long long, double and
 * CUdeviceptr to 8, also if the host aligns them to 4; vector types to float2 8, float3 4,
 * float4 16, double2 16, char4 4 and so on; a structure as its most aligned member. (CUDA C++
 * Programming Guide, Built-in Vector Types and Driver API; PTX ISA, Kernel Function Parameters;
 * measured: tests/device/launch.c.)
 *
 * @param params     begun with CUSHIM_PARAMS
 * @param value      `size` bytes; they are copied
 * @param size       not 0
 * @param alignment  a power of 2, at most 128
 * @return CUDA_ERROR_INVALID_VALUE if an argument is wrong or the buffer is full: nothing is added,
 *         and every later add and the launch fail too, so that it is enough to check the launch
 *
 * Threads: one at a time for each params.
 */
CUSHIM_PUBLIC CUresult cushim_params_add(struct cushim_params *params, const void *value,
                                         size_t size, size_t alignment);

/* cushim_params_add for a value of known type: if no padding is needed a compiler leaves little
 * more than the copy of it, and the rest is for the function. */
static inline CUresult cushim_params_add_known_(struct cushim_params *params, const void *value,
                                                size_t size, size_t alignment)
{
    if (!params || params->code != CUDA_SUCCESS || !params->buffer || !size || alignment > 128 ||
        (params->size & (alignment - 1)) || params->size > params->capacity ||
        size > params->capacity - params->size)
        return cushim_params_add(params, value, size, alignment);
    memcpy(params->buffer + params->size, value, size);
    params->size += size;
    params->count++;
    return CUDA_SUCCESS;
}

/**
 * Launch a kernel with packed parameters. Otherwise as cushim_launch_kernel. Cooperative launches
 * need cuLaunchKernelEx (11.6) this way.
 *
 * @param function  of the current context; or a CUkernel, cast
 * @param launch    as for cushim_launch_kernel
 * @param params    read before this returns; can be launched again
 */
CUSHIM_PUBLIC CUresult cushim_launch_packed(const struct cushim_api *cu, CUfunction function,
                                            const struct cushim_launch *launch,
                                            const struct cushim_params *params);

/* ---- occupancy */

/**
 * The block size that keeps a multiprocessor busiest (cuOccupancyMaxPotentialBlockSize).
 *
 * @param function   of the current context; or a CUkernel, cast
 * @param shared     dynamic shared memory of a block; if it depends on the size of the block,
 *                   `shared_of` returns how much, and `shared` is ignored
 * @param shared_of  may be NULL; called on this thread with numbers of threads
 * @param limit      largest number of threads wanted; 0: as many as the function can have
 * @param block      threads
 * @param grid       may be NULL; blocks of that size that keep the whole device busy
 */
CUSHIM_PUBLIC CUresult cushim_launch_block_size(const struct cushim_api *cu, CUfunction function,
                                                size_t shared, CUoccupancyB2DSize shared_of,
                                                size_t limit, size_t *block, size_t *grid);

/**
 * How many blocks run at once on one multiprocessor and on the whole device
 * (cuOccupancyMaxActiveBlocksPerMultiprocessor). The latter is the largest cooperative grid. Like
 * cushim_launch_block_size, it leaves the function's attributes as they were.
 *
 * @param function  of the current context; or a CUkernel, cast
 * @param launch    its block and shared count
 * @param each      may be NULL; blocks on a multiprocessor
 * @param all       may be NULL; blocks on the device
 */
CUSHIM_PUBLIC CUresult cushim_launch_occupancy(const struct cushim_api *cu, CUfunction function,
                                               const struct cushim_launch *launch, size_t *each,
                                               size_t *all);

/* Blocks of `block` threads for at least `threads`; 0 if either is 0. */
static inline size_t cushim_launch_blocks_(size_t threads, size_t block)
{
    return block ? threads / block + (threads % block != 0) : 0;
}

/**
 * Launch of at least x by y by z threads, in blocks of block_x by block_y by block_z. The kernel's
 * surplus threads must do nothing. 0 for any number gives a launch that is refused.
 *
 * @param x        threads in x
 * @param y        threads in y
 * @param z        threads in z
 * @param block_x  threads of a block in x
 * @param block_y  threads of a block in y
 * @param block_z  threads of a block in z
 * @param stream   NULL: the instance's default stream
 * @return a launch, to be changed further or given to CUSHIM_LAUNCH
 */
static inline struct cushim_launch cushim_launch_3d(size_t x, size_t y, size_t z, size_t block_x,
                                                    size_t block_y, size_t block_z, CUstream stream)
{
    struct cushim_launch launch;
    memset(&launch, 0, sizeof launch);
    launch.size = sizeof launch;
    launch.grid[0] = cushim_launch_blocks_(x, block_x);
    launch.grid[1] = cushim_launch_blocks_(y, block_y);
    launch.grid[2] = cushim_launch_blocks_(z, block_z);
    launch.block[0] = block_x;
    launch.block[1] = block_y;
    launch.block[2] = block_z;
    launch.stream = stream;
    return launch;
}

/**
 * Launch of at least x by y threads, as cushim_launch_3d:
 *
 *     struct cushim_launch launch = cushim_launch_2d(width, height, 16, 16, stream);
 *
 * @param x        threads in x
 * @param y        threads in y
 * @param block_x  threads of a block in x
 * @param block_y  threads of a block in y
 * @param stream   NULL: the instance's default stream
 * @return as cushim_launch_3d
 */
static inline struct cushim_launch cushim_launch_2d(size_t x, size_t y, size_t block_x,
                                                    size_t block_y, CUstream stream)
{
    return cushim_launch_3d(x, y, 1, block_x, block_y, 1, stream);
}

/**
 * Launch of at least so many threads, as cushim_launch_3d.
 *
 * @param threads  threads in all
 * @param block    threads of a block
 * @param stream   NULL: the instance's default stream
 * @return as cushim_launch_3d
 */
static inline struct cushim_launch cushim_launch_1d(size_t threads, size_t block, CUstream stream)
{
    return cushim_launch_3d(threads, 1, 1, block, 1, 1, stream);
}

/* What CUSHIM_LAUNCH calls. */
static inline CUresult cushim_launch_typed_(const struct cushim_api *cu, CUfunction function,
                                            const struct cushim_launch *launch, void **pointers,
                                            const size_t *sizes, size_t count)
{
#ifdef CUSHIM_CHECK_LAUNCHES
    CUresult code = cushim_launch_check(cu, function, launch, sizes, count);
    if (code != CUDA_SUCCESS)
        return code;
#endif
    return cushim_launch_kernel(cu, function, launch, pointers, sizes, count);
}

#ifdef __GNUC__
#define CUSHIM_ALIGNOF_ __alignof__ /* 8 for double also if structures give it 4 */
#endif

#ifdef __cplusplus
}

#ifndef CUSHIM_ALIGNOF_
#define CUSHIM_ALIGNOF_ alignof
#endif

namespace cushim_detail
{
template <typename Value> struct value {
    static_assert(__is_trivially_copyable(Value), "a kernel takes plain data only");
    static void *address(Value &of)
    {
        return const_cast<char *>(&reinterpret_cast<const volatile char &>(of));
    }
};
template <> struct value<decltype(nullptr)>; /* its bytes mean nothing: cast it to a pointer */
} // namespace cushim_detail

/**
 * Launch a kernel with its arguments by value, each of the type that the kernel has: 1 is an int
 * and 1.0 a double; arrays and functions decay to pointers.
 *
 *     CUSHIM_LAUNCH(cu, function, &launch, n, 'c', buffer)
 *
 * As cushim_launch_kernel with sizes. Allocates nothing.
 */
#define CUSHIM_LAUNCH(cu, function, ...) cushim_launch_values((cu), (function), __VA_ARGS__)
template <typename... Values>
static inline CUresult cushim_launch_values(const struct cushim_api *cu, CUfunction function,
                                            const struct cushim_launch *launch, Values... values)
{
    void *pointers[] = {cushim_detail::value<Values>::address(values)..., nullptr};
    const size_t sizes[] = {sizeof(Values)..., 0};
    return cushim_launch_typed_(cu, function, launch, pointers, sizes, sizeof...(Values));
}

/** Append a value to packed parameters, with the size and alignment of its type. */
#define CUSHIM_PARAMS_ADD(params, value) cushim_params_add_value((params), (value))
template <typename Value>
inline CUresult cushim_params_add_value(struct cushim_params *params, Value value)
{
    return cushim_params_add_known_(params, cushim_detail::value<Value>::address(value),
                                    sizeof(Value), CUSHIM_ALIGNOF_(Value));
}

#else /* C */

/**
 * Launch a kernel with its arguments by value, each of the type that the kernel has: 1 is an int
 * and 1.0 a double, 'c' an int; arrays and functions decay to pointers.
 *
 *     CUSHIM_LAUNCH(cu, function, &launch, n, (char)'c', buffer)
 *
 * As cushim_launch_kernel with sizes. Every argument is evaluated once; at most 32 of them; copies
 * and pointers lie on the stack. Compilers without `__typeof__` take only arguments that have an
 * address (variables), which are then not copied.
 */
#define CUSHIM_LAUNCH(cu, function, ...)                                                           \
    cushim_launch_typed_(                                                                          \
        (cu), (function), CUSHIM_FIRST_(__VA_ARGS__, 0),                                           \
        (void *[]){CUSHIM_EACH_(CUSHIM_COUNT_(__VA_ARGS__), CUSHIM_POINTER_, __VA_ARGS__) NULL},   \
        (const size_t[]){CUSHIM_EACH_(CUSHIM_COUNT_(__VA_ARGS__), CUSHIM_SIZE_, __VA_ARGS__) 0},   \
        CUSHIM_COUNT_(__VA_ARGS__) - 1)

#if defined(__GNUC__) || (defined(_MSC_VER) && _MSC_VER >= 1939) ||                                \
    (defined(__STDC_VERSION__) && __STDC_VERSION__ >= 202311L)
#if defined(__GNUC__)
#define CUSHIM_TYPEOF_ __typeof__
#elif defined(_MSC_VER)
#define CUSHIM_TYPEOF_ __typeof__
#define CUSHIM_ALIGNOF_ __alignof
#else
#define CUSHIM_TYPEOF_ typeof
#define CUSHIM_ALIGNOF_ alignof
#endif
/* The comma makes a value of it: arrays become pointers. One element, because braces around a
 * structure would fill its first member. */
#define CUSHIM_TYPE_(value) CUSHIM_TYPEOF_(((void)0, (value)))
#define CUSHIM_COPY_(value) ((CUSHIM_TYPE_(value)[1]){(value)})
#define CUSHIM_POINTER_(value) (void *)CUSHIM_COPY_(value),
#define CUSHIM_SIZE_(value) sizeof(CUSHIM_TYPE_(value)),
/** Append a value to packed parameters, with the size and alignment of its type. */
#define CUSHIM_PARAMS_ADD(params, value)                                                           \
    cushim_params_add_known_((params), CUSHIM_COPY_(value), sizeof(CUSHIM_TYPE_(value)),           \
                             CUSHIM_ALIGNOF_(CUSHIM_TYPE_(value)))
#else
#define CUSHIM_POINTER_(value) (void *)&(value),
#define CUSHIM_SIZE_(value) sizeof(value),
#endif

/* Number of arguments of a list that is not empty, and a macro for each of it but the first. */
#define CUSHIM_FIRST_(first, ...) first
#define CUSHIM_COUNT_(...)                                                                         \
    CUSHIM_NTH_(__VA_ARGS__, 33, 32, 31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18, 17,   \
                16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)
#define CUSHIM_NTH_(a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17,    \
                    a18, a19, a20, a21, a22, a23, a24, a25, a26, a27, a28, a29, a30, a31, a32,     \
                    a33, n, ...)                                                                   \
    n
#define CUSHIM_EACH_(count, m, ...) CUSHIM_EACH_AGAIN_(count, m, __VA_ARGS__)
#define CUSHIM_EACH_AGAIN_(count, m, ...) CUSHIM_EACH_##count##_(m, __VA_ARGS__)
#define CUSHIM_EACH_1_(m, f)
#define CUSHIM_EACH_2_(m, f, a) m(a)
#define CUSHIM_EACH_3_(m, f, a, ...) m(a) CUSHIM_EACH_2_(m, f, __VA_ARGS__)
#define CUSHIM_EACH_4_(m, f, a, ...) m(a) CUSHIM_EACH_3_(m, f, __VA_ARGS__)
#define CUSHIM_EACH_5_(m, f, a, ...) m(a) CUSHIM_EACH_4_(m, f, __VA_ARGS__)
#define CUSHIM_EACH_6_(m, f, a, ...) m(a) CUSHIM_EACH_5_(m, f, __VA_ARGS__)
#define CUSHIM_EACH_7_(m, f, a, ...) m(a) CUSHIM_EACH_6_(m, f, __VA_ARGS__)
#define CUSHIM_EACH_8_(m, f, a, ...) m(a) CUSHIM_EACH_7_(m, f, __VA_ARGS__)
#define CUSHIM_EACH_9_(m, f, a, ...) m(a) CUSHIM_EACH_8_(m, f, __VA_ARGS__)
#define CUSHIM_EACH_10_(m, f, a, ...) m(a) CUSHIM_EACH_9_(m, f, __VA_ARGS__)
#define CUSHIM_EACH_11_(m, f, a, ...) m(a) CUSHIM_EACH_10_(m, f, __VA_ARGS__)
#define CUSHIM_EACH_12_(m, f, a, ...) m(a) CUSHIM_EACH_11_(m, f, __VA_ARGS__)
#define CUSHIM_EACH_13_(m, f, a, ...) m(a) CUSHIM_EACH_12_(m, f, __VA_ARGS__)
#define CUSHIM_EACH_14_(m, f, a, ...) m(a) CUSHIM_EACH_13_(m, f, __VA_ARGS__)
#define CUSHIM_EACH_15_(m, f, a, ...) m(a) CUSHIM_EACH_14_(m, f, __VA_ARGS__)
#define CUSHIM_EACH_16_(m, f, a, ...) m(a) CUSHIM_EACH_15_(m, f, __VA_ARGS__)
#define CUSHIM_EACH_17_(m, f, a, ...) m(a) CUSHIM_EACH_16_(m, f, __VA_ARGS__)
#define CUSHIM_EACH_18_(m, f, a, ...) m(a) CUSHIM_EACH_17_(m, f, __VA_ARGS__)
#define CUSHIM_EACH_19_(m, f, a, ...) m(a) CUSHIM_EACH_18_(m, f, __VA_ARGS__)
#define CUSHIM_EACH_20_(m, f, a, ...) m(a) CUSHIM_EACH_19_(m, f, __VA_ARGS__)
#define CUSHIM_EACH_21_(m, f, a, ...) m(a) CUSHIM_EACH_20_(m, f, __VA_ARGS__)
#define CUSHIM_EACH_22_(m, f, a, ...) m(a) CUSHIM_EACH_21_(m, f, __VA_ARGS__)
#define CUSHIM_EACH_23_(m, f, a, ...) m(a) CUSHIM_EACH_22_(m, f, __VA_ARGS__)
#define CUSHIM_EACH_24_(m, f, a, ...) m(a) CUSHIM_EACH_23_(m, f, __VA_ARGS__)
#define CUSHIM_EACH_25_(m, f, a, ...) m(a) CUSHIM_EACH_24_(m, f, __VA_ARGS__)
#define CUSHIM_EACH_26_(m, f, a, ...) m(a) CUSHIM_EACH_25_(m, f, __VA_ARGS__)
#define CUSHIM_EACH_27_(m, f, a, ...) m(a) CUSHIM_EACH_26_(m, f, __VA_ARGS__)
#define CUSHIM_EACH_28_(m, f, a, ...) m(a) CUSHIM_EACH_27_(m, f, __VA_ARGS__)
#define CUSHIM_EACH_29_(m, f, a, ...) m(a) CUSHIM_EACH_28_(m, f, __VA_ARGS__)
#define CUSHIM_EACH_30_(m, f, a, ...) m(a) CUSHIM_EACH_29_(m, f, __VA_ARGS__)
#define CUSHIM_EACH_31_(m, f, a, ...) m(a) CUSHIM_EACH_30_(m, f, __VA_ARGS__)
#define CUSHIM_EACH_32_(m, f, a, ...) m(a) CUSHIM_EACH_31_(m, f, __VA_ARGS__)
#define CUSHIM_EACH_33_(m, f, a, ...) m(a) CUSHIM_EACH_32_(m, f, __VA_ARGS__)

#endif /* C */

#endif
