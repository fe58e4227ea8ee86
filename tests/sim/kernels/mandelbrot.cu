/* SPDX-License-Identifier: MIT */
/* Escape times: a loop of another length in each lane, on float and double. */

KERNEL(mandelbrot)
{
    ELEMENT
    const float x = (float)(i % 64) * (3.0f / 64.0f) - 2.0f;
    const float y = (float)(i / 64) * (2.0f / 16.0f) - 1.0f;
    float a = 0.0f, b = 0.0f;
    double c = 0.0, d = 0.0;
    u32 count = 0;

    while (count < 500 && a * a + b * b < 4.0f) {
        const float next = a * a - b * b + x;

        b = 2.0f * a * b + y;
        a = next;
        count++;
    }
    PUT(count);
    PUT(float_bits(a));
    for (count = 0; count < 300 && c * c + d * d < 4.0; count++) {
        const double next = c * c - d * d + (double)x;

        d = (c + c) * d + (double)y;
        c = next;
    }
    PUT(count);
}
