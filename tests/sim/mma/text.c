/* SPDX-License-Identifier: MIT */
/* The PTX of one instruction: the registers are loaded, and d goes back. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../wgmma/put.h"
#include "mma.h"

/* %q0 is the problem's address, %q1 that of the lane's first register of a. */
static void add_registers(char **at, const struct instruction *one, const char *access, int first,
                          int last)
{
    static const size_t places[] = {offsetof(struct problem, a), offsetof(struct problem, b),
                                    offsetof(struct problem, c), offsetof(struct problem, d)};
    for (int i = first; i <= last; i++)
        for (unsigned r = 0; r < one->registers[i]; r++) {
            const size_t place = places[i] + r * MMA_LANES * sizeof(uint32_t);
            if (access[0] == 'l')
                put(at, "ld.global.b32 %%%c%u, [%%q1+%zu];\n", "abcd"[i], r, place);
            else
                put(at, "st.global.b32 [%%q1+%zu], %%%c%u;\n", place, "abcd"[i], r);
        }
}

static void add_wmma(char **at, const struct instruction *one)
{
    static const size_t places[] = {offsetof(struct problem, a), offsetof(struct problem, b),
                                    offsetof(struct problem, c), offsetof(struct problem, d)};
    const char *types[] = {one->a, one->b, one->c, one->d};
    for (unsigned i = 0; i < 3; i++) {
        put(at, "add.u64 %%q2, %%q0, %zu;\nwmma.load.%c.sync.aligned.row.%s.global.%s ", places[i],
            "abc"[i], one -> shape, types[i]);
        put_list(at, "abc"[i], one -> registers[i]);
        put(at, ", [%%q2];\n");
    }
    put(at, "wmma.mma.sync.aligned.row.row.%s%s ", one->shape, one->name);
    for (unsigned i = 0; i < 4; i++) {
        put(at, i ? ", " : "");
        put_list(at, "dabc"[i], one -> registers[(i + 3) % 4]);
    }
    put(at, ";\nadd.u64 %%q2, %%q0, %zu;\nwmma.store.d.sync.aligned.row.%s.global.%s [%%q2], ",
        places[3], one->shape, one->d);
    put_list(at, 'd', one->registers[3]);
    put(at, ";\n");
}

static void add_mma(char **at, const struct instruction *one)
{
    add_registers(at, one, "load", 0, 2);
    if (one->selector >= 0)
        put(at, "ld.global.b32 %%e, [%%q1+%zu];\n", offsetof(struct problem, metadata));
    put(at, "%s ", one->name);
    for (unsigned i = 0; i < 4; i++) {
        put(at, i ? ", " : "");
        put_list(at, "dabc"[i], one -> registers[(i + 3) % 4]);
    }
    if (one->selector >= 0)
        put(at, ", %%e, %d", one->selector);
    put(at, ";\n");
    add_registers(at, one, "store", 3, 3);
}

char *mma_text(const struct instruction *one)
{
    char *text = malloc(8192), *at = text;
    if (!text)
        abort();
    put(&at, ".version 8.7\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"
             ".reg .b32 %%a<8>, %%b<8>, %%c<8>, %%d<8>, %%e, %%r<3>;\n.reg .b64 %%q<3>;\n"
             "ld.param.u64 %%q0, [p];\nmov.u32 %%r0, %%ctaid.x;\nmov.u32 %%r1, %%tid.x;\n");
    put(&at, "mad.wide.u32 %%q0, %%r0, %zu, %%q0;\nmad.wide.u32 %%q1, %%r1, 4, %%q0;\n",
        sizeof(struct problem));
    if (one->shape)
        add_wmma(&at, one);
    else
        add_mma(&at, one);
    put(&at, "ret;\n}\n");
    return text;
}
