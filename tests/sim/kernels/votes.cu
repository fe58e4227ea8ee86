/* SPDX-License-Identifier: MIT */
/* Votes of a warp and of parts of it, and who is active. */

#define VOTE(op, mask, value)                                                                      \
    ({                                                                                             \
        u32 r_;                                                                                    \
        asm volatile("{\n\t.reg .pred p, q;\n\tsetp.ne.u32 p, %1, 0;\n\tvote.sync." op             \
                     ".pred q, p, %2;\n\tselp.u32 %0, 1, 0, q;\n\t}"                               \
                     : "=r"(r_)                                                                    \
                     : "r"((u32)(value)), "r"(mask));                                              \
        r_;                                                                                        \
    })
#define BALLOT(mask, value)                                                                        \
    ({                                                                                             \
        u32 r_;                                                                                    \
        asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.u32 p, %1, 0;\n\t"                             \
                     "vote.sync.ballot.b32 %0, p, %2;\n\t}"                                        \
                     : "=r"(r_)                                                                    \
                     : "r"((u32)(value)), "r"(mask));                                              \
        r_;                                                                                        \
    })
#define ACTIVE                                                                                     \
    ({                                                                                             \
        u32 r_;                                                                                    \
        asm volatile("activemask.b32 %0;" : "=r"(r_));                                             \
        r_;                                                                                        \
    })

KERNEL(votes)
{
    ELEMENT
    const u32 a = WORD(0), l = lane();
    u32 mask, r = 0;

    PUT(BALLOT(0xffffffff, a & 1));
    PUT(VOTE("all", 0xffffffff, l < 32) | VOTE("all", 0xffffffff, a & 1) << 1 |
        VOTE("any", 0xffffffff, l == 3) << 2 | VOTE("any", 0xffffffff, l > 40) << 3 |
        VOTE("uni", 0xffffffff, a & 1) << 4 | VOTE("uni", 0xffffffff, l == 50) << 5);
    if (l < 12) {
        r = BALLOT(0xfff, a & 2);
    } else if (l & 1) {
        mask = 0xaaaaa000;
        r = BALLOT(mask, a & 4) | VOTE("any", mask, a & 8);
    } else {
        mask = 0x55555000;
        r = VOTE("all", mask, a < 0x80000000) | VOTE("uni", mask, l & 1) << 1;
    }
    warp_barrier();
    PUT(r);
    r = 0;
    if (l % 3 == 0)
        asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.u32 p, %1, 0;\n\t"
                     "vote.sync.ballot.b32 %0, !p, %2;\n\t}"
                     : "=r"(r)
                     : "r"(a & 16), "r"(0x49249249));
    warp_barrier();
    PUT(r);
    warp_barrier();
    PUT(ACTIVE);
}
