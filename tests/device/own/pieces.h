/* SPDX-License-Identifier: MIT */
/* Expressions of a kernel, and what each is in lane 5 of a full warp. Read by pieces.cu and by
 * pieces.c. after(start, F) is what an atomic function gives, times 1000, and what it leaves. */
#ifndef TESTS_OWN_PIECES_H
#define TESTS_OWN_PIECES_H

#define ATOMIC(T, start, name, ...) after<T>(start, [](T *cell) { return name(cell, __VA_ARGS__); })
#define ALL 0xffffffff

#define PIECES_OF_INTEGERS(P)                                                                      \
    P(min(3, 4u), 3)                                                                               \
    P(max(-3, -4), -3)                                                                             \
    P(min((unsigned char)200, 3), 3)                                                               \
    P(max(3ll, 4), 4)                                                                              \
    P(8 * min(2.5f, 3), 20)                                                                        \
    P(8 * max(2.5, 3.25f), 26)                                                                     \
    P(8 * fminf(NAN, 2.0f), 16)                                                                    \
    P(abs(-7) + abs(-8ll) + labs(-9l) + llabs(-1ll), 25)                                           \
    P(4 * abs(-1.25f) + 4 * fabs(-2.5), 15)                                                        \
    P(__popc(0xf0f0u) * 100 + __popcll(~0ull), 864)                                                \
    P(__clz(1) * 100 + __clz(0), 3132)                                                             \
    P(__clzll(1) * 100 + __clzll(0), 6364)                                                         \
    P(__ffs(8) * 100 + __ffs(0), 400)                                                              \
    P(__ffsll(1ll << 40), 41)                                                                      \
    P(__brev(1u), 0x80000000ll)                                                                    \
    P(__brevll(2ull), 1ll << 62)                                                                   \
    P(__mulhi(-65536, 65536), -1)                                                                  \
    P(__umulhi(0x80000000u, 6u), 3)                                                                \
    P(__mul64hi(-(1ll << 62), 8), -2)                                                              \
    P(__umul64hi(1ull << 63, 6), 3)                                                                \
    P(__mul24(-3, 5) + __umul24(3, 5), 0)                                                          \
    P(__sad(-3, 5, 100) + __usad(3, 5, 100), 210)                                                  \
    P(__byte_perm(0x33221100, 0x77665544, 0x7410), 0x77441100)                                     \
    P(__funnelshift_l(0x80000000u, 1u, 1), 3)                                                      \
    P(__funnelshift_r(0x80000000u, 1u, 31), 3)                                                     \
    P(__float_as_int(-1.0f), (int)0xbf800000)                                                      \
    P(__float_as_uint(-1.0f), 0xbf800000ll)                                                        \
    P(8 * __int_as_float(0x3f000000) + __uint_as_float(0x40000000), 6)                             \
    P(__double_as_longlong(2.0), 1ll << 62)                                                        \
    P(__longlong_as_double(1ll << 62), 2)                                                          \
    P(__double2hiint(2.0) + __double2loint(2.0), 0x40000000)                                       \
    P(__hiloint2double(0x40000000, 0), 2)                                                          \
    P(__float2int_rn(2.5f) * 1000 + __float2int_rz(2.9f) * 100 + __float2int_ru(2.1f) * 10 +       \
          __float2int_rd(-2.1f),                                                                   \
      2227)                                                                                        \
    P(__double2ll_rd(-0x1p40 - 0.5), -(1ll << 40) - 1)                                             \
    P(__float2uint_rz(-3.0f), 0)                                                                   \
    P(__int2float_rd(0x7fffffff), 0x7fffff80)                                                      \
    P(__int2float_ru(0x7fffffff), 0x80000000ll)                                                    \
    P(__fadd_ru(1.0f, 0x1p-30f) > 1.0f, 1)                                                         \
    P(__fmaf_rd(0x1.000002p0f, 0x1.000002p0f, -1.0f) * 0x1p46f, 1 << 24)                           \
    P(__frcp_rn(4.0f) * 8 + __fsqrt_rn(9.0f) + __frsqrt_rn(0.25f) + __saturatef(7), 8)             \
    P((size_t)make_float4(1, 2, 3, 4).w + sizeof(float3) * 100 + alignof(int4) * 10000, 161204)    \
    P(dim3(7, 2).z + size.x, 33)                                                                   \
    P(__ldg(&table[2]), 30)

