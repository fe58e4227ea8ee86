/* SPDX-License-Identifier: MIT */
/* What CUDA's own functions become: only those made of exact instructions, so that all bits are
 * known. */

KERNEL(library_f32)
{
    ELEMENT
    const float a = FLOAT(0), b = FLOAT(1);
    int exponent;

    PUT(float_bits(sinf(a)));
    PUT(float_bits(cosf(a)));
    PUT(float_bits(atanf(a)));
    PUT(float_bits(floorf(a) + ceilf(b)));
    PUT(float_bits(truncf(a)));
    PUT(float_bits(roundf(a)));
    PUT(float_bits(rintf(a)));
    PUT(float_bits(fmodf(a, b)));
    PUT(float_bits(frexpf(a, &exponent)));
    PUT((u32)exponent);
    PUT(float_bits(ldexpf(a, (int)(WORD(7) & 63) - 32)));
    PUT(float_bits(hypotf(a, b)));
    PUT(float_bits(logf(a)));
    PUT(float_bits(nextafterf(a, b)));
    PUT(float_bits(remainderf(a, b)));
    PUT(float_bits(fmaxf(a, b)) ^ float_bits(fminf(a, b)));
}
