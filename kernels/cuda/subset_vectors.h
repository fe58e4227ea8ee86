/* SPDX-License-Identifier: MIT */
/* float4 and its like, with the alignment that CUDA gives them, and dim3. */
#ifndef CUSHIM_SUBSET_VECTORS_H
#define CUSHIM_SUBSET_VECTORS_H

#define CUSHIM_BOTH_SIDES static inline __host__ __device__
#define CUSHIM_VECTORS(name, T, two, four)                                                         \
    struct name##1                                                                                 \
    {                                                                                              \
        T x;                                                                                       \
    };                                                                                             \
    struct __attribute__((aligned(two))) name##2                                                   \
    {                                                                                              \
        T x, y;                                                                                    \
    };                                                                                             \
    struct name##3                                                                                 \
    {                                                                                              \
        T x, y, z;                                                                                 \
    };                                                                                             \
    struct __attribute__((aligned(four))) name##4                                                  \
    {                                                                                              \
        T x, y, z, w;                                                                              \
    };                                                                                             \
    CUSHIM_BOTH_SIDES name##1 make_##name##1(T x)                                                  \
    {                                                                                              \
        return {x};                                                                                \
    }                                                                                              \
    CUSHIM_BOTH_SIDES name##2 make_##name##2(T x, T y)                                             \
    {                                                                                              \
        return {x, y};                                                                             \
    }                                                                                              \
    CUSHIM_BOTH_SIDES name##3 make_##name##3(T x, T y, T z)                                        \
    {                                                                                              \
        return {x, y, z};                                                                          \
    }                                                                                              \
    CUSHIM_BOTH_SIDES name##4 make_##name##4(T x, T y, T z, T w)                                   \
    {                                                                                              \
        return {x, y, z, w};                                                                       \
    }
/* The name, the type of a member, and the alignment of two and of four of them. */
CUSHIM_VECTORS(char, signed char, 2, 4)
CUSHIM_VECTORS(uchar, unsigned char, 2, 4)
CUSHIM_VECTORS(short, short, 4, 8)
CUSHIM_VECTORS(ushort, unsigned short, 4, 8)
CUSHIM_VECTORS(int, int, 8, 16)
CUSHIM_VECTORS(uint, unsigned, 8, 16)
CUSHIM_VECTORS(long, long, 16, 16)
CUSHIM_VECTORS(ulong, unsigned long, 16, 16)
CUSHIM_VECTORS(longlong, long long, 16, 16)
CUSHIM_VECTORS(ulonglong, unsigned long long, 16, 16)
CUSHIM_VECTORS(float, float, 8, 16)
CUSHIM_VECTORS(double, double, 16, 16)

struct dim3 {
    unsigned x, y, z;
    __host__ __device__ constexpr dim3(unsigned width = 1, unsigned height = 1, unsigned depth = 1)
        : x(width), y(height), z(depth)
    {
    }
    __host__ __device__ constexpr dim3(uint3 size) : x(size.x), y(size.y), z(size.z)
    {
    }
    __host__ __device__ constexpr operator uint3() const
    {
        return {x, y, z};
    }
};

/* clang declares these of threadIdx and the others. */
#define CUSHIM_INDEX(name)                                                                         \
    inline __device__ __cuda_builtin_##name##_t::operator dim3() const                             \
    {                                                                                              \
        return dim3(x, y, z);                                                                      \
    }                                                                                              \
    inline __device__ __cuda_builtin_##name##_t::operator uint3() const                            \
    {                                                                                              \
        return {x, y, z};                                                                          \
    }
CUSHIM_INDEX(threadIdx)
CUSHIM_INDEX(blockIdx)
CUSHIM_INDEX(blockDim)
CUSHIM_INDEX(gridDim)

#endif
