/* SPDX-License-Identifier: MIT */
/* The same in double. */

KERNEL(library_f64)
{
    ELEMENT
    const double a = DOUBLE(0), b = DOUBLE(1), small = (double)(s32)WORD(6) * 1e-8;

    PUT64(double_bits(sin(small)));
    PUT64(double_bits(cos(a)));
    PUT64(double_bits(exp(small)));
    PUT64(double_bits(exp2(small)));
    PUT64(double_bits(atan(a)));
    PUT64(double_bits(floor(a)));
    PUT64(double_bits(round(a)));
    PUT64(double_bits(fmod(small * 100.0, 7.5)));
    PUT64(double_bits(erf(small)));
    PUT64(double_bits(ldexp(b, 5)));
}
