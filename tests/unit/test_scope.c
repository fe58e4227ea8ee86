/* SPDX-License-Identifier: MIT */
/* The caller's stack of contexts is the same after every helper and every scope, whatever the work
 * does and whichever driver call fails. */
#include <stdio.h>
#include <string.h>

#include <cushim/context.h>

#include "fake_contexts.h"

static CUcontext create(const struct cushim_api *cu)
{
    CUcontext context = NULL;
    assert_int_equal(cushim_context_create(cu, 0, NULL, &context), CUDA_SUCCESS);
    return context;
}

/* ---- what work may do within a scope ---- */

static CUcontext a, b, c, d;

static void nothing(const struct cushim_api *cu)
{
    (void)cu;
}

static void leaves_one(const struct cushim_api *cu)
{
    assert_int_equal(cu->cuCtxPushCurrent(d), CUDA_SUCCESS);
}

static void leaves_three(const struct cushim_api *cu)
{
    leaves_one(cu);
    assert_int_equal(cu->cuCtxPushCurrent(c), CUDA_SUCCESS);
    leaves_one(cu);
}

static void sets_another(const struct cushim_api *cu)
{
    assert_int_equal(cu->cuCtxSetCurrent(d), CUDA_SUCCESS);
}

static void sets_none(const struct cushim_api *cu)
{
    assert_int_equal(cu->cuCtxSetCurrent(NULL), CUDA_SUCCESS);
}

static void pops(const struct cushim_api *cu)
{
    CUcontext popped = NULL;
    assert_int_equal(cu->cuCtxPopCurrent(&popped), CUDA_SUCCESS);
}

static void pops_the_caller_s(const struct cushim_api *cu)
{
    pops(cu);
    if (fake_depth())
        pops(cu);
}

static void destroys(const struct cushim_api *cu)
{
    assert_int_equal(cushim_context_destroy(cu, c), CUDA_SUCCESS);
}

static const struct {
    const char *name;
    void (*work)(const struct cushim_api *cu);
} works[] = {
    {"nothing", nothing},
    {"leaves one", leaves_one},
    {"leaves three", leaves_three},
    {"sets another", sets_another},
    {"sets none", sets_none},
    {"pops", pops},
    {"pops the caller's", pops_the_caller_s},
    {"destroys", destroys},
};

/* The caller's stack: none, [a], or [a, b]; the scope's context: c, or the caller's own. */
static void try_work(size_t work, int depth, bool own)
{
    struct cushim_scope scope;
    const struct cushim_api *cu = fake_open(13000);
    a = create(cu);
    b = create(cu);
    c = create(cu);
    d = create(cu);
    CUcontext callers[] = {a, b};
    for (int i = 0; i < depth; i++)
        assert_int_equal(cu->cuCtxPushCurrent(callers[i]), CUDA_SUCCESS);
    assert_int_equal(cushim_scope_enter(cu, own ? callers[depth - 1] : c, &scope), CUDA_SUCCESS);
    assert_ptr_equal(fake_at(fake_depth() - 1), own ? callers[depth - 1] : c);
    works[work].work(cu);
    CUresult code = cushim_scope_leave(&scope, CUDA_SUCCESS);
    bool same = fake_depth() == depth;
    for (int i = 0; i < depth && same; i++)
        same = fake_at(i) == callers[i];
    /* Of what the work took from below the scope only the current one can be had back. */
    if (works[work].work == pops_the_caller_s && depth)
        same = fake_at(fake_depth() - 1) == callers[depth - 1];
    if (code != CUDA_SUCCESS || !same)
        fail_msg("work \"%s\", %d below%s: %d, %d deep: %s", works[work].name, depth,
                 own ? ", entered again" : "", (int)code, fake_depth(), cushim_last_error());
    assert_int_equal(cushim_scope_leave(&scope, CUDA_SUCCESS), CUDA_SUCCESS); /* left already */
    cushim_close(cu);
}

static void test_works(void **state)
{
    (void)state;
    for (size_t work = 0; work < COUNT(works); work++)
        for (int depth = 0; depth <= 2; depth++) {
            try_work(work, depth, false);
            if (depth)
                try_work(work, depth, true);
        }
}

