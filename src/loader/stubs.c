/* SPDX-License-Identifier: MIT */
/*
 * A stub for each entry and each reason why it is missing. A stub ignores its arguments, so it
 * needs no type: it passes its number on to the function of its family.
 *
 * On x86-64 and AArch64 the stubs are assembler, because compilers make them four times as large:
 * a few bytes a stub, no table of pointers, nothing to relocate, one unwind entry for a family.
 */
#include "loader/stubs.h"

#include "loader/error_name.h"
#include "loader/last_error.h"
#include "loader/registry.h"
#include "loader/table.h"

/* Any function, for its address. */
typedef void stubs_fn(void);

static inline const void *stubs_address(stubs_fn *function)
{
    const void *address;
    memcpy(&address, &function, sizeof address);
    return address;
}

CUresult cushim_stubs_no_driver(unsigned index)
{
    cushim_last_error_note(index, CUSHIM_STATE_NO_DRIVER);
    return index == cushim_registry_find("cuInit") ? CUDA_ERROR_NO_DEVICE
                                                   : CUDA_ERROR_NOT_INITIALIZED;
}

CUresult cushim_stubs_newer(unsigned index)
{
    cushim_last_error_note(index, CUSHIM_STATE_NEWER);
    return CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER;
}

CUresult cushim_stubs_absent(unsigned index)
{
    cushim_last_error_note(index, CUSHIM_STATE_ABSENT);
    return CUDA_ERROR_NOT_SUPPORTED;
}

#define STUBS_TEXT_(x) #x
#define STUBS_TEXT(x) STUBS_TEXT_(x)
#define COUNT STUBS_TEXT(CUSHIM_ENTRY_COUNT)
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
_Static_assert(CUSHIM_ENTRY_COUNT <= 1024, "there are stubs for every entry");
#define FAMILY(name)                                                                               \
    STUBS1024(STUB16, name)                                                                        \
    static CUresult(CUDAAPI *const cushim_stubs_of_##name[])(void) = {STUBS1024(ROW16, name)};
#define STUB(name, i) stubs_address((stubs_fn *)cushim_stubs_of_##name[i])

#endif

FAMILY(no_driver)
FAMILY(newer)
FAMILY(absent)

static CUresult CUDAAPI stubs_version(int *driverVersion)
{
    if (!driverVersion)
        return CUDA_ERROR_INVALID_VALUE;
    *driverVersion = 0;
    return CUDA_SUCCESS;
}

enum cushim_state cushim_stubs_missing(int version, size_t index)
{
    if (!version)
        return CUSHIM_STATE_NO_DRIVER;
    if (cushim_registry_is_elsewhere(index))
        return CUSHIM_STATE_PLATFORM;
    return cushim_registry_since(index) > version ? CUSHIM_STATE_NEWER : CUSHIM_STATE_ABSENT;
}

void cushim_stubs_set(struct cushim_api *table, size_t index, enum cushim_state state)
{
    cushim_table_set(table, index,
                     state == CUSHIM_STATE_NO_DRIVER ? STUB(no_driver, index)
                     : state == CUSHIM_STATE_NEWER   ? STUB(newer, index)
                                                     : STUB(absent, index));
}

static bool stubs_is_plain(const void *held, size_t index)
{
    return held == STUB(no_driver, index) || held == STUB(newer, index) ||
           held == STUB(absent, index);
}

bool cushim_stubs_is_stub(const void *held, size_t index)
{
    return !held || stubs_is_plain(held, index) ||
           held == stubs_address((stubs_fn *)stubs_version) ||
           held == stubs_address((stubs_fn *)cushim_error_name_entry) ||
           held == stubs_address((stubs_fn *)cushim_error_name_string_entry);
}

void cushim_stubs_answer(struct cushim_api *table)
{
    const struct {
        const char *symbol;
        stubs_fn *answer;
    } answers[] = {
        {"cuDriverGetVersion", (stubs_fn *)stubs_version},
        {"cuGetErrorName", (stubs_fn *)cushim_error_name_entry},
        {"cuGetErrorString", (stubs_fn *)cushim_error_name_string_entry},
    };
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
        size_t index = cushim_registry_find(answers[i].symbol);
        if (stubs_is_plain(cushim_table_slot(table, index), index))
            cushim_table_set(table, index, stubs_address(answers[i].answer));
    }
}
