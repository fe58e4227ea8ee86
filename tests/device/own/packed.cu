/* SPDX-License-Identifier: MIT */
/* Each function of packed.h, of pairs of words that are numbered; and each load and store of a
 * cache's kind. */
#include "packed.h"

extern "C" __global__ void packed(const unsigned *first, const unsigned *second, unsigned *result,
                                  unsigned count)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count)
        return;
    unsigned a = first[i], b = second[i];
#define P(name, sign, kind, expression)                                                            \
    result[i] = name##2(a, b), result += count;                                                    \
    result[i] = name##4(a, b), result += count;
    PACKED_PAIRS(P)
#undef P
#define P(name, sign, kind, expression)                                                            \
    result[i] = name##2(a), result += count;                                                       \
    result[i] = name##4(a), result += count;
    PACKED_ONES(P)
#define D(name, type, one, other, bits, begin)                                                     \
    result[i] = (unsigned)name(*(one *)&a, *(other *)&b, (type)(a ^ b)), result += count;
    PACKED_DOTS(D)
}

template <class T> static __device__ void move(const char *from, char *to)
{
    const T *x = (const T *)from;
    T *y = (T *)to;
    __stwb(y, __ldca(x));
    __stcg(y + 1, __ldcg(x + 1));
    __stcs(y + 2, __ldcs(x + 2));
    __stwt(y + 3, __ldlu(x + 3));
    __stcg(y + 4, __ldcv(x + 4));
}

extern "C" __global__ void cached(const char *from, char *to)
{
#define T(type) move<type>(from, to), from += LOADED, to += LOADED;
    CACHED_TYPES(T)
}
