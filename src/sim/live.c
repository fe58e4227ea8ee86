/* SPDX-License-Identifier: MIT */
#include "live.h"

/* Objects that belong to another one, and go with it. */
static bool comes_with_others(enum sim_kind kind)
{
    return kind == SIM_FUNCTION || kind == SIM_KERNEL || kind == SIM_TEXREF ||
           kind == SIM_SURFREF || kind == SIM_GRAPH_NODE || kind == SIM_OTHER;
}

static bool made_by_program(const struct sim_object *object)
{
    const struct sim_context *context = object->context;
    switch (object->kind) {
    case SIM_CONTEXT: /* a primary one is retained; what is not released counts */
        return true;
    case SIM_STREAM:
        return context && (const struct sim_stream *)object != context->legacy &&
               !((const struct sim_stream *)object)->thread;
    case SIM_MODULE:
        return !((const struct sim_module *)object)->library;
    default:
        return true;
    }
}

size_t sim_live(enum sim_kind kind)
{
    size_t count = 0;
    if (comes_with_others(kind))
        return 0;
    for (const struct sim_object *object = sim_objects(kind); object; object = object->next)
        count += made_by_program(object);
    return count;
}

unsigned sim_live_print(FILE *file, const char *prefix)
{
    unsigned lines = 0;
    size_t bytes, blocks = sim_memory_live(&bytes);
    for (int kind = 0; kind < SIM_KIND_COUNT; kind++) {
        size_t count = sim_live((enum sim_kind)kind);
        if (count == 0)
            continue;
        lines++;
        fprintf(file, "%s%zu %s%s\n", prefix, count, sim_kind_name((enum sim_kind)kind),
                count == 1 ? "" : "s");
    }
    if (blocks) {
        lines++;
        fprintf(file, "%s%zu block%s of memory, %zu bytes\n", prefix, blocks,
                blocks == 1 ? "" : "s", bytes);
    }
    return lines;
}
