/* SPDX-License-Identifier: MIT */
/* Images that fuzz_api loads: kernels with an address each, one of them slow, variables and
 * references, and texts that are refused. */
#ifndef CUSHIM_TEST_FUZZ_API_KERNELS_H
#define CUSHIM_TEST_FUZZ_API_KERNELS_H

static const char *const fuzz_kernels[] = {
    ".version 7.0\n.target sm_52\n.address_size 64\n"
    ".visible .global .align 8 .b8 data[256];\n"
    ".visible .global .attribute(.managed) .align 4 .u32 managed;\n"
    ".visible .const .align 4 .u32 counted;\n"
    ".visible .global .texref tex;\n.visible .global .surfref surf;\n"
    ".visible .entry nothing()\n{\n    ret;\n}\n"
    ".visible .entry store(.param .u64 to)\n{\n    .reg .u64 %a;\n    .reg .u32 %i;\n"
    "    ld.param.u64 %a, [to];\n    mov.u32 %i, %tid.x;\n"
    "    st.global.u32 [%a], %i;\n    ret;\n}\n"
    ".visible .entry spin(.param .u64 to)\n{\n    .reg .u64 %a;\n    .reg .u32 %i, %v;\n"
    "    .reg .pred %p;\n    ld.param.u64 %a, [to];\n    mov.u32 %i, 0;\nAGAIN:\n"
    "    ld.volatile.global.u32 %v, [%a];\n    add.u32 %i, %i, 1;\n"
    "    setp.lt.u32 %p, %i, 30000;\n    @%p bra AGAIN;\n    st.global.u32 [%a], %i;\n    ret;\n}\n"
    ".visible .entry sample(.param .u64 to, .param .u64 object)\n{\n    .reg .u64 %a, %o;\n"
    "    .reg .f32 %r, %g, %b, %c;\n    ld.param.u64 %a, [to];\n    ld.param.u64 %o, [object];\n"
    "    mov.f32 %r, 0f00000000;\n"
    "    tex.2d.v4.f32.f32 {%r, %g, %b, %c}, [tex, {%r, %r}];\n"
    "    st.global.f32 [%a], %g;\n"
    "    tex.2d.v4.f32.f32 {%r, %g, %b, %c}, [%o, {%r, %r}];\n"
    "    st.global.f32 [%a], %g;\n    ret;\n}\n",
    ".version 6.0\n.target sm_50\n.address_size 64\n"
    ".extern .func (.param .b64 result) malloc(.param .b64 size);\n"
    ".visible .entry spin()\n{\n    .reg .u64 %a;\n    .param .b64 size, got;\n"
    "    st.param.b64 [size], 16;\n    call (got), malloc, (size);\n"
    "    ld.param.b64 %a, [got];\n    st.u64 [%a], %a;\n    ret;\n}\n",
    ".version 7.0\n.target sm_52\n.address_size 64\n.visible .entry nothing()\n{\n    wrong;\n}\n",
    "",
};
enum { fuzz_kernel_count = sizeof fuzz_kernels / sizeof *fuzz_kernels };

#endif
