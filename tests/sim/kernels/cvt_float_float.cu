/* SPDX-License-Identifier: MIT */
/* Between float and double, and to whole numbers in the same type. */

KERNEL(cvt_float_float)
{
    ELEMENT
    const float f = FLOAT(0);
    const double d = DOUBLE(1);
    PUT(float_bits(ASM1("cvt.rn.f32.f64", float, "f", "d", d)));
    PUT(float_bits(ASM1("cvt.rz.f32.f64", float, "f", "d", d)));
    PUT(float_bits(ASM1("cvt.rm.f32.f64", float, "f", "d", d)));
    PUT(float_bits(ASM1("cvt.rp.f32.f64", float, "f", "d", d)));
    PUT(float_bits(ASM1("cvt.rn.ftz.f32.f64", float, "f", "d", d)));
    PUT(float_bits(ASM1("cvt.rn.sat.f32.f64", float, "f", "d", d)));
    PUT(float_bits(ASM1("cvt.rz.ftz.sat.f32.f64", float, "f", "d", d)));
    PUT64(double_bits(ASM1("cvt.f64.f32", double, "d", "f", f)));
    PUT64(double_bits(ASM1("cvt.ftz.f64.f32", double, "d", "f", f)));
    PUT64(double_bits(ASM1("cvt.sat.f64.f32", double, "d", "f", f)));
    PUT(F1("cvt.rni.f32.f32", f));
    PUT(F1("cvt.rzi.f32.f32", f));
    PUT(F1("cvt.rmi.f32.f32", f));
    PUT(F1("cvt.rpi.f32.f32", f));
    PUT(F1("cvt.rni.ftz.f32.f32", f));
    PUT(F1("cvt.rmi.sat.f32.f32", f));
    PUT(F1("cvt.rpi.ftz.sat.f32.f32", f));
    PUT(F1("cvt.sat.f32.f32", f));
    PUT(F1("cvt.ftz.f32.f32", f));
    PUT(F1("cvt.ftz.sat.f32.f32", f));
    PUT64(D1("cvt.rni.f64.f64", d));
    PUT64(D1("cvt.rzi.f64.f64", d));
    PUT64(D1("cvt.rmi.f64.f64", d));
    PUT64(D1("cvt.rpi.f64.f64", d));
    PUT64(D1("cvt.rmi.sat.f64.f64", d));
    PUT64(D1("cvt.sat.f64.f64", d));
}
