/* SPDX-License-Identifier: MIT */
/* Memory that graphs allocate and free: an address for good, taken and given back at every launch.
 * The bytes exist from the node's creation to the end of the last graph that knows it, so that
 * copies and kernels can be added to the graph before it ever ran. */
#include "graph/graph.h"

struct sim_graph_memory {
    unsigned references; /* of nodes and of executable graphs */
    bool live;           /* allocated by a launch that was asked for, and not freed since */
    bool claimed;        /* by an executable graph: there can be one */
    bool kept;           /* `live` before an upload tried what a launch takes */
    uint64_t address, id;
    size_t size;
    int device;
    struct sim_graph_memory *next;
};

static struct sim_graph_memory *all;

/* What the attributes show: a device has grains behind the memory that launches allocated, and
 * keeps them until they are trimmed. All that it reserved is in use. */
#define GRAIN (UINT64_C(32) << 20)

static struct account {
    uint64_t live; /* bytes */
    uint64_t held, used_high, reserved_high;
} accounts[SIM_MAX_DEVICES];

static void count_live(struct sim_graph_memory *memory, bool live)
{
    if (memory->live == live)
        return;
    memory->live = live;
    accounts[memory->device].live += live ? memory->size : -memory->size;
}

static void set_live(struct sim_graph_memory *memory, bool live)
{
    struct account *account = &accounts[memory->device];
    count_live(memory, live);
    if (sim_rounded_up(account->live, GRAIN) <= account->held)
        return;
    account->held = sim_rounded_up(account->live, GRAIN);
    if (account->held > account->used_high)
        account->used_high = account->held;
    if (account->held > account->reserved_high)
        account->reserved_high = account->held;
}

static void release(void *user)
{
    struct sim_graph_memory *memory = user;
    if (--memory->references != 0 || memory->live)
        return;
    SIM_UNLINK(all, memory);
    sim_memory_free_if_there(memory->address, memory->id);
    free(memory);
}

static struct sim_context *context_on(const struct sim_device *device)
{
    struct sim_context *context;
    if (sim_current(&context) == CUDA_SUCCESS && context->device == device)
        return context;
    if (device->primary)
        return device->primary;
    for (struct sim_object *object = sim_object_first(SIM_CONTEXT); object; object = object->next)
        if (((struct sim_context *)object)->device == device)
            return (struct sim_context *)object;
    return NULL;
}

static CUresult check(const CUDA_MEM_ALLOC_NODE_PARAMS_v2 *params)
{
    SIM_REFUSE(params->bytesize == 0 ||
               params->poolProps.allocType != CU_MEM_ALLOCATION_TYPE_PINNED ||
               params->poolProps.location.type != CU_MEM_LOCATION_TYPE_DEVICE ||
               params->poolProps.handleTypes != CU_MEM_HANDLE_TYPE_NONE ||
               !sim_device(params->poolProps.location.id));
    SIM_REFUSE(params->accessDescCount && !params->accessDescs);
    for (size_t i = 0; i < params->accessDescCount; i++)
        SIM_REFUSE(params->accessDescs[i].location.type != CU_MEM_LOCATION_TYPE_DEVICE ||
                   !sim_device(params->accessDescs[i].location.id));
    return CUDA_SUCCESS;
}

static struct sim_graph_memory *find(CUdeviceptr address)
{
    struct sim_graph_memory *memory = all;
    while (memory && memory->address != address)
        memory = memory->next;
    return memory;
}

/* What queued work still uses stays readable: the bytes are the graph's. */
static bool free_for_good(CUdeviceptr address)
{
    struct sim_graph_memory *memory = find(address);
    if (!memory)
        return false;
    set_live(memory, false);
    if (memory->references == 0) {
        memory->references = 1;
        release(memory);
    }
    return true;
}

CUresult sim_graph_memory_allocate_item(CUDA_MEM_ALLOC_NODE_PARAMS_v2 *params,
                                        struct sim_item *item)
{
    struct sim_allocation *allocation;
    SIM_TRY(check(params));
    int device = params->poolProps.location.id;
    struct sim_context *context = context_on(sim_device(device));
    struct sim_graph_memory *memory = calloc(1, sizeof *memory);
    if (!memory || !context) {
        free(memory);
        return memory ? CUDA_ERROR_INVALID_CONTEXT : CUDA_ERROR_OUT_OF_MEMORY;
    }
    SIM_TRY_OR(sim_memory_allocate(context, SIM_MEMORY_DEVICE, params->bytesize, 0, 0, &allocation),
               free(memory));
    *memory = (struct sim_graph_memory){.references = 1,
                                        .address = allocation->address,
                                        .id = allocation->id,
                                        .size = params->bytesize,
                                        .device = device,
                                        .next = all};
    all = memory;
    sim_memory_hooks.frees = free_for_good;
    params->dptr = allocation->address;
    *item = (struct sim_item){
        .params.type = CU_GRAPH_NODE_TYPE_MEM_ALLOC, .user = memory, .drop = release};
    item->params.alloc = *params;
    item->params.alloc.accessDescs = NULL; /* every device here reaches it */
    item->params.alloc.accessDescCount = 0;
    return CUDA_SUCCESS;
}

