/* SPDX-License-Identifier: MIT */
/* min, max and abs, the functions of integers, and conversions. */
#ifndef CUSHIM_SUBSET_INTEGERS_H
#define CUSHIM_SUBSET_INTEGERS_H

#define CUSHIM_LEAST(T, least, most)                                                               \
    static inline __device__ T min(T x, T y)                                                       \
    {                                                                                              \
        return least;                                                                              \
    }                                                                                              \
    static inline __device__ T max(T x, T y)                                                       \
    {                                                                                              \
        return most;                                                                               \
    }
CUSHIM_LEAST(int, y < x ? y : x, x < y ? y : x)
CUSHIM_LEAST(unsigned, y < x ? y : x, x < y ? y : x)
CUSHIM_LEAST(long, y < x ? y : x, x < y ? y : x)
CUSHIM_LEAST(unsigned long, y < x ? y : x, x < y ? y : x)
CUSHIM_LEAST(long long, y < x ? y : x, x < y ? y : x)
CUSHIM_LEAST(unsigned long long, y < x ? y : x, x < y ? y : x)
CUSHIM_LEAST(float, fminf(x, y), fmaxf(x, y))
CUSHIM_LEAST(double, fmin(x, y), fmax(x, y))

/* Of two types, in the type that x + y has. */
template <class T, class U>
static inline __device__ typename cushim_::of_sum<T, U>::type min(T x, U y)
{
    return min((decltype(x + y))x, (decltype(x + y))y);
}

template <class T, class U>
static inline __device__ typename cushim_::of_sum<T, U>::type max(T x, U y)
{
    return max((decltype(x + y))x, (decltype(x + y))y);
}

static inline __device__ int abs(int x)
{
    return x < 0 ? -x : x;
}

static inline __device__ long abs(long x)
{
    return x < 0 ? -x : x;
}

static inline __device__ long long abs(long long x)
{
    return x < 0 ? -x : x;
}

static inline __device__ float abs(float x)
{
    return fabsf(x);
}

static inline __device__ double abs(double x)
{
    return fabs(x);
}

static inline __device__ long labs(long x)
{
    return x < 0 ? -x : x;
}

static inline __device__ long long llabs(long long x)
{
    return x < 0 ? -x : x;
}

static inline __device__ int __popc(unsigned x)
{
    return __builtin_popcount(x);
}

static inline __device__ int __popcll(unsigned long long x)
{
    return __builtin_popcountll(x);
}

static inline __device__ int __clz(int x)
{
    return x ? __builtin_clz((unsigned)x) : 32;
}

static inline __device__ int __clzll(long long x)
{
    return x ? __builtin_clzll((unsigned long long)x) : 64;
}

static inline __device__ int __ffs(int x)
{
    return x ? __builtin_ctz((unsigned)x) + 1 : 0;
}

static inline __device__ int __ffsll(long long x)
{
    return x ? __builtin_ctzll((unsigned long long)x) + 1 : 0;
}

static inline __device__ unsigned __brev(unsigned x)
{
    return __builtin_bitreverse32(x);
}

static inline __device__ unsigned long long __brevll(unsigned long long x)
{
    return __builtin_bitreverse64(x);
}

static inline __device__ int __mulhi(int x, int y)
{
    return __nvvm_mulhi_i(x, y);
}

static inline __device__ unsigned __umulhi(unsigned x, unsigned y)
{
    return __nvvm_mulhi_ui(x, y);
}

static inline __device__ long long __mul64hi(long long x, long long y)
{
    return __nvvm_mulhi_ll(x, y);
}

static inline __device__ unsigned long long __umul64hi(unsigned long long x, unsigned long long y)
{
    return __nvvm_mulhi_ull(x, y);
}

static inline __device__ int __mul24(int x, int y)
{
    return __nvvm_mul24_i(x, y);
}

static inline __device__ unsigned __umul24(unsigned x, unsigned y)
{
    return __nvvm_mul24_ui(x, y);
}

static inline __device__ unsigned __sad(int x, int y, unsigned z)
{
    return __nvvm_sad_i(x, y, z);
}

static inline __device__ unsigned __usad(unsigned x, unsigned y, unsigned z)
{
    return __nvvm_sad_ui(x, y, z);
}

static inline __device__ unsigned __byte_perm(unsigned x, unsigned y, unsigned selector)
{
    return __nvvm_prmt(x, y, selector);
}