#define PIECES_OF_NUMBERS(P)                                                                       \
    P(ldexpf(0.75f, 4) + scalbn(1.0, 3), 20)                                                       \
    P(part(frexpf(12.0f, &whole)) * 100 + whole, 7504)                                             \
    P(modf(2.75, &real) * 100 + real, 77)                                                          \
    P(ilogbf(0x1p-140f) + logb(8.5), -137)                                                         \
    P(nextafterf(0, 1) == 0x1p-149f, 1)                                                            \
    P(lrintf(2.5f) * 100 + lround(2.5) * 10 + llrint(-3.5), 226)                                   \
    P(remquof(29.0f, 3.0f, &whole) * 100 + whole % 8, -98)                                         \
    P(isnan(NAN) + isinf(-INFINITY) * 2 + isfinite(1.0f) * 4 + signbit(-0.0) * 8, 15)              \
    P(sqrt(16) + cbrt(27) + pow(2, 10) + pow(2.0f, 3), 1039)                                       \
    P(fma(3.0f, 4.0f, 5.0f) + fmod(17, 5) + hypot(3, 4.0f), 24)                                    \
    P(std::sqrt(2.25f) * 4 + std::floor(-1.5) + std::abs(-4) + std::fmax(1.0f, 2.0f), 10)          \
    P(norm3df(2, 3, 6) + norm4df(1, 1, 1, 1) + 4 * rnorm3df(0, 0, 4), 10)                          \
    P(sizeof(sin(1.0f)) + sizeof(sin(1)) * 10 + sizeof(pow(1.0f, 2)) * 100, 884)                   \
    P(std::max(3, 4) + std::min(3.0f, 4.0f), 7)

#define PIECES_OF_ATOMICS(P)                                                                       \
    P(ATOMIC(int, 5, atomicAdd, -3), 5002)                                                         \
    P(ATOMIC(unsigned, 5, atomicAdd, 3u), 5008)                                                    \
    P(ATOMIC(unsigned long long, 5, atomicAdd, 3ull), 5008)                                        \
    P(ATOMIC(float, 5, atomicAdd, 3.0f), 5008)                                                     \
    P(ATOMIC(int, 5, atomicSub, 3), 5002)                                                          \
    P(ATOMIC(unsigned, 5, atomicSub, 3u), 5002)                                                    \
    P(ATOMIC(int, 5, atomicExch, 3), 5003)                                                         \
    P(ATOMIC(unsigned long long, 5, atomicExch, 3ull), 5003)                                       \
    P(ATOMIC(float, 5, atomicExch, 3.0f), 5003)                                                    \
    P(ATOMIC(int, 5, atomicMin, -3), 4997)                                                         \
    P(ATOMIC(unsigned, 5, atomicMin, 3u), 5003)                                                    \
    P(ATOMIC(long long, 5, atomicMin, -3ll), 4997)                                                 \
    P(ATOMIC(unsigned long long, 5, atomicMin, ~0ull), 5005)                                       \
    P(ATOMIC(int, 5, atomicMax, -3), 5005)                                                         \
    P(ATOMIC(unsigned, 5, atomicMax, 7u), 5007)                                                    \
    P(ATOMIC(long long, 5, atomicMax, -3ll), 5005)                                                 \
    P(ATOMIC(unsigned long long, 5, atomicMax, 7ull), 5007)                                        \
    P(ATOMIC(int, 5, atomicAnd, 6), 5004)                                                          \
    P(ATOMIC(unsigned, 5, atomicOr, 6u), 5007)                                                     \
    P(ATOMIC(unsigned, 5, atomicXor, 6u), 5003)                                                    \
    P(ATOMIC(unsigned long long, 5, atomicAnd, 6ull), 5004)                                        \
    P(ATOMIC(unsigned long long, 5, atomicOr, 6ull), 5007)                                         \
    P(ATOMIC(unsigned long long, 5, atomicXor, 6ull), 5003)                                        \
    P(ATOMIC(unsigned, 5, atomicInc, 5u), 5000)                                                    \
    P(ATOMIC(unsigned, 0, atomicDec, 9u), 9)                                                       \
    P(ATOMIC(int, 5, atomicCAS, 5, 7), 5007)                                                       \
    P(ATOMIC(unsigned, 5, atomicCAS, 6u, 7u), 5005)                                                \
    P(ATOMIC(unsigned long long, 5, atomicCAS, 5ull, 7ull), 5007)

