/* SPDX-License-Identifier: MIT */
/* Every thread has a stack of contexts, and its top is the current one. cuCtxCreate pushes what it
 * creates: with A and then B created, the stack is A B. */
#include <stdio.h>

#include <cushim/context.h>
#include <cushim/error.h>

/* Whether the current context is `wanted`. */
static bool is_current(const struct cushim_api *cu, const char *when, CUcontext wanted)
{
    CUcontext current = NULL;
    if (!CUSHIM_CHECK(cushim_context_current(cu, &current)))
        return false;
    printf("%s: %s\n", when, current == wanted ? "as expected" : "WRONG");
    return current == wanted;
}

static bool use_two(const struct cushim_api *cu, CUcontext *a, CUcontext *b)
{
    CUcontext popped = NULL;

    /* Under CUDA 13's names the function has one more parameter; _v2 is the one that every driver
     * has. cushim_context_create picks by itself, and leaves the stack as it is. */
    return CUSHIM_CHECK(cu->cuCtxCreate_v2(a, 0, 0)) && is_current(cu, "A created: A", *a) &&
           CUSHIM_CHECK(cu->cuCtxCreate_v2(b, 0, 0)) && is_current(cu, "B created: A B", *b) &&
           CUSHIM_CHECK(cu->cuCtxPushCurrent(*a)) && is_current(cu, "A pushed: A B A", *a) &&
           CUSHIM_CHECK(cu->cuCtxPopCurrent(&popped)) && popped == *a &&
           is_current(cu, "A popped: A B", *b);
}

/* The context that the process shares: with the CUDA runtime, and with every library. */
static bool use_primary(const struct cushim_api *cu)
{
    struct cushim_primary_state state;
    CUcontext primary = NULL;

    if (!CUSHIM_CHECK(cushim_primary_retain(cu, 0, &primary)))
        return false;
    bool good = CUSHIM_CHECK(cushim_context_push(cu, primary)) &&
                is_current(cu, "primary pushed: P", primary) &&
                CUSHIM_CHECK(cushim_context_synchronize(cu, NULL)) &&
                CUSHIM_CHECK(cushim_context_pop(cu, NULL));
    good &= CUSHIM_CHECK(cushim_primary_release(cu, 0));
    return good && CUSHIM_CHECK(cushim_primary_query(cu, 0, &state)) && state.retained == 0;
}

int main(void)
{
    const struct cushim_api *cu = cushim_load(NULL);
    CUcontext a = NULL, b = NULL;
    if (cushim_init(cu) != CUSHIM_OK) {
        printf("skipped: %s\n", cushim_message(cu));
        return 77;
    }
    bool good = use_two(cu, &a, &b);

    /* Destroying the current context takes it off the stack; NULL is nothing to destroy. */
    good &= CUSHIM_CHECK(cushim_context_destroy(cu, b));
    good = good && is_current(cu, "B destroyed: A", a);
    good &= CUSHIM_CHECK(cushim_context_destroy(cu, a));
    good = good && is_current(cu, "A destroyed: none", NULL);
    return good && use_primary(cu) ? 0 : 1;
}
