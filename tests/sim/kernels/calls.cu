/* SPDX-License-Identifier: MIT */
/* Functions: structures by value, results of every size, recursion, calls that diverge. */

struct pair {
    u32 first;
    double second;
    u8 tail[3];
};

struct big {
    u32 words[8];
};

static __device__ __noinline__ struct pair swap(struct pair value, u32 add)
{
    struct pair r = {(u32)value.tail[0] + add, value.second * 0.5, {1, 2, (u8)value.first}};
    return r;
}

static __device__ __noinline__ struct big spread(u32 seed, struct big before)
{
    for (u32 j = 0; j < 8; j++)
        before.words[j] = before.words[(j + 3) & 7] * 7 + seed;
    return before;
}

static __device__ __noinline__ u32 fibonacci(u32 value)
{
    return value < 2 ? value : fibonacci(value - 1) + fibonacci(value - 2);
}

static __device__ __noinline__ u32 ackermann(u32 m, u32 value)
{
    if (m == 0)
        return value + 1;
    if (value == 0)
        return ackermann(m - 1, 1);
    return ackermann(m - 1, ackermann(m, value - 1));
}

static __device__ __noinline__ s8 narrow(s8 a, u16 b)
{
    return (s8)(a * 3 + b);
}

static __device__ __noinline__ u64 wide(u64 a, float b, u8 c)
{
    return a * 3 + float_bits(b) + c;
}

static __device__ __noinline__ bool odd(u32 a);

static __device__ __noinline__ bool even(u32 a)
{
    return a == 0 || odd(a - 1);
}

static __device__ __noinline__ bool odd(u32 a)
{
    return a != 0 && even(a - 1);
}

static __device__ __noinline__ void through(u32 *result, const u32 *values, u32 count)
{
    u32 sum = 0;

    for (u32 j = 0; j < count; j++)
        sum = sum * 3 + values[j];
    *result = sum;
}

KERNEL(calls)
{
    ELEMENT
    const u32 a = WORD(0), b = WORD(1);
    struct pair p = {a, (double)b, {(u8)b, 8, 9}};
    struct big g;
    u32 values[6], result;

    p = swap(p, b);
    p = swap(p, 7);
    PUT(p.first);
    PUT64(double_bits(p.second));
    PUT(p.tail[0] + p.tail[1] * 256u + p.tail[2] * 65536u);
    for (u32 j = 0; j < 8; j++)
        g.words[j] = a + j;
    g = spread(b, g);
    PUT(g.words[0] ^ g.words[5]);
    PUT(g.words[7]);
    PUT(fibonacci(a % 11));
    PUT(ackermann(a % 3, b % 4));
    PUT((u32)narrow((s8)a, (u16)b));
    PUT64(wide(WIDE(2), 1.5f, (u8)a));
    PUT(even(a % 30) + 2u * odd(b % 21));
    for (u32 j = 0; j < 6; j++)
        values[j] = a >> j;
    through(&result, values, a % 6 + 1);
    PUT(result);
    if (a & 1)
        result = fibonacci(b & 7);
    else if (a & 2)
        result = ackermann(2, b & 3);
    PUT(result);
}