static void test_leave_keeps_error(void **state)
{
    struct cushim_scope scope;
    CUcontext got = NULL;
    (void)state;
    const struct cushim_api *cu = fake_open(13000);
    a = create(cu);
    assert_int_equal(cushim_scope_enter(cu, a, &scope), CUDA_SUCCESS);
    CUresult code = cushim_context_synchronize(NULL, NULL);
    assert_int_equal(code, CUDA_ERROR_INVALID_VALUE);
    fake.fail_at = 1; /* and putting back has trouble of its own */
    fake.fail_code = CUDA_ERROR_UNKNOWN;
    assert_int_equal(cushim_scope_leave(&scope, code), CUDA_ERROR_INVALID_VALUE);
    assert_string_equal(cushim_last_error(),
                        "cushim_context_synchronize: cu is NULL; pass what cushim_load returned");
    assert_int_equal(fake_depth(), 0);

    assert_int_equal(cushim_scope_enter(cu, a, NULL), CUDA_ERROR_INVALID_VALUE);
    assert_contains(cushim_last_error(), "cushim_scope_enter: scope is NULL");
    assert_int_equal(cushim_scope_enter(cu, NULL, &scope), CUDA_ERROR_INVALID_CONTEXT);
    assert_string_equal(cushim_last_error(), "cushim_scope_enter: context is NULL; pass a context");
    assert_null(scope.cu);
    assert_int_equal(cushim_scope_enter(cu, fake_stranger(), &scope), CUDA_ERROR_INVALID_CONTEXT);
    assert_contains(cushim_last_error(), "cushim_scope_enter: context: 0x");
    assert_int_equal(cushim_scope_leave(&scope, CUDA_SUCCESS), CUDA_SUCCESS);
    assert_int_equal(cushim_scope_leave(&scope, CUDA_ERROR_UNKNOWN), CUDA_ERROR_UNKNOWN);
    assert_int_equal(cushim_scope_leave(NULL, CUDA_ERROR_UNKNOWN), CUDA_ERROR_UNKNOWN);
    assert_int_equal(cu->cuCtxGetCurrent(&got), CUDA_SUCCESS);
    assert_null(got);
    cushim_close(cu);
}

/* A driver that refuses one call for good: the context is put back by another, or the code tells.
 */
static void test_one_call_never_works(void **state)
{
    static const char *const calls[] = {"cuCtxGetCurrent", "cuCtxPopCurrent_v2", "cuCtxSetCurrent"};
    (void)state;
    for (size_t i = 0; i < COUNT(calls); i++)
        for (int before = 0; before < 2; before++) {
            struct cushim_scope scope;
            const struct cushim_api *cu = fake_open(13000);
            a = create(cu);
            b = create(cu);
            if (before)
                assert_int_equal(cu->cuCtxPushCurrent_v2(b), CUDA_SUCCESS);
            assert_int_equal(cushim_scope_enter(cu, a, &scope), CUDA_SUCCESS);
            fake.fails = calls[i];
            fake.fail_code = CUDA_ERROR_UNKNOWN;
            CUresult code = cushim_scope_leave(&scope, CUDA_SUCCESS);
            fake.fails = NULL;
            assert_int_equal(code, CUDA_SUCCESS);
            assert_ptr_equal(fake_depth() ? fake_at(fake_depth() - 1) : NULL, before ? b : NULL);
            cushim_close(cu);
            fake_clear_stack();
        }
}

static void test_nested(void **state)
{
    struct cushim_scope outer, inner;
    (void)state;
    const struct cushim_api *cu = fake_open(13000);
    a = create(cu);
    b = create(cu);
    assert_int_equal(cushim_scope_enter(cu, a, &outer), CUDA_SUCCESS);
    assert_int_equal(cushim_scope_enter(cu, b, &inner), CUDA_SUCCESS);
    assert_ptr_equal(fake_at(1), b);
    assert_int_equal(cushim_scope_leave(&inner, CUDA_SUCCESS), CUDA_SUCCESS);
    assert_ptr_equal(fake_at(0), a);
    assert_int_equal(cushim_scope_leave(&outer, CUDA_SUCCESS), CUDA_SUCCESS);
    assert_int_equal(fake_depth(), 0);
    cushim_close(cu);
}

/* ---- every helper, each of its driver calls failing in turn ---- */

static CUcontext created;

static CUresult do_create(const struct cushim_api *cu)
{
    return cushim_context_create(cu, 1, NULL, &created);
}

static CUresult do_synchronize(const struct cushim_api *cu)
{
    return cushim_context_synchronize(cu, c);
}

static CUresult do_synchronize_current(const struct cushim_api *cu)
{
    return cushim_context_synchronize(cu, NULL);
}

