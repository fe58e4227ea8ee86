/* SPDX-License-Identifier: MIT */
/* Each host thread's stack of contexts. What is on it may have been destroyed since. */
#include <pthread.h>
#include <stdlib.h>

#include "context.h"
#include "work.h"

struct entry {
    struct sim_context *context; /* not to be looked into before `alive` says so */
    uint64_t serial;
    int device; /* -1: the handle was no context's when it was pushed */
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
__attribute__((destructor)) static void end(void)
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

static bool alive(const struct entry *entry)
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
    for (int i = 0; i < sim_device_count() && !context; i++)
        if ((CUcontext)sim_devices[i].primary_kept == handle)
            context = sim_devices[i].primary_kept;
    if (!context)
        return (struct entry){(struct sim_context *)handle, 0, -1};
    return (struct entry){context, context->serial, context->device->ordinal};
}

CUresult sim_stack_push(CUcontext context)
{
    struct stack *stack = mine(true);
    if (!stack)
        return CUDA_ERROR_OUT_OF_MEMORY;
    if (stack->count == stack->capacity) {
        size_t capacity = stack->capacity ? 2 * stack->capacity : 8;
        struct entry *items = realloc(stack->items, capacity * sizeof *items);
        if (!items)
            return CUDA_ERROR_OUT_OF_MEMORY;
        stack->items = items;
        stack->capacity = capacity;
    }
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

CUresult sim_context_push(struct sim_context *context)
{
    return sim_stack_push((CUcontext)context);
}

int sim_stack_device(void)
{
    struct entry *entry = top();
    return entry ? entry->device : -1;
}

struct sim_context *sim_current_any(void)
{
    struct entry *entry = top();
    return entry && alive(entry) ? entry->context : NULL;
}

CUresult sim_current(struct sim_context **context)
{
    struct entry *entry = top();
    if (sim_in_callback())
        return CUDA_ERROR_NOT_PERMITTED;
    if (!entry)
        return CUDA_ERROR_INVALID_CONTEXT;
    if (!alive(entry))
        return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    if (entry->context->sticky != CUDA_SUCCESS)
        return entry->context->sticky;
    *context = entry->context;
    return CUDA_SUCCESS;
}
