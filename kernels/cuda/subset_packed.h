/* SPDX-License-Identifier: MIT */
/* What code for images is made of: words of two or of four numbers, their dot products, and loads
 * and stores that tell what caches keep. */
#ifndef CUSHIM_SUBSET_PACKED_H
#define CUSHIM_SUBSET_PACKED_H

namespace cushim_
{
CUSHIM_INNER int part_u(u32 word, int at, int width)
{
    return (int)(word >> at & ((1u << width) - 1));
}

CUSHIM_INNER int part_s(u32 word, int at, int width)
{
    return (int)(word << (32 - width - at)) >> (32 - width);
}

CUSHIM_INNER int within(int x, int least, int most)
{
    return x < least ? least : x > most ? most : x;
}

CUSHIM_INNER int limit_u(int x, int width)
{
    return within(x, 0, (1 << width) - 1);
}

CUSHIM_INNER int limit_s(int x, int width)
{
    return within(x, -(1 << (width - 1)), (1 << (width - 1)) - 1);
}

CUSHIM_INNER int distance(int x, int y)
{
    return x < y ? y - x : x - y;
}

template <class T> struct same {
    typedef T type;
};
} // namespace cushim_

/* Each part x of a, and y of b, gives a part of the result, or is added to it. */
#define CUSHIM_PACKED_OF(name, width, sign, parameters, second, add, expression)                   \
    static inline __device__ unsigned name parameters                                              \
    {                                                                                              \
        unsigned result = 0;                                                                       \
        const int bits = width;                                                                    \
        for (int at = 0; at < 32; at += bits) {                                                    \
            const int x = cushim_::part_##sign(a, at, bits);                                       \
            const int y = cushim_::part_##sign(second, at, bits);                                  \
            const unsigned part = (unsigned)(expression);                                          \
            (void)y;                                                                               \
            result += (add) ? part : (part & ((1u << bits) - 1)) << at;                            \
        }                                                                                          \
        return result;                                                                             \
    }
