/* SPDX-License-Identifier: MIT */
/* Video instructions on two halves and on four bytes. */

/* Operands with selectors of bytes and halves go into the text. */
#define VIDEO(text)                                                                                \
    PUT(({                                                                                         \
        u32 r_;                                                                                    \
        asm(text : "=r"(r_) : "r"(a), "r"(b), "r"(c));                                             \
        r_;                                                                                        \
    }))

KERNEL(video_simd)
{
    ELEMENT
    const u32 a = WORD(0), b = WORD(1), c = WORD(2);

    VIDEO("vadd2.u32.u32.u32 %0, %1, %2, %3;");
    VIDEO("vadd2.s32.s32.s32.sat %0, %1, %2, %3;");
    VIDEO("vadd2.s32.s32.u32.add %0, %1, %2, %3;");
    VIDEO("vsub2.u32.u32.u32.sat %0, %1, %2, %3;");
    VIDEO("vsub2.s32.s32.s32 %0.h1, %1.h10, %2.h32, %3;");
    VIDEO("vavrg2.u32.u32.u32 %0, %1, %2, %3;");
    VIDEO("vavrg2.s32.s32.s32 %0, %1, %2, %3;");
    VIDEO("vabsdiff2.u32.u32.u32 %0, %1, %2, %3;");
    VIDEO("vabsdiff2.s32.s32.s32.add %0, %1, %2, %3;");
    VIDEO("vmin2.s32.s32.s32 %0, %1, %2, %3;");
    VIDEO("vmax2.u32.u32.u32 %0, %1.h13, %2, %3;");
    VIDEO("vset2.u32.u32.lt %0, %1, %2, %3;");
    VIDEO("vset2.s32.s32.ge.add %0, %1, %2, %3;");
    VIDEO("vadd4.u32.u32.u32 %0, %1, %2, %3;");
    VIDEO("vadd4.u32.u32.u32.sat %0, %1, %2, %3;");
    VIDEO("vadd4.s32.s32.s32.add %0, %1, %2, %3;");
    VIDEO("vsub4.s32.s32.s32.sat %0, %1, %2, %3;");
    VIDEO("vsub4.u32.u32.u32 %0.b20, %1.b3210, %2.b7531, %3;");
    VIDEO("vavrg4.u32.u32.u32 %0, %1, %2, %3;");
    VIDEO("vavrg4.s32.s32.s32 %0, %1, %2, %3;");
    VIDEO("vabsdiff4.u32.u32.u32.add %0, %1, %2, %3;");
    VIDEO("vabsdiff4.s32.s32.s32 %0, %1, %2, %3;");
    VIDEO("vmin4.u32.u32.u32 %0, %1, %2, %3;");
    VIDEO("vmax4.s32.s32.s32 %0, %1.b0123, %2, %3;");
    VIDEO("vset4.u32.u32.ne %0, %1, %2, %3;");
    VIDEO("vset4.s32.s32.gt.add %0, %1, %2, %3;");
}
