/* SPDX-License-Identifier: MIT */
/* The kinds of objects: what each is called, and how it ends with its context. */
#include "context/context.h"

static const struct sim_class classes[SIM_KIND_COUNT + 1] = {
#define SIM_KIND(kind, name, end) [SIM_##kind] = {name, end},
#include "core/kinds.def"
    [SIM_KIND_COUNT] = {"memory", NULL},
};

const char *sim_kinds_name(enum sim_kind kind)
{
    return classes[kind].name;
}

static void end(struct sim_context *context, enum sim_kind kind)
{
    struct sim_object *next;
    for (struct sim_object *object = sim_object_first(kind); object; object = next) {
        next = object->next;
        if (object->context == context)
            classes[kind].end(object);
    }
}

void sim_kinds_end(struct sim_context *context)
{
    /* What uses memory goes before the memory. */
    static const enum sim_kind users[] = {SIM_LINK,    SIM_MODULE, SIM_TEXREF, SIM_TEXTURE,
                                          SIM_SURFACE, SIM_MIPMAP, SIM_ARRAY};
    for (size_t i = 0; i < sizeof users / sizeof *users; i++)
        end(context, users[i]);
    sim_device_heap_end(context);
    sim_memory_entry_end(context);
    end(context, SIM_EVENT);
    end(context, SIM_STREAM);
    context->legacy = context->per_thread = NULL;
}
