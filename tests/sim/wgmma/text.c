/* SPDX-License-Identifier: MIT */
/* The PTX of one instruction: what it reads comes to its place, and d goes back. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static void add(char **at, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    *at += vsprintf(*at, format, arguments);
    va_end(arguments);
}

static void add_list(char **at, char name, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        add(at, "%s%%%c%u", i ? ", " : "{", name, i);
    add(at, "}");
}

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
    add(&at, "%s%d;\n@%%p1 bra FILL;\nfence.proxy.async;\nbar.sync 0;\n", head, WGMMA_SHARED);
    add(&at, "cvt.u64.u32 %%q3, %%r1;\nshr.u64 %%q3, %%q3, 4;\n");
    add(&at, "ld.global.u64 %%q4, [%%q0+%zu];\nadd.u64 %%q4, %%q4, %%q3;\n",
        offsetof(struct problem, descriptor_a));
    add(&at, "ld.global.u64 %%q5, [%%q0+%zu];\nadd.u64 %%q5, %%q5, %%q3;\n",
        offsetof(struct problem, descriptor_b));
    add(&at, "ld.global.u32 %%r6, [%%q0+%zu];\nsetp.ne.u32 %%p2, %%r6, 0;\n",
        offsetof(struct problem, add));
    add(&at, "ld.global.u32 %%r7, [%%q0+%zu];\n", offsetof(struct problem, times));
    for (unsigned i = 0; i < 4; i++)
        add(&at, "ld.global.b32 %%a%u, [%%q1+%zu];\n", i, offsetof(struct problem, a) + 512 * i);
    for (unsigned i = 0; i < count; i++)
        add(&at, "ld.global.b32 %%d%u, [%%q1+%zu];\n", i, offsetof(struct problem, d) + 512 * i);
    if (one->selectors)
        add(&at, "ld.global.b32 %%e, [%%q1+%zu];\n", offsetof(struct problem, metadata));
    add(&at,
        "AGAIN:\nwgmma.fence.sync.aligned;\n"
        "wgmma.mma_async%s.sync.aligned.m64n%uk%u.%s.%s.%s%s ",
        one->selectors ? ".sp" : "", one->n, one->k, one->d, one->a, one->b, one->rest);
    add_list(&at, 'd', count);
    add(&at, ", ");
    if (one->registers)
        add_list(&at, 'a', 4);
    else
        add(&at, "%%q4");
    add(&at, ", %%q5, ");
    if (one->selectors)
        add(&at, "%%e, %u, ", one->selector);
    add(&at, "%%p2");
    if (one->signs)
        add(&at, ", %d, %d", one->sign_a, one->sign_b);
    if (one->halves && !one->registers)
        add(&at, ", %d", one->transposed_a);
    if (one->halves)
        add(&at, ", %d", one->transposed_b);
    add(&at, ";\nwgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n"
             "sub.u32 %%r7, %%r7, 1;\nsetp.ne.u32 %%p1, %%r7, 0;\n@%%p1 bra AGAIN;\n");
    for (unsigned i = 0; i < count; i++)
        add(&at, "st.global.b32 [%%q1+%zu], %%d%u;\n", offsetof(struct problem, d) + 512 * i, i);
    add(&at, "ret;\n}\n");
    return text;
}
