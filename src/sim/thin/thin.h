/* SPDX-License-Identifier: MIT */
/* The simulated driver as files: one engine, and for each CUDA version a thin library of the name
 * libcuda-sim-X.Y.so. A thin library exports what that version's driver exports. Each export is one
 * jump through its table, which the engine fills when the thin library is loaded. An engine holds
 * the state of one driver: it belongs to the first thin library that attaches to it, and another
 * one in the same process loads a copy. */
#ifndef CUSHIM_SIM_THIN_THIN_H
#define CUSHIM_SIM_THIN_THIN_H

#include <stddef.h>
#include <stdint.h>

#include "sim_behaviours.h"

/* What a thin library tells the engine. It stays where it is until the library is unloaded. */
struct sim_thin {
    uint64_t entries; /* SIM_ENTRIES_ID; the first member in every build */
    int version;
    void **table;                   /* SIM_ENTRY_COUNT functions, for the engine to fill */
    void *(*address)(size_t entry); /* the function that jumps through the table's slot */
};

enum sim_attached { SIM_ATTACHED, SIM_ATTACH_TAKEN, SIM_ATTACH_REFUSED };

/* What the engine exports for thin libraries. On success `*unload` is what to call at the end. */
enum sim_attached cushim_sim_attach(const struct sim_thin *thin, void (**unload)(void));
#define SIM_ATTACH "cushim_sim_attach"
/* And in the same process: for python/cushim/sim.py; and for the library cushim, whose stubs count
 * as calls and whose sentences name the fault rule: by what a thin library exports. */
size_t cushim_sim_left(char *text, size_t size);
void cushim_sim_missed(const char *symbol, CUresult result);
const char *cushim_sim_ruled(void);
void *cushim_sim_engine(const char *symbol);
typedef enum sim_attached sim_attach(const struct sim_thin *thin, void (**unload)(void));

/* --- Within a thin library --- */
extern void *sim_thin_table[SIM_ENTRY_COUNT];
extern const int sim_thin_version;
void *sim_thin_address(size_t entry);

/* The exported functions of a thin library; sim_stubs.c, which is generated, has a
 * line for each. On x86-64 and AArch64 a function is a jump, SIM_STUB_SIZE bytes after the one
 * before it: it passes on arguments that it does not know, and needs no table of addresses. */
#define SIM_STUB_SIZE 16

#if !defined(SIM_STUB_PORTABLE) && defined(__x86_64__) && defined(__LP64__)

#if defined(__CET__) && __CET__ & 1
#define SIM_STUB_LANDING "endbr64\n"
#else
#define SIM_STUB_LANDING ""
#endif
#define SIM_STUB_TYPE "@function"
#define SIM_STUB_JUMP(slot) "jmp *sim_thin_table+" slot "(%rip)\n"

#elif !defined(SIM_STUB_PORTABLE) && defined(__aarch64__) && defined(__LP64__)

#if defined(__ARM_FEATURE_BTI_DEFAULT)
#define SIM_STUB_LANDING "hint #34\n" /* bti c */
#else
#define SIM_STUB_LANDING ""
#endif
#define SIM_STUB_TYPE "%function"
#define SIM_STUB_JUMP(slot)                                                                        \
    "adrp x16, sim_thin_table+" slot "\nldr x17, [x16, #:lo12:sim_thin_table+" slot "]\nbr x17\n"

#endif

#ifdef SIM_STUB_JUMP

/* `.org` lets the assembler refuse a function that is too long, or in another order. */
#define SIM_STUBS_BEGIN                                                                            \
    __asm__(".pushsection .text.sim_stubs, \"ax\"\n.balign 16\n"                                   \
            ".globl sim_thin_stubs\n.hidden sim_thin_stubs\nsim_thin_stubs:\n.popsection\n");
#define SIM_STUB(symbol, number, parameters, names)                                                \
    __asm__(".pushsection .text.sim_stubs, \"ax\"\n.org sim_thin_stubs + 16 * " #number "\n"       \
            ".globl " #symbol "\n.type " #symbol ", " SIM_STUB_TYPE "\n" #symbol                   \
            ":\n" SIM_STUB_LANDING SIM_STUB_JUMP("8*" #number) ".size " #symbol ", . - " #symbol   \
                                                               "\n.popsection\n");
#define SIM_STUBS_END                                                                              \
    extern char sim_thin_stubs[] __attribute__((visibility("hidden")));                            \
    void *sim_thin_address(size_t entry)                                                           \
    {                                                                                              \
        return sim_thin_stubs + entry * SIM_STUB_SIZE;                                             \
    }

#else

/* In C, at two or three instructions more; the generated list has the addresses. */
#define SIM_STUBS_BEGIN
#define SIM_STUB(symbol, number, parameters, names)                                                \
    __attribute__((visibility("default"))) CUresult symbol parameters;                             \
    __attribute__((visibility("default"))) CUresult symbol parameters                              \
    {                                                                                              \
        return ((CUresult(*) parameters)(uintptr_t)sim_thin_table[number])names;                   \
    }
#define SIM_STUB_ADDRESS(symbol) (void *)(uintptr_t)symbol
#define SIM_STUBS_END                                                                              \
    void *sim_thin_address(size_t entry)                                                           \
    {                                                                                              \
        return addresses[entry];                                                                   \
    }

#endif

#endif
