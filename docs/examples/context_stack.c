/* SPDX-License-Identifier: MIT */
/* Every thread has a stack of contexts, and its top is the current one. cuCtxCreate pushes what it
 * creates: with A and then B created, the stack is A B. */
#include <pthread.h>
#include <stdio.h>

#include <cushim/context.h>
#include <cushim/error.h>

/* Whether the current context is `wanted`. */
static bool is_current(const struct cushim_api *cu, const char *when, CUcontext wanted)
{
    CUcontext current = NULL;
    if (!CUSHIM_CHECK(cu->cuCtxGetCurrent(&current)))
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
    struct cushim_primary state = {.size = sizeof state};
    CUcontext primary = NULL, popped = NULL;

    if (!CUSHIM_CHECK(cushim_primary_retain(cu, 0, &primary)))
        return false;
    bool good = CUSHIM_CHECK(cu->cuCtxPushCurrent(primary)) &&
                is_current(cu, "primary pushed: P", primary) &&
                CUSHIM_CHECK(cushim_context_synchronize(cu, NULL)) &&
                CUSHIM_CHECK(cu->cuCtxPopCurrent(&popped));
    good &= CUSHIM_CHECK(cushim_primary_release(cu, 0));
    return good && CUSHIM_CHECK(cushim_primary_describe(cu, 0, &state)) && state.retained == 0;
}

/* Use counts from before CUDA 4: creation counts as 1, attach adds 1, detach takes 1 off, and at 0
 * the context is destroyed. Both want it to be current. */
static bool use_counts(const struct cushim_api *cu)
{
    CUcontext context = NULL, same = NULL;
    return CUSHIM_CHECK(cu->cuCtxCreate_v2(&context, 0, 0)) &&
           CUSHIM_CHECK(cu->cuCtxAttach(&same, 0)) && same == context &&
           CUSHIM_CHECK(cu->cuCtxDetach(context)) && is_current(cu, "detached once", context) &&
           CUSHIM_CHECK(cu->cuCtxDetach(context)) && is_current(cu, "detached twice", NULL);
}

/* A context that is on no stack floats: any thread can push it. */
static void *work_in(void *floating)
{
    const struct cushim_api *cu = cushim_load(NULL);
    CUcontext popped = NULL;
    CUdeviceptr memory = 0;
    bool good = CUSHIM_CHECK(cu->cuCtxPushCurrent(floating)) &&
                CUSHIM_CHECK(cu->cuMemAlloc(&memory, 1000)) &&
                CUSHIM_CHECK(cu->cuMemFree(memory)) && CUSHIM_CHECK(cu->cuCtxPopCurrent(&popped));
    return good ? popped : NULL;
}

static bool hand_over(const struct cushim_api *cu)
{
    CUcontext floating = NULL;
    pthread_t thread;
    void *worked_in = NULL;
    if (!CUSHIM_CHECK(cushim_context_create(cu, 0, NULL, &floating)))
        return false;
    bool good = is_current(cu, "created to float: none", NULL) &&
                pthread_create(&thread, NULL, work_in, floating) == 0 &&
                pthread_join(thread, &worked_in) == 0 && worked_in == floating;
    return CUSHIM_CHECK(cushim_context_destroy(cu, floating)) && good;
}

int main(void)
{
    const struct cushim_api *cu = cushim_load(NULL);
    CUcontext a = NULL, b = NULL;
    CUresult code = cu->cuInit(0);
    if (code != CUDA_SUCCESS) {
        printf("skipped: cuInit: %s\n", cushim_error_string(code));
        return 77;
    }
    bool good = use_two(cu, &a, &b);

    /* Destroying the current context takes it off the stack; NULL is nothing to destroy. */
    good &= CUSHIM_CHECK(cushim_context_destroy(cu, b));
    good = good && is_current(cu, "B destroyed: A", a);
    good &= CUSHIM_CHECK(cushim_context_destroy(cu, a));
    good = good && is_current(cu, "A destroyed: none", NULL);
    return good && use_counts(cu) && hand_over(cu) && use_primary(cu) ? 0 : 1;
}
