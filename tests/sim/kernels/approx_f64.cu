/* SPDX-License-Identifier: MIT */
/* Approximate functions of double: gross first guesses, which division and square root refine. */

KERNEL(approx_f64)
{
    ELEMENT
    const double a = DOUBLE(0);

    PUT64(D1("rcp.approx.ftz.f64", a));
    PUT64(D1("rsqrt.approx.f64", a));
    PUT64(D1("rsqrt.approx.ftz.f64", a));
}