static inline __device__ unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift)
{
    return (unsigned)(((unsigned long long)high << 32 | low) << (shift & 31) >> 32);
}

static inline __device__ unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift)
{
    return (unsigned)(((unsigned long long)high << 32 | low) >> (shift & 31));
}

static inline __device__ int __float_as_int(float x)
{
    return __builtin_bit_cast(int, x);
}

static inline __device__ unsigned __float_as_uint(float x)
{
    return __builtin_bit_cast(unsigned, x);
}

static inline __device__ float __int_as_float(int x)
{
    return __builtin_bit_cast(float, x);
}

static inline __device__ float __uint_as_float(unsigned x)
{
    return __builtin_bit_cast(float, x);
}

static inline __device__ long long __double_as_longlong(double x)
{
    return __builtin_bit_cast(long long, x);
}

static inline __device__ double __longlong_as_double(long long x)
{
    return __builtin_bit_cast(double, x);
}

static inline __device__ int __double2hiint(double x)
{
    return (int)(__builtin_bit_cast(unsigned long long, x) >> 32);
}

static inline __device__ int __double2loint(double x)
{
    return (int)__builtin_bit_cast(unsigned long long, x);
}

static inline __device__ double __hiloint2double(int high, int low)
{
    return __builtin_bit_cast(double, (unsigned long long)(unsigned)high << 32 | (unsigned)low);
}

#define CUSHIM_CONVERT(mode, nvvm)                                                                 \
    CUSHIM_CONVERT_ONE(int, __float2int_##mode, float, __nvvm_f2i_##nvvm)                          \
    CUSHIM_CONVERT_ONE(unsigned, __float2uint_##mode, float, __nvvm_f2ui_##nvvm)                   \
    CUSHIM_CONVERT_ONE(long long, __float2ll_##mode, float, __nvvm_f2ll_##nvvm)                    \
    CUSHIM_CONVERT_ONE(unsigned long long, __float2ull_##mode, float, __nvvm_f2ull_##nvvm)         \
    CUSHIM_CONVERT_ONE(int, __double2int_##mode, double, __nvvm_d2i_##nvvm)                        \
    CUSHIM_CONVERT_ONE(unsigned, __double2uint_##mode, double, __nvvm_d2ui_##nvvm)                 \
    CUSHIM_CONVERT_ONE(long long, __double2ll_##mode, double, __nvvm_d2ll_##nvvm)                  \
    CUSHIM_CONVERT_ONE(unsigned long long, __double2ull_##mode, double, __nvvm_d2ull_##nvvm)       \
    CUSHIM_CONVERT_ONE(float, __double2float_##mode, double, __nvvm_d2f_##nvvm)                    \
    CUSHIM_CONVERT_ONE(float, __int2float_##mode, int, __nvvm_i2f_##nvvm)                          \
    CUSHIM_CONVERT_ONE(float, __uint2float_##mode, unsigned, __nvvm_ui2f_##nvvm)                   \
    CUSHIM_CONVERT_ONE(float, __ll2float_##mode, long long, __nvvm_ll2f_##nvvm)                    \
    CUSHIM_CONVERT_ONE(float, __ull2float_##mode, unsigned long long, __nvvm_ull2f_##nvvm)
#define CUSHIM_CONVERT_ONE(result, name, T, builtin)                                               \
    static inline __device__ result name(T x)                                                      \
    {                                                                                              \
        return builtin(x);                                                                         \
    }
CUSHIM_CONVERT(rn, rn)
CUSHIM_CONVERT(rz, rz)
CUSHIM_CONVERT(ru, rp)
CUSHIM_CONVERT(rd, rm)
CUSHIM_CONVERT_ONE(double, __int2double_rn, int, (double))
CUSHIM_CONVERT_ONE(double, __uint2double_rn, unsigned, (double))

/* A read of what no thread writes meanwhile. */
template <class T> static inline __device__ T __ldg(const T *address)
{
    return *address;
}

static inline __device__ void __trap()
{
    asm volatile("trap;");
}

static inline __device__ long long clock64()
{
    long long now;
    asm volatile("mov.u64 %0, %%clock64;" : "=l"(now));
    return now;
}

static inline __device__ long clock()
{
    int now;
    asm volatile("mov.u32 %0, %%clock;" : "=r"(now));
    return now;
}

#endif
