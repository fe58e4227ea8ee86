/* SPDX-License-Identifier: MIT */
/* half-precision conversions. */

KERNEL(cvt_half)
{
    ELEMENT
    const u16 a = HALF(0);
    const u32 w = WORD(1);
    const u64 d = WIDE(3);
    const float f = FLOAT(3);
    const double g = DOUBLE(2);
    PUT(ASM1("cvt.rni.s8.f16", u32, "r", "h", a));
    PUT(ASM1("cvt.rzi.u8.f16", u32, "r", "h", a));
    PUT(ASM1("cvt.rni.s16.f16", u16, "h", "h", a));
    PUT(ASM1("cvt.rpi.u16.f16", u16, "h", "h", a));
    PUT(ASM1("cvt.rni.s32.f16", u32, "r", "h", a));
    PUT(ASM1("cvt.rzi.s32.f16", u32, "r", "h", a));
    PUT(ASM1("cvt.rmi.u32.f16", u32, "r", "h", a));
    PUT64(ASM1("cvt.rpi.s64.f16", u64, "l", "h", a));
    PUT64(ASM1("cvt.rzi.u64.f16", u64, "l", "h", a));
    PUT(ASM1("cvt.rn.f16.s8", u16, "h", "r", w));
    PUT(ASM1("cvt.rz.f16.u8", u16, "h", "r", w));
    PUT(ASM1("cvt.rn.f16.s16", u16, "h", "h", HALF(2)));
    PUT(ASM1("cvt.rp.f16.u16", u16, "h", "h", HALF(2)));
    PUT(ASM1("cvt.rn.f16.s32", u16, "h", "r", w));
    PUT(ASM1("cvt.rz.f16.u32", u16, "h", "r", w));
    PUT(ASM1("cvt.rm.f16.s32", u16, "h", "r", w));
    PUT(ASM1("cvt.rp.f16.u64", u16, "h", "l", d));
    PUT(ASM1("cvt.rn.f16.s64", u16, "h", "l", d));
    PUT(H1("cvt.rni.f16.f16", a));
    PUT(H1("cvt.rzi.f16.f16", a));
    PUT(H1("cvt.rmi.f16.f16", a));
    PUT(H1("cvt.rpi.f16.f16", a));
    PUT(H1("cvt.sat.f16.f16", a));
    PUT(float_bits(ASM1("cvt.f32.f16", float, "f", "h", a)));
    PUT(float_bits(ASM1("cvt.ftz.f32.f16", float, "f", "h", a)));
    PUT(float_bits(ASM1("cvt.sat.f32.f16", float, "f", "h", a)));
    PUT64(double_bits(ASM1("cvt.f64.f16", double, "d", "h", a)));
    PUT(ASM1("cvt.rn.f16.f32", u16, "h", "f", f));
    PUT(ASM1("cvt.rz.f16.f32", u16, "h", "f", f));
    PUT(ASM1("cvt.rm.f16.f32", u16, "h", "f", f));
    PUT(ASM1("cvt.rp.f16.f32", u16, "h", "f", f));
    PUT(ASM1("cvt.rn.ftz.f16.f32", u16, "h", "f", f));
    PUT(ASM1("cvt.rn.sat.f16.f32", u16, "h", "f", f));
    PUT(ASM1("cvt.rn.f16.f64", u16, "h", "d", g));
    PUT(ASM1("cvt.rz.f16.f64", u16, "h", "d", g));
}
