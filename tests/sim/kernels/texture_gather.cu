/* SPDX-License-Identifier: MIT */
/* tld4: one component of the four texels that a linear fetch would mix; texture queries. */

/* The objects come as the last words of the input, eight of them. */
#define OBJECT(j) (in[7 * n + 2 * (j)] | (u64)in[7 * n + 2 * (j) + 1] << 32)

#define GATHER(component, object)                                                                  \
    do {                                                                                           \
        u32 r_[4];                                                                                 \
        asm volatile("tld4." component ".2d.v4.u32.f32 {%0, %1, %2, %3}, [%4, "                    \
                     "{%5, %6}];"                                                                  \
                     : "=r"(r_[0]), "=r"(r_[1]), "=r"(r_[2]), "=r"(r_[3])                          \
                     : "l"(object), "f"(x), "f"(y));                                               \
        for (u32 j_ = 0; j_ < 4; j_++)                                                             \
            PUT(r_[j_]);                                                                           \
    } while (0)

KERNEL(texture_gather)
{
    ELEMENT
    const float x = FLOAT(0), y = FLOAT(1);
    u32 width, height;

    GATHER("r", OBJECT(1));
    GATHER("g", OBJECT(1));
    GATHER("b", OBJECT(3));
    GATHER("a", OBJECT(3));
    asm volatile("txq.width.b32 %0, [%1];" : "=r"(width) : "l"(OBJECT(1)));
    asm volatile("txq.height.b32 %0, [%1];" : "=r"(height) : "l"(OBJECT(1)));
    PUT(width | height << 16);
}
