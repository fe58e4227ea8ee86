/* SPDX-License-Identifier: MIT */
/* Variables in every space: shared (static and dynamic), constant, global with initial values and
 * addresses in them, local arrays with a changing index. */

struct record {
    char tag;
    short number;
    int values[3];
    double weight;
};

__constant__ u32 primes[8] = {2, 3, 5, 7, 11, 13, 17, 19};
__constant__ struct record records[2] = {{'a', -3, {1, 2, 3}, 0.5}, {'b', 300, {-4, 5, -6}, -2.25}};
__device__ u16 words[6] = {1, 10, 100, 1000, 10000, 65535};
__device__ float ratios[4] = {0.5f, 1.5f, -2.5f, 1e10f};
__device__ u32 counters[4];
__device__ const char text[] = "conformance";
__device__ u16 *const second_word = &words[1];
__device__ const u32 table[3][4] = {{1, 2, 3, 4}, {5, 6, 7, 8}, {9, 10, 11, 12}};

extern __shared__ u32 dynamic[];

KERNEL(spaces)
{
    __shared__ u8 bytes[64];
    __shared__ double wide[64];
    __shared__ struct record shared_record;
    u32 local[16];
    s8 small[10];
    ELEMENT
    const u32 t = threadIdx.x, a = WORD(0);

    bytes[t] = (u8)a;
    wide[t] = (double)a;
    dynamic[t] = a * 3;
    dynamic[64 + (63 - t)] = a + 1;
    if (t == 5)
        shared_record = records[blockIdx.x & 1];
    block_barrier();
    PUT(bytes[63 - t]);
    PUT64(double_bits(wide[(t * 7) & 63]));
    PUT(dynamic[(t + 1) & 63] + dynamic[64 + t]);
    PUT((u32)shared_record.tag + (u32)(shared_record.number * 2 + shared_record.values[t % 3]));
    PUT64(double_bits(shared_record.weight));
    PUT(primes[a & 7] * primes[t & 7]);
    PUT((u32)records[a & 1].values[t % 3]);
    PUT(words[a % 6] + second_word[t & 3]);
    PUT(float_bits(ratios[a & 3]));
    PUT((u32)text[a % 11]);
    PUT(table[a % 3][t & 3]);
    counters[3] = 7; /* the same from every thread */
    PUT(counters[3] + counters[1]);
    for (u32 j = 0; j < 16; j++)
        local[j] = a * (j + 1);
    for (u32 j = 0; j < 10; j++)
        small[j] = (s8)(a >> j);
    for (u32 j = 0; j < 20; j++)
        local[(a + j * 5) & 15] ^= local[(j * 3) & 15] + (u32)small[(a + j) % 10];
    PUT(local[a & 15]);
    PUT(local[(a + 7) & 15]);
}
