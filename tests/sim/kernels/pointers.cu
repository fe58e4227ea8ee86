/* SPDX-License-Identifier: MIT */
/* Functions by address: from a table, and another one in each lane. */

struct operation {
    u32 (*run)(u32, u32);
    u32 weight;
};

static __device__ __noinline__ u32 add(u32 a, u32 b)
{
    return a + b;
}

static __device__ __noinline__ u32 multiply(u32 a, u32 b)
{
    return a * b;
}

static __device__ __noinline__ u32 mix(u32 a, u32 b)
{
    return (a ^ b) * 31 + lane();
}

static __device__ __noinline__ float scale(float value)
{
    return value * 1.5f;
}

static __device__ __noinline__ float square(float value)
{
    return value * value;
}

__device__ u32 (*table[3])(u32, u32) = {add, multiply, mix};
__device__ struct operation operations[2] = {{mix, 5}, {add, 9}};

static __device__ __noinline__ u32 fold(u32 (*function)(u32, u32), u32 value, u32 times)
{
    for (u32 j = 0; j < times; j++)
        value = function(value, j + 1);
    return value;
}

KERNEL(pointers)
{
    ELEMENT
    const u32 a = WORD(0), b = WORD(1);
    float (*convert)(float) = a & 4 ? scale : square;

    PUT(table[a % 3](a, b));
    PUT(table[blockIdx.x % 3](b, 3));
    PUT(fold(table[b % 3], a, a & 7));
    PUT(operations[a & 1].run(a, b) * operations[a & 1].weight);
    PUT(float_bits(convert((float)(a & 0xfff))));
    PUT(table[0] == add && table[1] != add);
}
