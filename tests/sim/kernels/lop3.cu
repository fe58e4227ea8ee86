/* SPDX-License-Identifier: MIT */
/* Logic of three operands, with and without a predicate as its second result. */

#define LOP3(table)                                                                                \
    ({                                                                                             \
        u32 r_;                                                                                    \
        asm("lop3.b32 %0, %1, %2, %3, " #table ";" : "=r"(r_) : "r"(a), "r"(b), "r"(c));           \
        r_;                                                                                        \
    })

KERNEL(lop3)
{
    ELEMENT
    const u32 a = WORD(0), b = WORD(1), c = WORD(2);
    const u64 d = WIDE(2), e = WIDE(3);

    PUT(LOP3(0x00));
    PUT(LOP3(0x80));
    PUT(LOP3(0xfe));
    PUT(LOP3(0x96));
    PUT(LOP3(0xca));
    PUT(LOP3(0xe8));
    PUT(LOP3(0x1b));
    PUT(LOP3(0xff));
    PUT(LOP3(0x35));
    PUT((a & b) ^ (b | c) ^ ~a);
    PUT(R2("and.b32", a, b));
    PUT(R2("or.b32", a, b));
    PUT(R2("xor.b32", a, b));
    PUT64(L2("and.b64", d, e));
    PUT64(L2("or.b64", d, e));
    PUT64(L2("xor.b64", d, e));
}
