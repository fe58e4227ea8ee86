/* SPDX-License-Identifier: MIT */
/* The text of small kernels. Every kernel is `k(.u64 out)`, and the text of a case is its body;
 * EXEC_REGISTERS declares registers enough. */
#ifndef CUSHIM_TEST_PTX_EXEC_TEXT_H
#define CUSHIM_TEST_PTX_EXEC_TEXT_H

#define EXEC_MODULE ".version 8.0\n.target sm_90\n.address_size 64\n"
#define EXEC_REGISTERS                                                                             \
    ".reg .pred %p<16>;\n.reg .b16 %h<16>;\n.reg .b32 %r<64>;\n.reg .b64 %d<64>;\n"                \
    ".reg .f32 %f<16>;\n"
/* %d0: the output, %d1: the output at the thread's own word, %r0: the thread's number. */
#define EXEC_ENTRY                                                                                 \
    ".visible .entry k(.param .u64 out) {\n" EXEC_REGISTERS                                        \
    "ld.param.u64 %d0, [out];\ncvta.to.global.u64 %d0, %d0;\n"                                     \
    "mov.u32 %r61, %tid.x;\nmov.u32 %r62, %ntid.x;\nmov.u32 %r63, %ctaid.x;\n"                     \
    "mad.lo.u32 %r0, %r63, %r62, %r61;\nmul.wide.u32 %d1, %r0, 4;\nadd.u64 %d1, %d0, %d1;\n"
#define EXEC_BODY(text) EXEC_MODULE EXEC_ENTRY text "ret;\n}\n"

enum { EXEC_WORDS = 4096 }; /* of the output */

#endif
