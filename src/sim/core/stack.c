/* SPDX-License-Identifier: MIT */
/* Each host thread's stack of contexts. What is on it may have been destroyed since. */
#include "core/core.h"

struct stack {
    struct sim_known *items;
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

bool sim_stack_alive(const struct sim_known *entry)
{
    return entry && sim_object(SIM_CONTEXT, entry->context) &&
           entry->context->serial == entry->serial;
}

struct sim_known *sim_stack_top(void)
{
    struct stack *stack = mine(false);
    return stack && stack->count ? &stack->items[stack->count - 1] : NULL;
}

CUresult sim_stack_push(CUcontext context)
{
    SIM_MADE(struct stack *, stack, mine(true));
    SIM_MADE(struct sim_known *, items,
             sim_grown(stack->items, stack->count, &stack->capacity, sizeof *items));
    stack->items = items;
    stack->items[stack->count++] = *sim_context_known(context);
    return CUDA_SUCCESS;
}

void sim_stack_pop(void)
{
    struct stack *stack = mine(false);
    if (stack && stack->count)
        stack->count--;
}

CUresult sim_stack_set(CUcontext context)
{
    struct sim_known *top = sim_stack_top();
    if (!top)
        return context ? sim_stack_push(context) : CUDA_SUCCESS;
    if (context)
        *top = *sim_context_known(context);
    else
        sim_stack_pop();
    return CUDA_SUCCESS;
}
