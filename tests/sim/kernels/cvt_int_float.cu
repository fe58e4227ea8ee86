/* SPDX-License-Identifier: MIT */
/* Integers to float and double, rounded in four ways. */

KERNEL(cvt_int_float)
{
    ELEMENT
    const u32 a = WORD(0);
    const u64 b = WIDE(1);
    PUT(float_bits(ASM1("cvt.rn.f32.s32", float, "f", "r", a)));
    PUT(float_bits(ASM1("cvt.rz.f32.s32", float, "f", "r", a)));
    PUT(float_bits(ASM1("cvt.rm.f32.s32", float, "f", "r", a)));
    PUT(float_bits(ASM1("cvt.rp.f32.s32", float, "f", "r", a)));
    PUT64(double_bits(ASM1("cvt.rn.f64.s32", double, "d", "r", a)));
    PUT(float_bits(ASM1("cvt.rn.f32.u32", float, "f", "r", a)));
    PUT(float_bits(ASM1("cvt.rz.f32.u32", float, "f", "r", a)));
    PUT(float_bits(ASM1("cvt.rm.f32.u32", float, "f", "r", a)));
    PUT(float_bits(ASM1("cvt.rp.f32.u32", float, "f", "r", a)));
    PUT64(double_bits(ASM1("cvt.rn.f64.u32", double, "d", "r", a)));
    PUT(float_bits(ASM1("cvt.rn.f32.s64", float, "f", "l", b)));
    PUT(float_bits(ASM1("cvt.rz.f32.s64", float, "f", "l", b)));
    PUT(float_bits(ASM1("cvt.rm.f32.s64", float, "f", "l", b)));
    PUT(float_bits(ASM1("cvt.rp.f32.s64", float, "f", "l", b)));
    PUT64(double_bits(ASM1("cvt.rn.f64.s64", double, "d", "l", b)));
    PUT64(double_bits(ASM1("cvt.rm.f64.s64", double, "d", "l", b)));
    PUT(float_bits(ASM1("cvt.rn.f32.u64", float, "f", "l", b)));
    PUT(float_bits(ASM1("cvt.rz.f32.u64", float, "f", "l", b)));
    PUT(float_bits(ASM1("cvt.rm.f32.u64", float, "f", "l", b)));
    PUT(float_bits(ASM1("cvt.rp.f32.u64", float, "f", "l", b)));
    PUT64(double_bits(ASM1("cvt.rn.f64.u64", double, "d", "l", b)));
    PUT64(double_bits(ASM1("cvt.rm.f64.u64", double, "d", "l", b)));
    PUT64(double_bits(ASM1("cvt.rz.f64.s64", double, "d", "l", b)));
    PUT64(double_bits(ASM1("cvt.rp.f64.u64", double, "d", "l", b)));
    PUT(float_bits(ASM1("cvt.rn.f32.s16", float, "f", "h", (u16)a)));
    PUT(float_bits(ASM1("cvt.rn.f32.u16", float, "f", "h", (u16)a)));
    PUT(float_bits(ASM1("cvt.rn.f32.s8", float, "f", "r", a)));
    PUT(float_bits(ASM1("cvt.rn.f32.u8", float, "f", "r", a)));
    PUT(float_bits(ASM1("cvt.rn.sat.f32.s32", float, "f", "r", a)));
    PUT64(double_bits(ASM1("cvt.rn.f64.s16", double, "d", "h", (u16)a)));
    PUT(float_bits((float)(s32)a));
    PUT(float_bits((float)b));
    PUT64(double_bits((double)a));
    PUT(float_bits((float)(s8)a) ^ float_bits((float)(u16)a));
}
