/* SPDX-License-Identifier: MIT */
#include "dropin.h"

#include "loader/table.h"

const struct cushim_api *cushim_dropin_load(unsigned index)
{
    const struct cushim_api *table = cushim_load(NULL), *logged = cushim_dropin_log_start(table);
    atomic_store_explicit(&cushim_dropin_table, logged ? logged : table, memory_order_release);
    if (!logged)
        return table;
    cushim_dropin_log_call(table, index);
    /* The logged table's slot of what is unavailable leads here again; cuInit's reports. */
    return index == CUSHIM_INDEX(cuInit) ? logged : table;
}

#ifdef CUSHIM_DROPIN_ENTRY

/*
 * The first table. Each of its slots puts its number into a register and jumps to what loads. That
 * keeps the caller's arguments, and then jumps to the same slot of the table that was loaded.
 */
#define SLOTS CUSHIM_TEXT(CUSHIM_ENTRY_COUNT)
#define FIRST_TABLE                                                                                \
    ".pushsection .data.rel.ro, \"aw\"\n.balign 8\n"                                               \
    ".globl cushim_dropin_first\n.hidden cushim_dropin_first\n"                                    \
    ".type cushim_dropin_first, %object\n.size cushim_dropin_first, " SLOTS " * 8 + 16\n"          \
    "cushim_dropin_first:\n.quad " SLOTS " * 8 + 16, 0\n"                                          \
    ".set cushim_number, 0\n.rept " SLOTS "\n"                                                     \
    ".quad cushim_dropin_slots + cushim_number * " CUSHIM_TEXT(                                    \
        PACE) "\n"                                                                                 \
              ".set cushim_number, cushim_number + 1\n.endr\n.popsection\n"                        \
              ".pushsection .data\n.balign 8\n.globl cushim_dropin_table\n.hidden "                \
              "cushim_dropin_table\n"                                                              \
              ".type cushim_dropin_table, %object\n.size cushim_dropin_table, 8\n"                 \
              "cushim_dropin_table: .quad cushim_dropin_first\n.popsection\n"

#if defined(__x86_64__)

#if defined(__CET__) && __CET__ & 1
#define PACE 14
#else
#define PACE 10
#endif

__asm__(FIRST_TABLE
        ".pushsection .text\n.balign 16\n.type cushim_dropin_slots, @function\n"
        "cushim_dropin_slots:\n.cfi_startproc\n"
        ".set cushim_number, 0\n.rept " SLOTS "\n" CUSHIM_DROPIN_LANDING
        "movl $cushim_number, %eax\n.byte 0xe9\n.long cushim_dropin_start - . - 4\n"
        ".set cushim_number, cushim_number + 1\n.endr\n"
        "cushim_dropin_start:\n"
        "pushq %rbp\n.cfi_def_cfa_offset 16\n.cfi_offset %rbp, -16\n"
        "movq %rsp, %rbp\n.cfi_def_cfa_register %rbp\n"
        "subq $192, %rsp\n"
        "movups %xmm0, (%rsp)\nmovups %xmm1, 16(%rsp)\nmovups %xmm2, 32(%rsp)\n"
        "movups %xmm3, 48(%rsp)\nmovups %xmm4, 64(%rsp)\nmovups %xmm5, 80(%rsp)\n"
        "movups %xmm6, 96(%rsp)\nmovups %xmm7, 112(%rsp)\n"
        "movq %rdi, 128(%rsp)\nmovq %rsi, 136(%rsp)\nmovq %rdx, 144(%rsp)\n"
        "movq %rcx, 152(%rsp)\nmovq %r8, 160(%rsp)\nmovq %r9, 168(%rsp)\nmovq %rax, 176(%rsp)\n"
        "movl %eax, %edi\ncall cushim_dropin_load\nmovq %rax, %r11\n"
        "movups (%rsp), %xmm0\nmovups 16(%rsp), %xmm1\nmovups 32(%rsp), %xmm2\n"
        "movups 48(%rsp), %xmm3\nmovups 64(%rsp), %xmm4\nmovups 80(%rsp), %xmm5\n"
        "movups 96(%rsp), %xmm6\nmovups 112(%rsp), %xmm7\n"
        "movq 128(%rsp), %rdi\nmovq 136(%rsp), %rsi\nmovq 144(%rsp), %rdx\n"
        "movq 152(%rsp), %rcx\nmovq 160(%rsp), %r8\nmovq 168(%rsp), %r9\nmovq 176(%rsp), %rax\n"
        "leave\n.cfi_def_cfa %rsp, 8\n"
        "jmp *16(%r11, %rax, 8)\n.cfi_endproc\n"
        ".size cushim_dropin_slots, . - cushim_dropin_slots\n.popsection\n");

#else /* AArch64 */

#if defined(__ARM_FEATURE_BTI_DEFAULT)
#define PACE 12
#else
#define PACE 8
#endif

__asm__(FIRST_TABLE
        ".pushsection .text\n.balign 16\n.type cushim_dropin_slots, %function\n"
        "cushim_dropin_slots:\n.cfi_startproc\n"
        ".set cushim_number, 0\n.rept " SLOTS "\n" CUSHIM_DROPIN_LANDING
        "mov w16, #cushim_number\nb cushim_dropin_start\n"
        ".set cushim_number, cushim_number + 1\n.endr\n"
        "cushim_dropin_start:\n"
        "stp x29, x30, [sp, #-224]!\n.cfi_def_cfa_offset 224\n"
        ".cfi_offset x29, -224\n.cfi_offset x30, -216\nmov x29, sp\n"
        "stp q0, q1, [sp, #16]\nstp q2, q3, [sp, #48]\nstp q4, q5, [sp, #80]\n"
        "stp q6, q7, [sp, #112]\nstp x0, x1, [sp, #144]\nstp x2, x3, [sp, #160]\n"
        "stp x4, x5, [sp, #176]\nstp x6, x7, [sp, #192]\nstp x8, x16, [sp, #208]\n"
        "mov w0, w16\nbl cushim_dropin_load\nmov x17, x0\n"
        "ldp q0, q1, [sp, #16]\nldp q2, q3, [sp, #48]\nldp q4, q5, [sp, #80]\n"
        "ldp q6, q7, [sp, #112]\nldp x0, x1, [sp, #144]\nldp x2, x3, [sp, #160]\n"
        "ldp x4, x5, [sp, #176]\nldp x6, x7, [sp, #192]\nldp x8, x16, [sp, #208]\n"
        "ldp x29, x30, [sp], #224\n.cfi_def_cfa_offset 0\n.cfi_restore x29\n.cfi_restore x30\n"
        "add x17, x17, x16, lsl #3\nldr x16, [x17, #16]\nbr x16\n.cfi_endproc\n"
        ".size cushim_dropin_slots, . - cushim_dropin_slots\n.popsection\n");

#endif

#endif
