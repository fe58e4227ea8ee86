/* SPDX-License-Identifier: MIT */
/* Texture objects without filtering: every geometry and addressing mode, floats and integers. */

/* The objects come as the last words of the input, eight of them. */
#define OBJECT(j) (in[7 * n + 2 * (j)] | (u64)in[7 * n + 2 * (j) + 1] << 32)

#define TEX(geometry, type, c, object, coordinates, ...)                                           \
    do {                                                                                           \
        type r_[4];                                                                                \
        asm volatile("tex." geometry " {%0, %1, %2, %3}, [%4, " coordinates "];"                   \
                     : "=" c(r_[0]), "=" c(r_[1]), "=" c(r_[2]), "=" c(r_[3])                      \
                     : "l"(object), __VA_ARGS__);                                                  \
        for (u32 j_ = 0; j_ < 4; j_++)                                                             \
            PUT(BITS(r_[j_]));                                                                     \
    } while (0)
#define BITS(value) bits_of(value)

static __forceinline__ __device__ u32 bits_of(float value)
{
    return float_bits(value);
}

static __forceinline__ __device__ u32 bits_of(u32 value)
{
    return value;
}

KERNEL(texture_point)
{
    ELEMENT
    /* From -1.5 to 2.5 times the size, in steps that hit texels' edges and none. */
    const float x = FLOAT(0), y = FLOAT(1), z = FLOAT(2);

    TEX("1d.v4.f32.f32", float, "f", OBJECT(0), "{%5}", "f"(x * 8.0f));
    TEX("2d.v4.f32.f32", float, "f", OBJECT(1), "{%5, %6}", "f"(x * 8.0f), "f"(y * 8.0f));
    TEX("2d.v4.f32.f32", float, "f", OBJECT(2), "{%5, %6}", "f"(x), "f"(y));
    TEX("2d.v4.u32.f32", u32, "r", OBJECT(3), "{%5, %6}", "f"(x), "f"(y));
    TEX("3d.v4.f32.f32", float, "f", OBJECT(4), "{%5, %6, %7, %7}", "f"(x), "f"(y), "f"(z));
    TEX("a2d.v4.f32.f32", float, "f", OBJECT(5), "{%5, %6, %7, %7}", "r"(WORD(4) & 7), "f"(x),
        "f"(y));
    TEX("1d.v4.s32.s32", u32, "r", OBJECT(6), "{%5}", "r"((WORD(5) & 31) - 8));
    TEX("2d.v4.u32.s32", u32, "r", OBJECT(7), "{%5, %6}", "r"((WORD(5) & 15) - 3),
        "r"((WORD(6) & 15) - 3));
}
