/* SPDX-License-Identifier: MIT */
/*
 * A family of stubs: one for each of CUSHIM_STUBS_COUNT entries. A stub ignores its arguments, so
 * it needs no type: it passes its number on to the function of its family, cushim_stubs_NAME.
 *
 * On x86-64 and AArch64 the stubs are assembler, because compilers make them four times as large:
 * a few bytes a stub, no table of pointers, nothing to relocate, one unwind entry for a family.
 */
#ifndef CUSHIM_LOADER_STUB_FAMILY_H
#define CUSHIM_LOADER_STUB_FAMILY_H

#include <string.h>

#include "loader/stubs.h"

/* Any function, for its address. */
typedef void stubs_fn(void);

static inline const void *stubs_address(stubs_fn *function)
{
    const void *address;
    memcpy(&address, &function, sizeof address);
    return address;
}

#define STUBS_TEXT_(x) #x
#define STUBS_TEXT(x) STUBS_TEXT_(x)
#define COUNT STUBS_TEXT(CUSHIM_STUBS_COUNT)
#define BLOCK 16u

#define FAMILY_BEGIN(name)                                                                         \
    ".pushsection .text\n.balign 16\n"                                                             \
    ".hidden cushim_stubs_of_" #name "\n.globl cushim_stubs_of_" #name "\n"                        \
    ".type cushim_stubs_of_" #name ", %function\ncushim_stubs_of_" #name ":\n.cfi_startproc\n"
#define FAMILY_END(name)                                                                           \
    ".cfi_endproc\n.size cushim_stubs_of_" #name ", . - cushim_stubs_of_" #name "\n.popsection\n"

#if defined(__GNUC__) && defined(__ELF__) && defined(__x86_64__) && defined(__LP64__)

/* A stub is its number within a block of 16 in al and a jump to the block's end, which makes the
 * index of it. A landing pad comes first if the compiler asks for them. */
#if defined(__CET__) && __CET__ & 1
#define LANDING "endbr64\n"
#define STRIDE 8
#else
#define LANDING ""
#define STRIDE 4
#endif
#define FAMILY(name)                                                                               \
    __asm__(FAMILY_BEGIN(                                                                          \
        name) ".set cushim_block, 0\n.rept (" COUNT " + 15) / 16\n"                                \
              ".set cushim_number, 0\n.rept 16\n" LANDING                                          \
              "movb $cushim_number, %al\n.byte 0xeb, (15 - cushim_number) * " STUBS_TEXT(          \
                  STRIDE) "\n"                                                                     \
                          ".set cushim_number, cushim_number + 1\n.endr\n"                         \
                          "movzbl %al, %eax\nleal cushim_block(%rax), %edi\njmp "                  \
                          "cushim_stubs_" #name "\n"                                               \
                          ".balign 16\n.set cushim_block, cushim_block + 16\n.endr\n" FAMILY_END(  \
                              name));                                                              \
    extern const char cushim_stubs_of_##name[] __attribute__((visibility("hidden")));
#define STUB(name, i)                                                                              \
    (cushim_stubs_of_##name + (i) / BLOCK * (BLOCK * STRIDE + 16) + (i) % BLOCK * STRIDE)

#elif defined(__GNUC__) && defined(__ELF__) && defined(__aarch64__)

#if defined(__ARM_FEATURE_BTI_DEFAULT)
#define LANDING "hint #34\n" /* bti c */
#define STRIDE 12
#else
#define LANDING ""
#define STRIDE 8
#endif
#define FAMILY(name)                                                                               \
    __asm__(FAMILY_BEGIN(name) ".set cushim_number, 0\n.rept " COUNT "\n" LANDING                  \
                               "mov w16, #cushim_number\nb cushim_common_" #name "\n"              \
                               ".set cushim_number, cushim_number + 1\n.endr\n"                    \
                               "cushim_common_" #name ":\nmov w0, w16\nb cushim_stubs_" #name      \
                               "\n" FAMILY_END(name));                                             \
    extern const char cushim_stubs_of_##name[] __attribute__((visibility("hidden")));
#define STUB(name, i) (cushim_stubs_of_##name + (i)*STRIDE)

#else

/* The caller must be the one that removes arguments from the stack. */
#if defined(_WIN32) && !defined(_WIN64)
#error "cushim supports Windows on 64 bits"
#endif
#define STUB1(name, n)                                                                             \
    static CUresult CUDAAPI stub_##name##_##n(void)                                                \
    {                                                                                              \
        return cushim_stubs_##name(0x##n);                                                         \
    }
#define SIXTEEN(x, name, n)                                                                        \
    x(name, n##0) x(name, n##1) x(name, n##2) x(name, n##3) x(name, n##4) x(name, n##5)            \
        x(name, n##6) x(name, n##7) x(name, n##8) x(name, n##9) x(name, n##a) x(name, n##b)        \
            x(name, n##c) x(name, n##d) x(name, n##e) x(name, n##f)
#define STUB16(name, n) SIXTEEN(STUB1, name, n)
#define ROW1(name, n) stub_##name##_##n,
#define ROW16(name, n) SIXTEEN(ROW1, name, n)
/* A macro does not expand within itself: the outer level of sixteen is written out. */
#define STUBS256(x, name, n)                                                                       \
    x(name, n##0) x(name, n##1) x(name, n##2) x(name, n##3) x(name, n##4) x(name, n##5)            \
        x(name, n##6) x(name, n##7) x(name, n##8) x(name, n##9) x(name, n##a) x(name, n##b)        \
            x(name, n##c) x(name, n##d) x(name, n##e) x(name, n##f)
#define STUBS1024(x, name)                                                                         \
    STUBS256(x, name, 0) STUBS256(x, name, 1) STUBS256(x, name, 2) STUBS256(x, name, 3)
#define FAMILY(name)                                                                               \
    _Static_assert(CUSHIM_STUBS_COUNT <= 1024, "there are stubs for every entry");                 \
    STUBS1024(STUB16, name)                                                                        \
    static CUresult(CUDAAPI *const cushim_stubs_of_##name[])(void) = {STUBS1024(ROW16, name)};
#define STUB(name, i) stubs_address((stubs_fn *)cushim_stubs_of_##name[i])

#endif

#endif
