/* SPDX-License-Identifier: MIT */
/* A kernel for each line of matrix.def. Each block is one warp with one problem. build.sh makes
 * matrix.ptx of this file.
 *
 * Of MMA, register r of lane l of block p is element (p registers + r) 32 + l of its array. Of
 * WMMA, the arrays hold matrices, with the strides that the caller gives. */
typedef unsigned int u32;

/* Registers of 32 or 64 bits by name, and where in the lane's array they are. */
#define LIST_1(r) "{" r "0}"
#define LIST_2(r) "{" r "0," r "1}"
#define LIST_4(r) "{" r "0," r "1," r "2," r "3}"
#define LIST_8(r) "{" r "0," r "1," r "2," r "3," r "4," r "5," r "6," r "7}"
#define LD(b, r, i, at, off) "ld.global.b" b " " r i ",[" at "+" off "];\n"
#define ST(b, r, i, at, off) "st.global.b" b " [" at "+" off "]," r i ";\n"
#define EACH32_1(X, r, at) X("32", r, "0", at, "0")
#define EACH32_2(X, r, at) EACH32_1(X, r, at) X("32", r, "1", at, "128")
#define EACH32_4(X, r, at) EACH32_2(X, r, at) X("32", r, "2", at, "256") X("32", r, "3", at, "384")
#define EACH32_8(X, r, at)                                                                         \
    EACH32_4(X, r, at)                                                                             \
    X("32", r, "4", at, "512") X("32", r, "5", at, "640") X("32", r, "6", at, "768")               \
        X("32", r, "7", at, "896")
#define EACH64_1(X, r, at) X("64", r, "0", at, "0")
#define EACH64_2(X, r, at) EACH64_1(X, r, at) X("64", r, "1", at, "256")
#define EACH64_4(X, r, at) EACH64_2(X, r, at) X("64", r, "2", at, "512") X("64", r, "3", at, "768")
#define EACH64_8(X, r, at)                                                                         \
    EACH64_4(X, r, at)                                                                             \
    X("64", r, "4", at, "1024") X("64", r, "5", at, "1280") X("64", r, "6", at, "1536")            \
        X("64", r, "7", at, "1792")
#define DOUBLE_1(op, r) op " " r "0," r "0," r "0;\n"
#define DOUBLE_2(op, r) DOUBLE_1(op, r) op " " r "1," r "1," r "1;\n"
#define DOUBLE_4(op, r) DOUBLE_2(op, r) op " " r "2," r "2," r "2;\n" op " " r "3," r "3," r "3;\n"
#define DOUBLE_8(op, r)                                                                            \
    DOUBLE_4(op, r)                                                                                \
    op " " r "4," r "4," r "4;\n" op " " r "5," r "5," r "5;\n" op " " r "6," r "6," r "6;\n"      \
       " " op " " r "7," r "7," r "7;\n"

#define WIDE_F16 32
#define WIDE_BF16 32
#define WIDE_TF32 32
#define WIDE_E4M3 32
#define WIDE_E5M2 32
#define WIDE_F32 32
#define WIDE_S8 32
#define WIDE_U8 32
#define WIDE_S4 32
#define WIDE_U4 32
#define WIDE_B1 32
#define WIDE_S32 32
#define WIDE_F64 64
#define PTX_F16 ".f16"
#define PTX_BF16 ".bf16"
#define PTX_TF32 ".tf32"
#define PTX_F32 ".f32"
#define PTX_S8 ".s8"
#define PTX_U8 ".u8"
#define PTX_S4 ".s4"
#define PTX_U4 ".u4"
#define PTX_B1 ".b1"
#define PTX_S32 ".s32"
#define PTX_F64 ".f64"
#define REG_F16 ".b32"
#define REG_F32 ".f32"
#define REG_S32 ".b32"
#define REG_F64 ".f64"
#define BITS_32 "b32"
#define BITS_64 "b64"

#define JOIN_(x, y) x##y
#define JOIN(x, y) JOIN_(x, y)
#define EACH(wide, count) JOIN(JOIN(EACH, wide), _##count)
#define AT(array, wide, count)                                                                     \
    ((char *)(array) + ((size_t)blockIdx.x * (count)*32 + threadIdx.x) * ((wide) / 8))

#define MMA(name, text, sm, m, n, k, A, B, C, D, na, nb, nc, nd)                                   \
    extern "C" __global__ void name(const u32 *a, const u32 *b, const u32 *c, u32 *d)              \
    {                                                                                              \
        asm volatile("{\n.reg ." JOIN(BITS_, WIDE_##A) " a<8>,b<8>;\n.reg " REG_##C " c<8>;\n"     \
                     ".reg " REG_##D " d<8>;\n"                                                    \
                     EACH(WIDE_##A, na)(LD, "a", "%0") EACH(WIDE_##B, nb)(LD, "b", "%1")           \
                     EACH(WIDE_##C, nc)(LD, "c", "%2")                                             \
                     text " " LIST_##nd("d") "," LIST_##na("a") "," LIST_##nb("b") ","             \
                     LIST_##nc("c") ";\n" EACH(WIDE_##D, nd)(ST, "d", "%3") "}\n"                  \
                     :                                                                             \
                     : "l"(AT(a, WIDE_##A, na)), "l"(AT(b, WIDE_##B, nb)),                         \
                       "l"(AT(c, WIDE_##C, nc)), "l"(AT(d, WIDE_##D, nd))                          \
                     : "memory");                                                                  \
    }

/* The distances of the blocks' matrices are in bytes, those of rows or columns in elements. */
#define WMMA(name, shape, mma, types, m, n, k, A, C, D, la, lb, na, nb, nc, nd, doubling)          \
    extern "C" __global__ void name(const char *a, const char *b, const char *c, char *d,          \
                                    const u32 *sizes)                                              \
    {                                                                                              \
        asm volatile("{\n.reg ." JOIN(BITS_, WIDE_##A) " a<8>,b<8>;\n.reg " REG_##C " c<8>;\n"     \
                     ".reg " REG_##D " d<8>;\n"                                                    \
                     "wmma.load.a.sync.aligned." la "." shape ".global" PTX_##A " " LIST_##na("a") \
                     ",[%0],%4;\n"                                                                 \
                     "wmma.load.b.sync.aligned." lb "." shape ".global" PTX_##A " " LIST_##nb("b") \
                     ",[%1],%5;\n"                                                                 \
                     "wmma.load.c.sync.aligned.row." shape PTX_##C " " LIST_##nc("c")              \
                     ",[%2],%6;\n"                                                                 \
                     "wmma." mma ".sync.aligned." la "." lb "." shape types " " LIST_##nd("d")     \
                     "," LIST_##na("a") "," LIST_##nb("b") "," LIST_##nc("c") ";\n"                \
                     DOUBLE_##nd(doubling, "d")                                                    \
                     "wmma.store.d.sync.aligned.col." shape ".global" PTX_##D " [%3],"             \
                     LIST_##nd("d") ",%7;\n}\n"                                                    \
                     :                                                                             \
                     : "l"(a + blockIdx.x * sizes[0]), "l"(b + blockIdx.x * sizes[1]),             \
                       "l"(c + blockIdx.x * sizes[2]), "l"(d + blockIdx.x * sizes[3]),             \
                       "r"(sizes[4]), "r"(sizes[5]), "r"(sizes[6]), "r"(sizes[7])                  \
                     : "memory");                                                                  \
    }
#include "matrix.def"
