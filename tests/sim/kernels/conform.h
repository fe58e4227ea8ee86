/* SPDX-License-Identifier: MIT */
/* What the conformance kernels share. build.py includes it first, for nvcc and for clang; clang has
 * no CUDA toolkit and gets here what it lacks.
 *
 * A kernel has n elements, one for each thread. Its input is eight words for each element, its
 * output is sections of n words: PUT writes the element's word of the next section. */
#ifndef CONFORM_H
#define CONFORM_H

#ifdef __clang__
#include <__clang_cuda_builtin_vars.h>

#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __noinline__ __attribute__((noinline))
#define __forceinline__ inline __attribute__((always_inline))
#endif

typedef signed char s8;
typedef unsigned char u8;
typedef short s16;
typedef unsigned short u16;
typedef int s32;
typedef unsigned int u32;
typedef long long s64;
typedef unsigned long long u64;

#define KERNEL(name)                                                                               \
    extern "C" __global__ void name(const u32 *__restrict__ in, u32 *__restrict__ out, u32 n)

/* Begin a kernel of one-dimensional blocks: the element's number and the next section's. */
#define ELEMENT                                                                                    \
    const u32 i = blockIdx.x * blockDim.x + threadIdx.x;                                           \
    u32 k = 0;                                                                                     \
    if (i >= n)                                                                                    \
        return;

/* Word j of the element's input (0 to 7), and double word j (0 to 3). */
#define WORD(j) in[(j)*n + i]
#define WIDE(j) (in[((j)*n + i) * 2] | (u64)in[((j)*n + i) * 2 + 1] << 32)

#define PUT(value) out[n * k++ + i] = (u32)(value)
#define PUT64(value)                                                                               \
    do {                                                                                           \
        const u64 wide_ = (u64)(value);                                                            \
        PUT(wide_);                                                                                \
        PUT(wide_ >> 32);                                                                          \
    } while (0)

/* One instruction: its text, the result's type and constraint, and the operands' constraints with
 * their values. */
#define ASM1(op, type, to, ca, a)                                                                  \
    ({                                                                                             \
        type r_;                                                                                   \
        asm(op " %0, %1;" : "=" to(r_) : ca(a));                                                   \
        r_;                                                                                        \
    })
#define ASM2(op, type, to, ca, a, cb, b)                                                           \
    ({                                                                                             \
        type r_;                                                                                   \
        asm(op " %0, %1, %2;" : "=" to(r_) : ca(a), cb(b));                                        \
        r_;                                                                                        \
    })
#define ASM3(op, type, to, ca, a, cb, b, cc, c)                                                    \
    ({                                                                                             \
        type r_;                                                                                   \
        asm(op " %0, %1, %2, %3;" : "=" to(r_) : ca(a), cb(b), cc(c));                             \
        r_;                                                                                        \
    })
/* The same for operands of one type: 32, 64 and 16 bits, float and double, as bits. */
#define R1(op, a) ASM1(op, u32, "r", "r", a)
#define R2(op, a, b) ASM2(op, u32, "r", "r", a, "r", b)
#define R3(op, a, b, c) ASM3(op, u32, "r", "r", a, "r", b, "r", c)
#define L1(op, a) ASM1(op, u64, "l", "l", a)
#define L2(op, a, b) ASM2(op, u64, "l", "l", a, "l", b)
#define L3(op, a, b, c) ASM3(op, u64, "l", "l", a, "l", b, "l", c)
#define H1(op, a) ASM1(op, u16, "h", "h", a)
#define H2(op, a, b) ASM2(op, u16, "h", "h", a, "h", b)
#define H3(op, a, b, c) ASM3(op, u16, "h", "h", a, "h", b, "h", c)
#define F1(op, a) float_bits(ASM1(op, float, "f", "f", a))
#define F2(op, a, b) float_bits(ASM2(op, float, "f", "f", a, "f", b))
#define F3(op, a, b, c) float_bits(ASM3(op, float, "f", "f", a, "f", b, "f", c))
#define D1(op, a) double_bits(ASM1(op, double, "d", "d", a))
#define D2(op, a, b) double_bits(ASM2(op, double, "d", "d", a, "d", b))
#define D3(op, a, b, c) double_bits(ASM3(op, double, "d", "d", a, "d", b, "d", c))

static __forceinline__ __device__ u32 float_bits(float value)
{
    return ASM1("mov.b32", u32, "r", "f", value);
}

static __forceinline__ __device__ float bits_float(u32 bits)
{
    return ASM1("mov.b32", float, "f", "r", bits);
}

static __forceinline__ __device__ u64 double_bits(double value)
{
    return ASM1("mov.b64", u64, "l", "d", value);
}

static __forceinline__ __device__ double bits_double(u64 bits)
{
    return ASM1("mov.b64", double, "d", "l", bits);
}

/* The float, the low half and the double of the element's input. */
#define FLOAT(j) bits_float(WORD(j))
#define HALF(j) (u16)(WORD(j))
#define DOUBLE(j) bits_double(WIDE(j))

static __forceinline__ __device__ u32 lane(void)
{
    u32 r;
    asm("mov.u32 %0, %%laneid;" : "=r"(r));
    return r;
}

static __forceinline__ __device__ void block_barrier(void)
{
    asm volatile("bar.sync 0;" ::: "memory");
}

static __forceinline__ __device__ void warp_barrier(void)
{
    asm volatile("bar.warp.sync 0xffffffff;" ::: "memory");
}

#endif
