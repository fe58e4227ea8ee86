/* SPDX-License-Identifier: MIT */
#include "context/context.h"

struct sim_count sim_live_taken;

/* Objects that belong to another one, and go with it; and what a process registers for its life. */
bool sim_live_counts(enum sim_kind kind)
{
    return kind != SIM_FUNCTION && kind != SIM_KERNEL && kind != SIM_TEXREF &&
           kind != SIM_SURFREF && kind != SIM_GRAPH_NODE && kind != SIM_OTHER &&
           kind != SIM_REGISTRATION;
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
    case SIM_POOL: /* a device has its default pool for good */
        return !((const struct sim_pool *)object)->is_default;
    default:
        return true;
    }
}

static void add(struct sim_count *count, int kind, const char *origin)
{
    if (count->objects[kind]++ == 0)
        count->origins[kind] = origin;
}

#define MOST_LEFT 16

/* Whether more of the list and the object's context were made as it was: by a loop, which leaks. */
static bool is_of_loop(const struct sim_object *list, const struct sim_object *object)
{
    size_t same = 0;
    for (; list && object->origin && same <= MOST_LEFT; list = list->next)
        same += list->context == object->context && list->origin &&
                strcmp(list->origin, object->origin) == 0;
    return same > MOST_LEFT;
}

/* Objects of the kind (in the context, if one is given) that the program made and must destroy: not
 * those that come and go with others (functions with modules, the streams that every context has).
 */
static void add_objects(struct sim_count *count, enum sim_kind kind,
                        const struct sim_context *context)
{
    /* The program may leave all but memory to cuCtxDestroy, by its manual; a primary context may
     * be kept by others. */
    bool left = context && !context->primary && kind != SIM_ARRAY && kind != SIM_MIPMAP;
    const struct sim_object *first = sim_object_first(kind);
    if (!sim_live_counts(kind) || (context && kind == SIM_CONTEXT))
        return;
    for (const struct sim_object *object = first; object; object = object->next)
        if ((!context || object->context == context) && made_by_program(object) &&
            (!left || is_of_loop(first, object)))
            add(count, (int)kind, object->origin);
}

/* Memory that is the program's to free: the rest goes with its module, block or array. */
static bool is_program_memory(const struct sim_allocation *allocation)
{
    return !allocation->ending && allocation->kind != SIM_MEMORY_MODULE &&
           allocation->kind != SIM_MEMORY_ARRAY && allocation->kind != SIM_MEMORY_VIRTUAL;
}

/* What is alive, in the context if one is given, is added to the counts. */
static void add_live(struct sim_count *count, const struct sim_context *context)
{
    const struct sim_allocation *found;
    uint64_t oldest = count->objects[SIM_KIND_COUNT] ? 0 : UINT64_MAX;
    for (int kind = 0; kind < SIM_KIND_COUNT; kind++)
        add_objects(count, (enum sim_kind)kind, context);
    for (uint64_t below = UINT64_MAX; (found = sim_range_before(below)); below = found->address)
        if ((!context || found->context == context) && is_program_memory(found)) {
            add(count, SIM_KIND_COUNT, found->origin);
            count->bytes += found->size;
            if (found->id < oldest) {
                count->origins[SIM_KIND_COUNT] = found->origin;
                oldest = found->id;
            }
        }
}

struct sim_count sim_live_count(bool with_taken)
{
    struct sim_count count = with_taken ? sim_live_taken : (struct sim_count){.bytes = 0};
    add_live(&count, NULL);
    return count;
}

void sim_live_take(const struct sim_context *context)
{
    struct sim_count count = sim_live_taken;
    if (context->sticky != CUDA_SUCCESS) /* after a kernel's fault nothing could be released */
        return;
    add_live(&count, context);
    for (int kind = 0; kind <= SIM_KIND_COUNT; kind++)
        if (count.origins[kind] && count.origins[kind] != sim_live_taken.origins[kind])
            count.origins[kind] = strdup(count.origins[kind]);
    sim_live_taken = count;
}

bool sim_live_is_empty(const struct sim_count *count)
{
    for (int kind = 0; kind <= SIM_KIND_COUNT; kind++)
        if (count->objects[kind])
            return false;
    return true;
}

void sim_live_print(const struct sim_count *count, FILE *file, const char *prefix,
                    const char *suffix)
{
    for (int kind = 0; kind < SIM_KIND_COUNT; kind++) {
        const size_t found = count->objects[kind];
        const char *name = kind == SIM_PHYSICAL               ? "block"
                           : kind == SIM_LIBRARY && found > 1 ? "librarie"
                                                              : sim_kinds_name((enum sim_kind)kind);
        if (found > 0)
            fprintf(file, "%s%zu %s%s%s%s\n", prefix, found, name, found > 1 ? "s" : "",
                    kind == SIM_PHYSICAL ? " of physical memory" : "", suffix);
    }
    const size_t blocks = count->objects[SIM_KIND_COUNT];
    if (blocks)
        fprintf(file, "%s%zu block%s of memory, %zu bytes%s\n", prefix, blocks,
                blocks == 1 ? "" : "s", count->bytes, suffix);
}

void sim_live_json(const struct sim_count *count, FILE *file)
{
    const char *comma = "";
    putc('{', file);
    for (int kind = 0; kind < SIM_KIND_COUNT; kind++) {
        if (count->objects[kind] == 0)
            continue;
        fprintf(file, "%s\"%s\": %zu", comma, sim_kinds_name((enum sim_kind)kind),
                count->objects[kind]);
        comma = ", ";
    }
    if (count->objects[SIM_KIND_COUNT])
        fprintf(file, "%s\"memory\": {\"blocks\": %zu, \"bytes\": %zu}", comma,
                count->objects[SIM_KIND_COUNT], count->bytes);
    putc('}', file);
}
