/* SPDX-License-Identifier: MIT */
/* printf: every conversion, by one thread, so that the order is known. */

extern "C" __device__ int printf(const char *, ...);

KERNEL(print)
{
    const u32 i = threadIdx.x;

    out[i] = in[i] ^ 1;
    if (i == 3) {
        printf("plain\n");
        printf("%d %i %u %x %X %o %c%c\n", -5, 7, 4000000000u, 0xabcd, 0xABCDu, 8, 'a', 'z');
        printf("%5d|%-5d|%05d|%+d|% d\n", 42, 42, 42, 42, 42);
        printf("%lld %llu %llx\n", -1234567890123LL, 1234567890123ULL, 0xfeedfacecafeULL);
        printf("%ld %hd\n", -99L, (short)17);
        printf("%f %.3f %10.2f|%-8.1f|%e %g %G\n", 1.5, 3.14159, -2.5, 0.25, 12345.678, 0.0001,
               1e20);
        printf("%s and %s: %10s|%-6s|%.2s\n", "one", "two", "right", "left", "cut");
        printf("100%% %a\n", 1.0);
        printf("%*d|%.*f\n", 6, 11, 2, 1.005);
        printf("inf %f nan %f\n", (double)(1e30f * 1e30f), -0.0);
        printf("%d results: %d\n", printf("nested\n"), printf("%d %d\n", 1, 2));
        printf("no newline; ");
        printf("%p\n", (void *)0x1000);
    }
}
