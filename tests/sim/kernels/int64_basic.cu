/* SPDX-License-Identifier: MIT */
/* 64-bit integers. */

KERNEL(int64_basic)
{
    ELEMENT
    const u64 a = WIDE(0), b = WIDE(1), c = WIDE(2);

    PUT64(a + b);
    PUT64(a - b);
    PUT64(a * b + c);
    PUT64(L2("mul.hi.s64", a, b));
    PUT64(L2("mul.hi.u64", a, b));
    PUT64(L3("mad.lo.s64", a, b, c));
    PUT64(L3("mad.hi.s64", a, b, c));
    PUT64(L3("mad.hi.u64", a, b, c));
    PUT64(L3("sad.s64", a, b, c));
    PUT64(L3("sad.u64", a, b, c));
    PUT64(L1("abs.s64", a));
    PUT64(L1("neg.s64", a));
    PUT64(L2("min.s64", a, b));
    PUT64(L2("max.s64", a, b));
    PUT64(L2("min.u64", a, b));
    PUT64(L2("max.u64", a, b));
    PUT64(L1("not.b64", a));
    PUT64(L1("cnot.b64", a));
    PUT64((a & b) | (~a & c));
    PUT64(a ^ b);
    PUT64((s64)a < (s64)b ? a : c);
    PUT64(a * 1000003u + (b >> 13));
}
