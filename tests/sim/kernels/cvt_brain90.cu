/* SPDX-License-Identifier: MIT */
/* bfloat16 and 8-bit float conversions of sm_90. */

KERNEL(cvt_brain90)
{
    ELEMENT
    const float f = FLOAT(0);
    const u16 h = HALF(2);
    const u32 w = WORD(3);
    const u64 d = WIDE(2);
    const double g = DOUBLE(3);
    PUT(float_bits(ASM1("cvt.f32.bf16", float, "f", "h", h)));
    PUT(ASM1("cvt.rn.bf16.f16", u16, "h", "h", h));
    PUT(ASM1("cvt.rz.f16.bf16", u16, "h", "h", h));
    PUT(H1("cvt.rpi.bf16.bf16", h));
    PUT(ASM1("cvt.rni.s32.bf16", u32, "r", "h", h));
    PUT(ASM1("cvt.rzi.u64.bf16", u64, "l", "h", h));
    PUT(ASM1("cvt.rn.bf16.s32", u16, "h", "r", w));
    PUT(ASM1("cvt.rz.bf16.u64", u16, "h", "l", d));
    PUT(ASM1("cvt.rn.bf16.f64", u16, "h", "d", g));
    PUT64(double_bits(ASM1("cvt.f64.bf16", double, "d", "h", h)));
    PUT(ASM1("cvt.rn.tf32.f32", u32, "r", "f", f));
    PUT(ASM1("cvt.rz.relu.tf32.f32", u32, "r", "f", f));
    PUT(ASM2("cvt.rn.satfinite.e4m3x2.f32", u16, "h", "f", f, "f", FLOAT(1)));
    PUT(ASM2("cvt.rn.satfinite.relu.e4m3x2.f32", u16, "h", "f", f, "f", FLOAT(1)));
    PUT(ASM2("cvt.rn.satfinite.e5m2x2.f32", u16, "h", "f", f, "f", FLOAT(1)));
    PUT(ASM2("cvt.rn.satfinite.relu.e5m2x2.f32", u16, "h", "f", f, "f", FLOAT(1)));
    PUT(ASM1("cvt.rn.f16x2.e4m3x2", u32, "r", "h", h));
    PUT(ASM1("cvt.rn.f16x2.e5m2x2", u32, "r", "h", h));
    PUT(ASM1("cvt.rn.satfinite.e4m3x2.f16x2", u16, "h", "r", w));
    PUT(ASM1("cvt.rn.satfinite.e5m2x2.f16x2", u16, "h", "r", w));
}
