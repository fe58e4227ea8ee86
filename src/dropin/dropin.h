/* SPDX-License-Identifier: MIT */
/*
 * The drop-in: functions of the driver's own names, each a jump through a table; dropin.c is
 * generated. The first table's slots load, and then do what the caller asked for.
 *
 * On x86-64 and AArch64 the functions are assembler: they pass on arguments that they do not know,
 * in two or three instructions, with every compiler and at every optimisation. Two have more to do,
 * and are C: cuGetErrorName and cuGetErrorString know codes that came after the driver.
 */
#ifndef CUSHIM_DROPIN_DROPIN_H
#define CUSHIM_DROPIN_DROPIN_H

#include <stdatomic.h>

#include <cushim/cushim.h>

#include "loader/stubs.h"

/* The table in use: at first one whose slots load. */
extern _Atomic(const struct cushim_api *) cushim_dropin_table;

#define CUSHIM_DROPIN_TABLE atomic_load_explicit(&cushim_dropin_table, memory_order_acquire)

/* The first table. Each of its slots calls cushim_dropin_load with its number, and then the same
 * slot of the table that this returns. */
extern const struct cushim_api cushim_dropin_first;

/* Load once, for all threads; afterwards every call goes straight to the driver. */
CUSHIM_KEPT const struct cushim_api *cushim_dropin_load(unsigned index);

/*
 * The table to use if CUSHIM_LOG asks for reports: a copy of `table` in which the slots of what is
 * unavailable are those of the first table. NULL if it does not, or for want of memory.
 */
const struct cushim_api *cushim_dropin_log_start(const struct cushim_api *table);

/* Report a call, once for each entry, if the entry is unavailable. */
void cushim_dropin_log_call(const struct cushim_api *table, unsigned index);

#ifdef __ELF__
#define CUSHIM_DROPIN_HIDDEN __attribute__((visibility("hidden")))
#else
#define CUSHIM_DROPIN_HIDDEN
#endif

#define CUSHIM_TEXT_(x) #x
#define CUSHIM_TEXT(x) CUSHIM_TEXT_(x)

#if defined(__GNUC__) && defined(__ELF__) && defined(__x86_64__) && defined(__LP64__)

#if defined(__CET__) && __CET__ & 1
#define CUSHIM_DROPIN_LANDING "endbr64\n"
#else
#define CUSHIM_DROPIN_LANDING ""
#endif
#define CUSHIM_DROPIN_ENTRY(symbol, index)                                                         \
    __asm__(".pushsection .text\n.globl " #symbol "\n.hidden " #symbol "\n"                        \
            ".type " #symbol ", @function\n" #symbol ":\n" CUSHIM_DROPIN_LANDING                   \
            "movq cushim_dropin_table(%rip), %r11\n"                                               \
            "jmp *(16 + 8 * " #index ")(%r11)\n"                                                   \
            ".size " #symbol ", . - " #symbol "\n.popsection\n");

#elif defined(__GNUC__) && defined(__ELF__) && defined(__aarch64__) && defined(__LP64__)

#if defined(__ARM_FEATURE_BTI_DEFAULT)
#define CUSHIM_DROPIN_LANDING "hint #34\n" /* bti c */
#else
#define CUSHIM_DROPIN_LANDING ""
#endif
#define CUSHIM_DROPIN_ENTRY(symbol, index)                                                         \
    __asm__(".pushsection .text\n.balign 4\n.globl " #symbol "\n.hidden " #symbol "\n"             \
            ".type " #symbol ", %function\n" #symbol ":\n" CUSHIM_DROPIN_LANDING                   \
            "adrp x16, cushim_dropin_table\n"                                                      \
            "ldr x16, [x16, #:lo12:cushim_dropin_table]\n"                                         \
            "ldr x16, [x16, #(16 + 8 * " #index ")]\nbr x16\n"                                     \
            ".size " #symbol ", . - " #symbol "\n.popsection\n");

#endif

#endif
