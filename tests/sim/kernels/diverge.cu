/* SPDX-License-Identifier: MIT */
/* Branches in branches, loops of another length in each lane, break and continue. */

static __device__ __noinline__ u32 steps(u32 value)
{
    u32 count = 0;

    while (value != 1 && count < 300) {
        value = value & 1 ? value * 3 + 1 : value / 2;
        count++;
    }
    return count;
}

KERNEL(diverge)
{
    ELEMENT
    const u32 a = WORD(0), b = WORD(1);
    u32 sum = 0, product = 1;

    PUT(steps((a & 0xffff) + 1));
    if (a & 1) {
        if (b & 1) {
            sum += 3;
            if (lane() < 9)
                sum *= a;
            else
                sum ^= b;
        } else {
            sum -= b;
        }
        product = 7;
    } else if (b % 3 == 0) {
        sum = b >> 3;
    } else {
        for (u32 j = 0; j < (a & 15); j++) {
            if (j == (b & 7))
                continue;
            if (j * j > (b & 127))
                break;
            sum += j * a;
        }
    }
    PUT(sum);
    PUT(product);
    for (u32 outer = 0; outer <= lane() % 5; outer++)
        for (u32 inner = lane() & 3; inner < 6; inner += outer + 1) {
            product = product * 31 + inner;
            if (product % 11 == 0)
                goto out;
        }
out:
    PUT(product);
    do {
        product = product * 1664525 + 1013904223;
        sum++;
    } while (product >> 28 != (lane() & 15));
    PUT(sum);
    PUT(product);
    {
        u32 low = 0, high = 1 << 20;

        while (low < high) {
            const u32 middle = (low + high) / 2;

            if ((u64)middle * middle < (a >> 4))
                low = middle + 1;
            else
                high = middle;
        }
        PUT(low);
    }
}