#define PIECES_OF_WARPS(P)                                                                         \
    P(__shfl_sync(ALL, lane * 10, 3), 30)                                                          \
    P(__shfl_sync(ALL, lane * 10, 3, 4), 70)                                                       \
    P(__shfl_up_sync(ALL, lane, 2), 3)                                                             \
    P(__shfl_up_sync(ALL, lane, 2, 4), 5)                                                          \
    P(__shfl_down_sync(ALL, lane * 0.5, 2) * 2, 7)                                                 \
    P(__shfl_down_sync(ALL, lane, 4, 8), 5)                                                        \
    P(__shfl_xor_sync(ALL, (long long)lane << 40, 1), 4ll << 40)                                   \
    P(__shfl_xor_sync(ALL, lane * 0.5f, 16) * 2, 21)                                               \
    P(__ballot_sync(ALL, lane < 3), 7)                                                             \
    P(__any_sync(ALL, lane == 31) * 10 + __any_sync(ALL, lane == 32), 10)                          \
    P(__all_sync(ALL, lane < 32) * 10 + __all_sync(ALL, lane < 31), 10)                            \
    P(__uni_sync(ALL, lane < 32) * 10 + __uni_sync(ALL, lane < 31), 10)                            \
    P(__activemask() + 1ll, 1ll << 32)                                                             \
    P(__syncthreads_count(lane < 9), 9)                                                            \
    P(__syncthreads_and(lane < 31) + 2 * __syncthreads_or(lane < 1), 2)

#define PIECES_OF_COMPLEX(P)                                                                       \
    P(cuCabsf(make_cuComplex(3, 4)) * 10 + cuCabs(make_cuDoubleComplex(5, 12)), 63)                \
    P(cuCrealf(cuCmulf({1, 2}, {3, 4})) * 100 + cuCimagf(cuCmulf({1, 2}, {3, 4})), -490)           \
    P(cuCreal(cuCmul({1, 2}, {3, 4})) * 100 + cuCimag(cuCmul({1, 2}, {3, 4})), -490)               \
    P(100 * cuCrealf(cuCdivf({1, 2}, {0, 4})) + 1000 * cuCimagf(cuCdivf({1, 2}, {0, 4})), -200)    \
    P(100 * cuCreal(cuCdiv({6e300, 0}, {3e300, 0})) + cuCimag(cuCdiv({2, 4}, {2, 0})), 202)        \
    P(cuCimag(cuConj(cuCadd({1, 2}, cuCsub({5, 7}, {1, 3})))), -6)                                 \
    P(cuCimagf(cuConjf(cuCaddf({1, 2}, cuCsubf({5, 7}, {1, 3})))), -6)                             \
    P(cuCrealf(cuCfmaf({1, 2}, {3, 4}, {5, 6})) + cuCimag(cuCfma({1, 2}, {3, 4}, {5, 6})), 16)     \
    P(cuCrealf(cuComplexDoubleToFloat(cuComplexFloatToDouble(make_cuFloatComplex(7, 8)))), 7)

#define PIECES(P)                                                                                  \
    PIECES_OF_INTEGERS(P)                                                                          \
    PIECES_OF_NUMBERS(P)                                                                           \
    PIECES_OF_ATOMICS(P)                                                                           \
    PIECES_OF_WARPS(P)                                                                             \
    PIECES_OF_COMPLEX(P)

#endif
