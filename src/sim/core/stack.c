/* SPDX-License-Identifier: MIT */
/* Each host thread's stack of contexts. What is on it may have been destroyed since. */
#include "core/core.h"

struct entry {
    struct sim_context *context; /* not to be looked into before is_alive says so */
    uint64_t serial;
    struct sim_device *device; /* NULL: the handle was no context's when it was pushed */
};

struct stack {
    struct entry *items;
    size_t count, capacity;
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
static bool have_key;

static void release(void *value)
{
    struct stack *stack = value;
    free(stack->items);
    free(stack);
}

static void make_key(void)
{
    have_key = pthread_key_create(&key, release) == 0;
}

/* Threads that end after the library was unloaded must not call into it. */
void sim_stack_unload(void)
{
    if (!have_key)
        return;
    struct stack *stack = pthread_getspecific(key);
    if (stack)
        release(stack);
    pthread_key_delete(key);
    have_key = false;
}

/* The calling thread's; NULL: none yet, or no memory. */
static struct stack *mine(bool make)
{
    pthread_once(&once, make_key);
    if (!have_key)
        return NULL;
    struct stack *stack = pthread_getspecific(key);
    if (!stack && make) {
        stack = calloc(1, sizeof *stack);
        if (stack && pthread_setspecific(key, stack) != 0) {
            free(stack);
            stack = NULL;
        }
    }
    return stack;
}

static bool is_alive(const struct entry *entry)
{
    return sim_object(SIM_CONTEXT, entry->context) && entry->context->serial == entry->serial;
}

static struct entry *top(void)
{
    struct stack *stack = mine(false);
    return stack && stack->count ? &stack->items[stack->count - 1] : NULL;
}

CUcontext sim_stack_top(void)
{
    struct entry *entry = top();
    return entry ? (CUcontext)entry->context : NULL;
}

size_t sim_stack_depth(void)
{
    struct stack *stack = mine(false);
    return stack ? stack->count : 0;
}

/* A primary context that is not active now may be so again. */
static struct entry make_entry(CUcontext handle)
{
    struct sim_context *context = sim_object(SIM_CONTEXT, handle);
    if (!context)
        context = sim_context_kept(handle);
    if (!context)
        return (struct entry){(struct sim_context *)handle, 0, sim_context_was_on(handle)};
    return (struct entry){context, context->serial, context->device};
}

CUresult sim_stack_push(CUcontext context)
{
    SIM_MADE(struct stack *, stack, mine(true));
    SIM_MADE(struct entry *, items,
             sim_grown(stack->items, stack->count, &stack->capacity, sizeof *items));
    stack->items = items;
    stack->items[stack->count++] = make_entry(context);
    return CUDA_SUCCESS;
}

CUcontext sim_stack_pop(void)
{
    struct stack *stack = mine(false);
    return stack && stack->count ? (CUcontext)stack->items[--stack->count].context : NULL;
}

CUresult sim_stack_set(CUcontext context)
{
    struct entry *entry = top();
    if (!entry)
        return context ? sim_stack_push(context) : CUDA_SUCCESS;
    if (!context)
        (void)sim_stack_pop();
    else
        *entry = make_entry(context);
    return CUDA_SUCCESS;
}

struct sim_device *sim_stack_device(void)
{
    struct entry *entry = top();
    return entry ? entry->device : NULL;
}

struct sim_context *sim_stack_context(bool *alive)
{
    struct entry *entry = top();
    *alive = entry && is_alive(entry);
    return entry ? entry->context : NULL;
}
