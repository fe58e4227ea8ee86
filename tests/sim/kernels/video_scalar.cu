/* SPDX-License-Identifier: MIT */
/* Video instructions on one value, with selectors and second operations. */

/* Operands with selectors of bytes and halves go into the text. */
#define VIDEO(text)                                                                                \
    PUT(({                                                                                         \
        u32 r_;                                                                                    \
        asm(text : "=r"(r_) : "r"(a), "r"(b), "r"(c));                                             \
        r_;                                                                                        \
    }))

KERNEL(video_scalar)
{
    ELEMENT
    const u32 a = WORD(0), b = WORD(1), c = WORD(2);

    VIDEO("vadd.s32.u32.s32 %0, %1, %2;");
    VIDEO("vadd.u32.s32.s32.sat %0, %1.b1, %2.h1;");
    VIDEO("vadd.s32.s32.s32.sat %0.h1, %1.h0, %2.b3, %3;");
    VIDEO("vadd.s32.u32.u32.add %0, %1.b0, %2.b2, %3;");
    VIDEO("vsub.s32.s32.u32 %0, %1.h1, %2;");
    VIDEO("vsub.u32.u32.u32.sat.min %0, %1.b2, %2.b1, %3;");
    VIDEO("vabsdiff.s32.s32.s32 %0, %1, %2;");
    VIDEO("vabsdiff.u32.u32.u32.add %0, %1.b3, %2.b0, %3;");
    VIDEO("vabsdiff.s32.s32.u32.sat %0.b2, %1.h0, %2.h1, %3;");
    VIDEO("vmin.s32.s32.s32 %0, %1, %2;");
    VIDEO("vmin.u32.u32.u32.max %0, %1.b1, %2.b1, %3;");
    VIDEO("vmax.s32.u32.s32 %0, %1.h0, %2.h1;");
    VIDEO("vmax.u32.u32.u32 %0.b0, %1, %2, %3;");
    VIDEO("vshl.u32.u32.u32.clamp %0, %1, %2;");
    VIDEO("vshl.s32.u32.u32.wrap.add %0, %1, %2, %3;");
    VIDEO("vshr.u32.u32.u32.wrap %0, %1, %2;");
    VIDEO("vshr.s32.s32.u32.clamp %0, %1.h1, %2.b0;");
    VIDEO("vshr.u32.u32.u32.sat.clamp %0, %1, %2;");
    VIDEO("vmad.s32.s32.s32 %0, %1.b0, %2.h1, %3;");
    VIDEO("vmad.u32.u32.u32 %0, %1.h0, %2.h1, %3;");
    VIDEO("vmad.s32.u32.s32.sat.shr7 %0, %1.h1, %2.b2, %3;");
    VIDEO("vmad.u32.u32.u32.po.shr15 %0, %1.h0, %2.h0, %3;");
    VIDEO("vmad.s32.s32.s32 %0, %1.h0, %2.h0, -%3;");
    VIDEO("vset.s32.s32.lt %0, %1, %2;");
    VIDEO("vset.u32.u32.ge.add %0, %1.b1, %2.b2, %3;");
    VIDEO("vset.s32.u32.ne %0.b1, %1.h0, %2.h0, %3;");
}
