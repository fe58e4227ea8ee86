/* SPDX-License-Identifier: MIT */
/* Conversions as C writes them, of values in range. */

KERNEL(casts)
{
    ELEMENT
    const u32 a = WORD(0), b = WORD(1);
    const float f = (float)(s32)a * 0.001f, g = (float)(b >> 8);
    const double d = (double)(s64)WIDE(2) * 1e-6, e = (double)(b | 1);
    const s8 narrow = (s8)a;
    const u16 half = (u16)b;

    PUT((u32)(s32)f);
    PUT64((u64)(s64)f);
    PUT((u32)g);
    PUT64((u64)g);
    PUT64((u64)(s64)d);
    PUT((u32)(s32)(d * 1e-9));
    PUT((u32)(u16)(g * 0.0001f));
    PUT((u32)(s32)(s8)(f * 1e-5f));
    PUT(float_bits((float)d));
    PUT64(double_bits((double)f));
    PUT(float_bits((float)narrow * (float)half));
    PUT64(double_bits(d / e));
    PUT(float_bits(f / g));
    PUT((u32)(s32)(narrow * (s32)half));
    PUT64((u64)(s64)narrow + half);
    PUT64(double_bits((double)(s64)narrow * (double)half));
    PUT(float_bits((float)(a > b)));
    PUT((u32)(f < g) + (u32)(d != e) * 2);
}
