/* SPDX-License-Identifier: MIT */
/* float to integers, rounded in four ways; out of range and NaN too. */

KERNEL(cvt_f32_int)
{
    ELEMENT
    const float a = FLOAT(0);
    PUT(ASM1("cvt.rni.s32.f32", u32, "r", "f", a));
    PUT(ASM1("cvt.rzi.s32.f32", u32, "r", "f", a));
    PUT(ASM1("cvt.rmi.s32.f32", u32, "r", "f", a));
    PUT(ASM1("cvt.rpi.s32.f32", u32, "r", "f", a));
    PUT(ASM1("cvt.rni.u32.f32", u32, "r", "f", a));
    PUT(ASM1("cvt.rzi.u32.f32", u32, "r", "f", a));
    PUT(ASM1("cvt.rmi.u32.f32", u32, "r", "f", a));
    PUT(ASM1("cvt.rpi.u32.f32", u32, "r", "f", a));
    PUT64(ASM1("cvt.rni.s64.f32", u64, "l", "f", a));
    PUT64(ASM1("cvt.rzi.s64.f32", u64, "l", "f", a));
    PUT64(ASM1("cvt.rmi.s64.f32", u64, "l", "f", a));
    PUT64(ASM1("cvt.rpi.s64.f32", u64, "l", "f", a));
    PUT64(ASM1("cvt.rni.u64.f32", u64, "l", "f", a));
    PUT64(ASM1("cvt.rzi.u64.f32", u64, "l", "f", a));
    PUT64(ASM1("cvt.rmi.u64.f32", u64, "l", "f", a));
    PUT64(ASM1("cvt.rpi.u64.f32", u64, "l", "f", a));
    PUT(ASM1("cvt.rni.s16.f32", u16, "h", "f", a));
    PUT(ASM1("cvt.rzi.s16.f32", u16, "h", "f", a));
    PUT(ASM1("cvt.rzi.u16.f32", u16, "h", "f", a));
    PUT(ASM1("cvt.rmi.u16.f32", u16, "h", "f", a));
    PUT(ASM1("cvt.rmi.s8.f32", u32, "r", "f", a));
    PUT(ASM1("cvt.rpi.s8.f32", u32, "r", "f", a));
    PUT(ASM1("cvt.rpi.u8.f32", u32, "r", "f", a));
    PUT(ASM1("cvt.rni.u8.f32", u32, "r", "f", a));
    PUT(ASM1("cvt.rni.ftz.s32.f32", u32, "r", "f", a));
    PUT(ASM1("cvt.rpi.ftz.u32.f32", u32, "r", "f", a));
    PUT(ASM1("cvt.rmi.s32.f32", u32, "r", "f", a));
    PUT(ASM1("cvt.rmi.ftz.s32.f32", u32, "r", "f", a));
    PUT(ASM1("cvt.rzi.sat.s32.f32", u32, "r", "f", a));
}