#define CUSHIM_PACKED_BOTH(name, sign, parameters, second, add, expression)                        \
    CUSHIM_PACKED_OF(name##2, 16, sign, parameters, second, add, expression)                       \
    CUSHIM_PACKED_OF(name##4, 8, sign, parameters, second, add, expression)
#define CUSHIM_PACKED(name, sign, expression)                                                      \
    CUSHIM_PACKED_BOTH(name, sign, (unsigned a, unsigned b), b, false, expression)
#define CUSHIM_PACKED_ONE(name, sign, expression)                                                  \
    CUSHIM_PACKED_BOTH(name, sign, (unsigned a), a, false, expression)
#define CUSHIM_PACKED_SUM(name, sign, expression)                                                  \
    CUSHIM_PACKED_BOTH(name, sign, (unsigned a, unsigned b), b, true, expression)
/* All ones or 0, and 1 or 0. */
#define CUSHIM_PACKED_COMPARE(name, sign, operation)                                               \
    CUSHIM_PACKED(__vcmp##name, sign, -(int)(x operation y))                                       \
    CUSHIM_PACKED(__vset##name, sign, x operation y)

CUSHIM_PACKED(__vadd, u, x + y)
CUSHIM_PACKED(__vsub, u, x - y)
CUSHIM_PACKED(__vaddus, u, cushim_::limit_u(x + y, bits))
CUSHIM_PACKED(__vsubus, u, cushim_::limit_u(x - y, bits))
CUSHIM_PACKED(__vaddss, s, cushim_::limit_s(x + y, bits))
CUSHIM_PACKED(__vsubss, s, cushim_::limit_s(x - y, bits))
CUSHIM_PACKED(__vabsdiffu, u, cushim_::distance(x, y))
CUSHIM_PACKED(__vabsdiffs, s, cushim_::distance(x, y))
CUSHIM_PACKED(__vavgu, u, (x + y + 1) >> 1)
CUSHIM_PACKED(__vavgs, s, (x + y + (x + y >= 0)) >> 1) /* halves away from zero */
CUSHIM_PACKED(__vhaddu, u, (x + y) >> 1)
CUSHIM_PACKED(__vminu, u, y < x ? y : x)
CUSHIM_PACKED(__vmaxu, u, x < y ? y : x)
CUSHIM_PACKED(__vmins, s, y < x ? y : x)
CUSHIM_PACKED(__vmaxs, s, x < y ? y : x)
CUSHIM_PACKED_ONE(__vneg, s, -x)
CUSHIM_PACKED_ONE(__vnegss, s, cushim_::limit_s(-x, bits))
CUSHIM_PACKED_ONE(__vabs, s, cushim_::distance(x, 0))
CUSHIM_PACKED_ONE(__vabsss, s, cushim_::limit_s(cushim_::distance(x, 0), bits))
CUSHIM_PACKED_SUM(__vsadu, u, cushim_::distance(x, y))
CUSHIM_PACKED_SUM(__vsads, s, cushim_::distance(x, y))
CUSHIM_PACKED_COMPARE(eq, u, ==)
CUSHIM_PACKED_COMPARE(ne, u, !=)
CUSHIM_PACKED_COMPARE(ltu, u, <)
CUSHIM_PACKED_COMPARE(leu, u, <=)
CUSHIM_PACKED_COMPARE(gtu, u, >)
CUSHIM_PACKED_COMPARE(geu, u, >=)
CUSHIM_PACKED_COMPARE(lts, s, <)
CUSHIM_PACKED_COMPARE(les, s, <=)
CUSHIM_PACKED_COMPARE(gts, s, >)
CUSHIM_PACKED_COMPARE(ges, s, >=)

/* From sm_61 on. */
#define CUSHIM_DOT(name, T, Pairs, Bytes, instruction)                                             \
    static inline __device__ T name(T a, T b, T sum)                                               \
    {                                                                                              \
        T result;                                                                                  \
        asm(instruction " %0, %1, %2, %3;" : "=r"(result) : "r"(a), "r"(b), "r"(sum));             \
        return result;                                                                             \
    }                                                                                              \
    static inline __device__ T name(Pairs a, Bytes b, T sum)                                       \
    {                                                                                              \
        return name(__builtin_bit_cast(T, a), __builtin_bit_cast(T, b), sum);                      \
    }
CUSHIM_DOT(__dp4a, int, char4, char4, "dp4a.s32.s32")
CUSHIM_DOT(__dp4a, unsigned, uchar4, uchar4, "dp4a.u32.u32")
CUSHIM_DOT(__dp2a_lo, int, short2, char4, "dp2a.lo.s32.s32")
CUSHIM_DOT(__dp2a_lo, unsigned, ushort2, uchar4, "dp2a.lo.u32.u32")
CUSHIM_DOT(__dp2a_hi, int, short2, char4, "dp2a.hi.s32.s32")
CUSHIM_DOT(__dp2a_hi, unsigned, ushort2, uchar4, "dp2a.hi.u32.u32")

/* Of global memory. A register may be wider than what it is loaded with. */
#define CUSHIM_KNOWN_SIZE(T)                                                                       \
    static_assert(sizeof(T) == alignof(T) && sizeof(T) <= 16,                                      \
                  "it takes a number, or a vector of 2, 4, 8 or 16 bytes")
#define CUSHIM_LOAD_OF(size, instruction)                                                          \
    if (sizeof(T) == size)                                                                         \
    asm volatile(instruction " %0, [%1];" : "=l"(words[0]) : "l"(address) : "memory")
#define CUSHIM_LOAD(name, load)                                                                    \
    template <class T> static inline __device__ T name(const T *address)                           \
    {                                                                                              \
        CUSHIM_KNOWN_SIZE(T);                                                                      \
        T value;                                                                                   \
        unsigned long long words[2];                                                               \
        CUSHIM_LOAD_OF(1, load ".u8");                                                             \
        CUSHIM_LOAD_OF(2, load ".u16");                                                            \
        CUSHIM_LOAD_OF(4, load ".u32");                                                            \
        CUSHIM_LOAD_OF(8, load ".u64");                                                            \
        if (sizeof(T) == 16)                                                                       \
            asm volatile(load ".v2.u64 {%0, %1}, [%2];"                                            \
                         : "=l"(words[0]), "=l"(words[1])                                          \
                         : "l"(address)                                                            \
                         : "memory");                                                              \
        __builtin_memcpy(&value, words, sizeof value);                                             \
        return value;                                                                              \
    }
CUSHIM_LOAD(__ldca, "ld.global.ca")
CUSHIM_LOAD(__ldcg, "ld.global.cg")
CUSHIM_LOAD(__ldcs, "ld.global.cs")
CUSHIM_LOAD(__ldlu, "ld.global.lu")
CUSHIM_LOAD(__ldcv, "ld.global.cv")

#define CUSHIM_STORE_OF(size, instruction)                                                         \
    if (sizeof(T) == size)                                                                         \
    asm volatile(instruction " [%0], %1;" : : "l"(address), "l"(words[0]) : "memory")
#define CUSHIM_STORE(name, store)                                                                  \
    template <class T>                                                                             \
    static inline __device__ void name(T *address, typename cushim_::same<T>::type value)          \
    {                                                                                              \
        CUSHIM_KNOWN_SIZE(T);                                                                      \
        unsigned long long words[2] = {0, 0};                                                      \
        __builtin_memcpy(words, &value, sizeof value);                                             \
        CUSHIM_STORE_OF(1, store ".u8");                                                           \
        CUSHIM_STORE_OF(2, store ".u16");                                                          \
        CUSHIM_STORE_OF(4, store ".u32");                                                          \
        CUSHIM_STORE_OF(8, store ".u64");                                                          \
        if (sizeof(T) == 16)                                                                       \
            asm volatile(store ".v2.u64 [%0], {%1, %2};"                                           \
                         :                                                                         \
                         : "l"(address), "l"(words[0]), "l"(words[1])                              \
                         : "memory");                                                              \
    }
CUSHIM_STORE(__stwb, "st.global.wb")
CUSHIM_STORE(__stcg, "st.global.cg")
CUSHIM_STORE(__stcs, "st.global.cs")
CUSHIM_STORE(__stwt, "st.global.wt")

#endif