CUresult sim_graph_memory_free_item(CUdeviceptr address, struct sim_item *item)
{
    struct sim_graph_memory *memory = find(address);
    SIM_REFUSE(!memory);
    memory->references++;
    *item = (struct sim_item){
        .params.type = CU_GRAPH_NODE_TYPE_MEM_FREE, .user = memory, .drop = release};
    item->params.free.dptr = address;
    return CUDA_SUCCESS;
}

CUresult sim_graph_memory_copy(const struct sim_item *item, struct sim_item *copy)
{
    ((struct sim_graph_memory *)item->user)->references++;
    *copy = *item;
    return CUDA_SUCCESS;
}

void sim_graph_memory_launched(const struct sim_item *item)
{
    if (sim_graph_memory_of(item))
        set_live(item->user, item->params.type == CU_GRAPH_NODE_TYPE_MEM_ALLOC);
}

struct sim_graph_memory *sim_graph_memory_of(const struct sim_item *item)
{
    return item->params.type == CU_GRAPH_NODE_TYPE_MEM_ALLOC ||
                   item->params.type == CU_GRAPH_NODE_TYPE_MEM_FREE
               ? item->user
               : NULL;
}

/* What surrounds a launch that is only tried: the device keeps the grains that it took. */
void sim_graph_memory_upload(const struct sim_exec *exec)
{
    struct sim_graph_memory *memory;
    for (size_t i = 0; i < exec->count; i++)
        if ((memory = sim_graph_memory_of(&exec->nodes[i].work->item)))
            memory->kept = memory->live;
    for (size_t i = 0; i < exec->count; i++)
        sim_graph_memory_launched(&exec->nodes[i].work->item);
    for (size_t i = 0; i < exec->count; i++)
        if ((memory = sim_graph_memory_of(&exec->nodes[i].work->item)))
            count_live(memory, memory->kept);
}

bool sim_graph_memory_ready(const struct sim_item *item, bool discard)
{
    struct sim_graph_memory *memory = item->user;
    bool live = item->params.type == CU_GRAPH_NODE_TYPE_MEM_ALLOC && memory->live;
    if (live && discard)
        set_live(memory, false);
    return !live || discard;
}

bool sim_graph_memory_claim(const struct sim_item *item)
{
    struct sim_graph_memory *memory = item->user;
    if (item->params.type != CU_GRAPH_NODE_TYPE_MEM_ALLOC)
        return true;
    if (memory->claimed)
        return false;
    return memory->claimed = true;
}

void sim_graph_memory_unclaim(const struct sim_item *item)
{
    if (item->params.type == CU_GRAPH_NODE_TYPE_MEM_ALLOC)
        ((struct sim_graph_memory *)item->user)->claimed = false;
}

SIM_SET(cuDeviceGraphMemTrim, struct sim_device *, found, sim_device_of(device, &found), false,
        accounts[device].held = sim_rounded_up(accounts[device].live, GRAIN))

CUresult sim_cuDeviceGetGraphMemAttribute(CUdevice device, CUgraphMem_attribute attr, void *value)
{
    SIM_TRY(sim_device_of(device, NULL));
    const struct account *account = &accounts[device];
    const cuuint64_t values[] = {[CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT] = account->held,
                                 [CU_GRAPH_MEM_ATTR_USED_MEM_HIGH] = account->used_high,
                                 [CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT] = account->held,
                                 [CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH] = account->reserved_high};
    SIM_REFUSE(!value || (size_t)attr >= sizeof values / sizeof *values);
    *(cuuint64_t *)value = values[attr];
    return CUDA_SUCCESS;
}

/* High marks alone can be set, and to 0 alone: they begin again where the counts are now. */
CUresult sim_cuDeviceSetGraphMemAttribute(CUdevice device, CUgraphMem_attribute attr, void *value)
{
    SIM_TRY(sim_device_of(device, NULL));
    bool used = attr == CU_GRAPH_MEM_ATTR_USED_MEM_HIGH;
    SIM_REFUSE(!value || *(cuuint64_t *)value != 0 ||
               (!used && attr != CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH));
    *(used ? &accounts[device].used_high : &accounts[device].reserved_high) = accounts[device].held;
    return CUDA_SUCCESS;
}
