/* SPDX-License-Identifier: MIT */
/* The PTX of one instruction: what it reads comes to its place, and d goes back. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "put.h"
#include "wgmma.h"

static const char head[] =
    ".version 8.4\n.target sm_90a\n.address_size 64\n"
    ".extern .shared .align 1024 .b8 cells[];\n"
    ".visible .entry k(.param .u64 problem)\n{\n"
    ".reg .pred %p<3>;\n.reg .b32 %r<9>, %e;\n.reg .b64 %q<9>;\n.reg .b32 %a<4>;\n.reg .b32 "
    "%d<128>;\n"
    "mov.u32 %r0, %tid.x;\nmov.u32 %r1, cells;\nld.param.u64 %q0, [problem];\n"
    "shl.b32 %r2, %r0, 2;\ncvt.u64.u32 %q1, %r2;\nadd.u64 %q1, %q1, %q0;\nadd.u32 %r3, %r1, %r2;\n"
    "mov.u32 %r4, 0;\nmov.u64 %q2, %q1;\n"
    "FILL:\nld.global.u32 %r5, [%q2];\nst.shared.u32 [%r3], %r5;\nadd.u64 %q2, %q2, 512;\n"
    "add.u32 %r3, %r3, 512;\nadd.u32 %r4, %r4, 512;\nsetp.lt.u32 %p1, %r4, ";

unsigned wgmma_registers(const struct instruction *one)
{
    return one->n / (strcmp(one->d, "f16") == 0 ? 4 : 2);
}

char *wgmma_text(const struct instruction *one)
{
    const unsigned count = wgmma_registers(one);
    char *text = malloc(32768), *at = text;
    if (!text)
        abort();
    put(&at, "%s%d;\n@%%p1 bra FILL;\nfence.proxy.async;\nbar.sync 0;\n", head, WGMMA_SHARED);
    put(&at, "cvt.u64.u32 %%q3, %%r1;\nshr.u64 %%q3, %%q3, 4;\n");
    put(&at, "ld.global.u64 %%q4, [%%q0+%zu];\nadd.u64 %%q4, %%q4, %%q3;\n",
        offsetof(struct problem, descriptor_a));
    put(&at, "ld.global.u64 %%q5, [%%q0+%zu];\nadd.u64 %%q5, %%q5, %%q3;\n",
        offsetof(struct problem, descriptor_b));
    put(&at, "ld.global.u32 %%r6, [%%q0+%zu];\nsetp.ne.u32 %%p2, %%r6, 0;\n",
        offsetof(struct problem, add));
    put(&at, "ld.global.u32 %%r7, [%%q0+%zu];\n", offsetof(struct problem, times));
    for (unsigned i = 0; i < 4; i++)
        put(&at, "ld.global.b32 %%a%u, [%%q1+%zu];\n", i, offsetof(struct problem, a) + 512 * i);
    for (unsigned i = 0; i < count; i++)
        put(&at, "ld.global.b32 %%d%u, [%%q1+%zu];\n", i, offsetof(struct problem, d) + 512 * i);
    if (one->selectors)
        put(&at, "ld.global.b32 %%e, [%%q1+%zu];\n", offsetof(struct problem, metadata));
    put(&at,
        "AGAIN:\nwgmma.fence.sync.aligned;\n"
        "wgmma.mma_async%s.sync.aligned.m64n%uk%u.%s.%s.%s%s ",
        one->selectors ? ".sp" : "", one->n, one->k, one->d, one->a, one->b, one->rest);
    put_list(&at, 'd', count);
    put(&at, ", ");
    if (one->registers)
        put_list(&at, 'a', 4);
    else
        put(&at, "%%q4");
    put(&at, ", %%q5, ");
    if (one->selectors)
        put(&at, "%%e, %u, ", one->selector);
    put(&at, "%%p2");
    if (one->signs)
        put(&at, ", %d, %d", one->sign_a, one->sign_b);
    if (one->halves && !one->registers)
        put(&at, ", %d", one->transposed_a);
    if (one->halves)
        put(&at, ", %d", one->transposed_b);
    put(&at, ";\nwgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n"
             "sub.u32 %%r7, %%r7, 1;\nsetp.ne.u32 %%p1, %%r7, 0;\n@%%p1 bra AGAIN;\n");
    for (unsigned i = 0; i < count; i++)
        put(&at, "st.global.b32 [%%q1+%zu], %%d%u;\n", offsetof(struct problem, d) + 512 * i, i);
    put(&at, "ret;\n}\n");
    return text;
}
