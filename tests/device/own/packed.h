/* SPDX-License-Identifier: MIT */
/* Functions of words that hold numbers of 16 or 8 bits, and what the host computes of each part: of
 * x and y, signed (S) or not (U); the result is cut to the part (CUT), limited to its range (LIMIT)
 * or added up (SUM). Read by the kernels and by the program. */
#ifndef TESTS_OWN_PACKED_H
#define TESTS_OWN_PACKED_H

#define PACKED_PAIRS(P)                                                                            \
    P(__vadd, U, CUT, x + y)                                                                       \
    P(__vsub, U, CUT, x - y)                                                                       \
    P(__vaddus, U, LIMIT, x + y)                                                                   \
    P(__vsubus, U, LIMIT, x - y)                                                                   \
    P(__vaddss, S, LIMIT, x + y)                                                                   \
    P(__vsubss, S, LIMIT, x - y)                                                                   \
    P(__vabsdiffu, U, CUT, abs(x - y))                                                             \
    P(__vabsdiffs, S, CUT, abs(x - y))                                                             \
    P(__vavgu, U, CUT, (int)round((x + y) / 2.0))                                                  \
    P(__vavgs, S, CUT, (int)round((x + y) / 2.0))                                                  \
    P(__vhaddu, U, CUT, (int)floor((x + y) / 2.0))                                                 \
    P(__vminu, U, CUT, (int)fmin(x, y))                                                            \
    P(__vmaxu, U, CUT, (int)fmax(x, y))                                                            \
    P(__vmins, S, CUT, (int)fmin(x, y))                                                            \
    P(__vmaxs, S, CUT, (int)fmax(x, y))                                                            \
    P(__vsadu, U, SUM, abs(x - y))                                                                 \
    P(__vsads, S, SUM, abs(x - y))                                                                 \
    P(__vcmpeq, U, CUT, x == y ? -1 : 0)                                                           \
    P(__vcmpne, U, CUT, x != y ? -1 : 0)                                                           \
    P(__vcmpltu, U, CUT, x < y ? -1 : 0)                                                           \
    P(__vcmpleu, U, CUT, x <= y ? -1 : 0)                                                          \
    P(__vcmpgtu, U, CUT, x > y ? -1 : 0)                                                           \
    P(__vcmpgeu, U, CUT, x >= y ? -1 : 0)                                                          \
    P(__vcmplts, S, CUT, x < y ? -1 : 0)                                                           \
    P(__vcmples, S, CUT, x <= y ? -1 : 0)                                                          \
    P(__vcmpgts, S, CUT, x > y ? -1 : 0)                                                           \
    P(__vcmpges, S, CUT, x >= y ? -1 : 0)                                                          \
    P(__vseteq, U, CUT, x == y)                                                                    \
    P(__vsetne, U, CUT, x != y)                                                                    \
    P(__vsetltu, U, CUT, x < y)                                                                    \
    P(__vsetleu, U, CUT, x <= y)                                                                   \
    P(__vsetgtu, U, CUT, x > y)                                                                    \
    P(__vsetgeu, U, CUT, x >= y)                                                                   \
    P(__vsetlts, S, CUT, x < y)                                                                    \
    P(__vsetles, S, CUT, x <= y)                                                                   \
    P(__vsetgts, S, CUT, x > y)                                                                    \
    P(__vsetges, S, CUT, x >= y)

/* Of one word. */
#define PACKED_ONES(P)                                                                             \
    P(__vneg, S, CUT, -x)                                                                          \
    P(__vnegss, S, LIMIT, -x)                                                                      \
    P(__vabs, S, CUT, abs(x))                                                                      \
    P(__vabsss, S, LIMIT, abs(x))

/* Dot products, added to a third number: the type of all, that of the call's words, how many bits
 * a number of the first word has, and at which number of the second word it begins. */
#define PACKED_DOTS(D)                                                                             \
    D(__dp4a, int, int, int, 8, 0)                                                                 \
    D(__dp4a, unsigned, unsigned, unsigned, 8, 0)                                                  \
    D(__dp4a, int, char4, char4, 8, 0)                                                             \
    D(__dp4a, unsigned, uchar4, uchar4, 8, 0)                                                      \
    D(__dp2a_lo, int, int, int, 16, 0)                                                             \
    D(__dp2a_lo, unsigned, unsigned, unsigned, 16, 0)                                              \
    D(__dp2a_lo, int, short2, char4, 16, 0)                                                        \
    D(__dp2a_lo, unsigned, ushort2, uchar4, 16, 0)                                                 \
    D(__dp2a_hi, int, int, int, 16, 2)                                                             \
    D(__dp2a_hi, unsigned, unsigned, unsigned, 16, 2)                                              \
    D(__dp2a_hi, int, short2, char4, 16, 2)                                                        \
    D(__dp2a_hi, unsigned, ushort2, uchar4, 16, 2)

/* What is loaded and stored, of 1, 2, 4, 8 and 16 bytes. */
#define CACHED_TYPES(T)                                                                            \
    T(signed char)                                                                                 \
    T(unsigned char)                                                                               \
    T(char2)                                                                                       \
    T(short)                                                                                       \
    T(unsigned)                                                                                    \
    T(uchar4)                                                                                      \
    T(float)                                                                                       \
    T(short2)                                                                                      \
    T(double)                                                                                      \
    T(long long)                                                                                   \
    T(short4)                                                                                      \
    T(float2)                                                                                      \
    T(float4)                                                                                      \
    T(uint4)                                                                                       \
    T(double2)                                                                                     \
    T(longlong2)

enum { LOADS = 5, LOADED = LOADS * 16 };

#endif
