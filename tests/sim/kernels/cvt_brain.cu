/* SPDX-License-Identifier: MIT */
/* bfloat16, packed and tf32 conversions of sm_80. */

KERNEL(cvt_brain)
{
    ELEMENT
    const float f = FLOAT(0), g = FLOAT(1);
    PUT(ASM1("cvt.rn.bf16.f32", u16, "h", "f", f));
    PUT(ASM1("cvt.rz.bf16.f32", u16, "h", "f", f));
    PUT(ASM1("cvt.rn.relu.bf16.f32", u16, "h", "f", f));
    PUT(ASM2("cvt.rn.bf16x2.f32", u32, "r", "f", f, "f", g));
    PUT(ASM2("cvt.rz.bf16x2.f32", u32, "r", "f", f, "f", g));
    PUT(ASM2("cvt.rn.relu.bf16x2.f32", u32, "r", "f", f, "f", g));
    PUT(ASM2("cvt.rn.f16x2.f32", u32, "r", "f", f, "f", g));
    PUT(ASM2("cvt.rz.f16x2.f32", u32, "r", "f", f, "f", g));
    PUT(ASM2("cvt.rn.relu.f16x2.f32", u32, "r", "f", f, "f", g));
    PUT(ASM1("cvt.rn.relu.f16.f32", u16, "h", "f", f));
    PUT(ASM1("cvt.rna.tf32.f32", u32, "r", "f", f));
}
