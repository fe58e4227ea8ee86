/* SPDX-License-Identifier: MIT */
/* The kinds of objects: what each is called, and how it ends with its context. */
#include "context/context.h"

static const struct sim_class classes[SIM_KIND_COUNT + 1] = {
    [SIM_CONTEXT] = {"context", NULL},
    [SIM_STREAM] = {"stream", sim_stream_end},
    [SIM_EVENT] = {"event", sim_event_end},
    [SIM_MODULE] = {"module", sim_place_end},
    [SIM_FUNCTION] = {"function", NULL},
    [SIM_LIBRARY] = {"library", NULL},
    [SIM_KERNEL] = {"kernel", NULL},
    [SIM_LINK] = {"linker state", sim_link_end},
    [SIM_ARRAY] = {"array", sim_array_end},
    [SIM_MIPMAP] = {"mipmapped array", sim_mipmap_end},
    [SIM_TEXREF] = {"texture reference", sim_reference_end},
    [SIM_SURFREF] = {"surface reference", NULL},
    [SIM_TEXTURE] = {"texture object", sim_texture_object_end},
    [SIM_SURFACE] = {"surface object", sim_texture_object_end},
    [SIM_POOL] = {"memory pool", NULL},
    [SIM_PHYSICAL] = {"physical memory", NULL},
    [SIM_GRAPH] = {"graph", NULL},
    [SIM_GRAPH_NODE] = {"graph node", NULL},
    [SIM_GRAPH_EXEC] = {"executable graph", NULL},
    [SIM_USER_OBJECT] = {"user object", NULL},
    [SIM_GREEN] = {"green context", NULL},
    [SIM_REGISTRATION] = {"callback", NULL},
    [SIM_OTHER] = {"object", NULL},
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