static CUresult do_retain(const struct cushim_api *cu)
{
    CUresult code = cushim_primary_retain(cu, 1, &created);
    if (code == CUDA_SUCCESS && cushim_primary_release(cu, 1) != CUDA_SUCCESS)
        assert_int_equal(cushim_primary_release(cu, 1), CUDA_SUCCESS); /* it is still retained */
    return code;
}

static CUresult do_destroy(const struct cushim_api *cu)
{
    return cushim_context_destroy(cu, c);
}

static const struct {
    const char *helper;
    CUresult (*run)(const struct cushim_api *cu);
    int ends; /* contexts that it makes, or -1 for one that it ends */
} helpers[] = {
    {"cushim_context_create", do_create, 1},
    {"cushim_context_synchronize", do_synchronize, 0},
    {"cushim_context_synchronize", do_synchronize_current, 0},
    {"cushim_primary_retain", do_retain, 0},
    {"cushim_context_destroy", do_destroy, -1},
};

/* Whether a call of the helper failed; false when there was no call to fail any more. */
static bool fail_one(size_t index, int driver, int at)
{
    const struct cushim_api *cu = fake_open(driver);
    a = create(cu);
    b = create(cu);
    c = create(cu);
    created = NULL;
    assert_int_equal(cu->cuCtxPushCurrent(a), CUDA_SUCCESS);
    assert_int_equal(cu->cuCtxPushCurrent(b), CUDA_SUCCESS);
    cushim_last_error_clear();
    fake_forget();
    fake.fail_at = at;
    fake.fail_code = CUDA_ERROR_UNKNOWN;
    CUresult code = helpers[index].run(cu);
    bool called = fake.fail_at == 0;
    fake.fail_at = 0;
    bool kept = fake_depth() == 2 && fake_at(0) == a && fake_at(1) == b;
    unsigned live = code == CUDA_SUCCESS ? (unsigned)(3 + helpers[index].ends) : 3;
    bool untouched = code == CUDA_SUCCESS || !created;
    bool said = code == CUDA_SUCCESS || strncmp(cushim_last_error(), helpers[index].helper,
                                                strlen(helpers[index].helper)) == 0;
    if (!kept || !untouched || !said || fake_live() != live || fake.primary_retains[1])
        fail_msg("%s, driver %d, call %d fails (%s): %d, %d deep, %u live: %s",
                 helpers[index].helper, driver, at, fake.calls, (int)code, fake_depth(),
                 fake_live(), cushim_last_error());
    if (!called)
        assert_int_equal(code, CUDA_SUCCESS);
    cushim_close(cu);
    return called;
}

static void test_every_call_fails(void **state)
{
    static const int drivers[] = {11020, 12040, 13000};
    (void)state;
    for (size_t i = 0; i < COUNT(helpers); i++)
        for (size_t driver = 0; driver < COUNT(drivers); driver++) {
            int at = 1;
            while (fail_one(i, drivers[driver], at))
                at++;
            assert_true(at > 1);
        }
}

/* ---- in a context ---- */

static void test_synchronize(void **state)
{
    (void)state;
    const struct cushim_api *cu = fake_open(13000);
    c = create(cu);
    fake_forget();
    assert_int_equal(cushim_context_synchronize(cu, c), CUDA_SUCCESS);
    assert_string_equal(fake.calls, "cuCtxSynchronize_v2 ");
    assert_int_equal(cushim_context_synchronize(cu, NULL), CUDA_ERROR_INVALID_CONTEXT);
    assert_string_equal(cushim_last_error(),
                        "cushim_context_synchronize: no context is current on this thread");
    cushim_close(cu);
    cu = fake_open(12040);
    c = create(cu);
    fake_forget();
    assert_int_equal(cushim_context_synchronize(cu, c), CUDA_SUCCESS);
    assert_contains(fake.calls, "cuCtxSynchronize ");
    assert_int_equal(fake_depth(), 0);
    assert_int_equal(cushim_context_synchronize(cu, fake_stranger()), CUDA_ERROR_INVALID_CONTEXT);
    assert_contains(cushim_last_error(), "cushim_context_synchronize: context: 0x");
    cushim_close(cu);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_works),       cmocka_unit_test(test_leave_keeps_error),
        cmocka_unit_test(test_nested),      cmocka_unit_test(test_every_call_fails),
        cmocka_unit_test(test_synchronize), cmocka_unit_test(test_one_call_never_works),
    };
    return cmocka_run_group_tests_name("scope", tests, NULL, NULL);
}
