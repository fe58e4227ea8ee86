/* SPDX-License-Identifier: MIT */
/*
 * Which address gets into which slot: exactly the ABI symbol that the slot is named after, or a
 * stub; whatever cuGetProcAddress says, in whichever order, for drivers of any age.
 */
#include <stdio.h>
#include <string.h>

#include "common.h"

static const struct cushim_api *open_with(const char *fake, enum cushim_order order,
                                          bool per_thread)
{
    struct cushim_options options = defaults();
    options.path = fake_path(fake);
    options.order = order;
    options.per_thread_default_stream = per_thread;
    const struct cushim_api *cu = cushim_open(&options);
    if (cushim_status(cu) != CUSHIM_OK)
        fail_msg("%s: %s", fake, cushim_message(cu));
    assert_sound(cu);
    return cu;
}

/* Every slot, against what the library exports. Returns how many are available. */
static size_t assert_exact(const struct cushim_api *cu, const char *path)
{
    struct cushim_entry entry;
    size_t available = 0;
    for (size_t i = 0; cushim_entry_at(i, &entry); i++) {
        void *symbol = exported(path, entry.symbol);
        void *held = table_slot(cu, i);
        struct cushim_slot slot = cushim_slot_at(cu, i);
        if ((slot.state == CUSHIM_STATE_AVAILABLE) != !!symbol)
            fail_msg("%s: exported at %p, but state %d", entry.symbol, symbol, (int)slot.state);
        if (symbol && (held != symbol || slot.address != symbol))
            fail_msg("%s: exported at %p, table %p, slot %p", entry.symbol, symbol, held,
                     slot.address);
        available += !!symbol;
    }
    return available;
}

/* The slots of unavailable entries: what they return, and which sentence they leave. */
static void assert_missing_tell(const struct cushim_api *cu)
{
    struct cushim_entry entry;
    if (!can_call_with_zeros())
        return;
    for (size_t i = 0; cushim_entry_at(i, &entry); i++) {
        struct cushim_slot slot = cushim_slot_at(cu, i);
        bool newer = entry.since > cushim_driver_version(cu);
        if (slot.state == CUSHIM_STATE_AVAILABLE || strcmp(entry.name, "cuGetErrorName") == 0 ||
            strcmp(entry.name, "cuGetErrorString") == 0)
            continue;
        if (slot.state != (newer ? CUSHIM_STATE_NEWER : CUSHIM_STATE_ABSENT) &&
            slot.state != CUSHIM_STATE_PLATFORM)
            fail_msg("%s, since %d: state %d", entry.symbol, entry.since, (int)slot.state);
        cushim_last_error_clear();
        int code = call_with_zeros(table_slot(cu, i));
        int expected = slot.state == CUSHIM_STATE_NEWER ? CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER
                                                        : CUDA_ERROR_NOT_SUPPORTED;
        if (code != expected)
            fail_msg("%s: returns %d, not %d", entry.symbol, code, expected);
        assert_contains(cushim_last_error(), entry.symbol);
    }
}

/* A call through an available slot reaches that very function. */
static void assert_calls_arrive(const struct cushim_api *cu, const char *path)
{
    struct fake_control *control = fake_control(path);
    struct cushim_entry entry;
    if (!can_call_with_zeros())
        return;
    for (size_t i = 0; cushim_entry_at(i, &entry); i++) {
        if (cushim_slot_at(cu, i).state != CUSHIM_STATE_AVAILABLE ||
            strcmp(entry.name, "cuGetProcAddress") == 0 ||
            strcmp(entry.name, "cuDriverGetVersion") == 0)
            continue;
        control->called = "nothing";
        assert_int_equal(call_with_zeros(table_slot(cu, i)), FAKE_SUCCESS);
        assert_string_equal(control->called, entry.symbol);
    }
}

/* ---- every driver in every order ---- */

struct driver {
    const char *fake;
    int version;
    size_t least; /* entries that it has at least */
    unsigned remarks;
};

static const struct driver drivers[] = {
    {"v6", 6050, 13, 0},
    {"v10", 10020, 23, 0},
    {"v11", 11040, 25, 0},
    {"v12", 12040, 28, 0},
    {"v13", 13000, 30, 0},
    {"future", 99090, 30, CUSHIM_REMARK_NEWER_THAN_REGISTRY},
#ifndef _WIN32 /* ELF's */
    {"hash_sysv", 12040, 28, 0},
#endif
    {"init_aborts", 12040, 28, 0},
    {"proc_fails", 12040, 28, 0},
    {"proc_garbage", 12040, 28, 0},
    {"proc_lies", 12040, 28, CUSHIM_REMARK_INTERPOSED},
    {"proc_denies", 12040, 28, 0},
    {"proc_scribbles", 12040, 28, 0},
    {"proc_moody", 12040, 28, CUSHIM_REMARK_INTERPOSED},
    {"proc_constant", 12040, 28, CUSHIM_REMARK_INTERPOSED},
    {"proc_v1_fails", 11040, 25, 0},
    {"proc_v1_garbage", 11040, 25, CUSHIM_REMARK_INTERPOSED},
};

static void check_driver(const struct driver *driver, enum cushim_order order)
{
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "%s", fake_path(driver->fake));
    struct fake_control *control = fake_control(path);
    unsigned inits = control->init_calls, asked = control->proc_calls;
    const struct cushim_api *cu = open_with(driver->fake, order, false);

    assert_int_equal(cushim_driver_version(cu), driver->version);
    assert_true(assert_exact(cu, path) >= driver->least);
    unsigned told = cushim_remarks(cu) & ~(unsigned)CUSHIM_REMARK_INTERPOSED;
    assert_int_equal(told, driver->remarks & ~(unsigned)CUSHIM_REMARK_INTERPOSED);
    if (order == CUSHIM_ORDER_DEFAULT)
        assert_int_equal(cushim_remarks(cu), driver->remarks);
    if (order == CUSHIM_ORDER_SYMBOLS) {
        assert_int_equal(control->proc_calls, asked);
        assert_int_equal(cushim_remarks(cu) & CUSHIM_REMARK_INTERPOSED, 0);
    }
    assert_true(control->newest_asked <= driver->version);
    assert_int_equal(control->init_calls, inits);

    assert_contains(cushim_message(cu), cushim_path(cu));
    assert_contains(cushim_path(cu), driver->fake);
    assert_missing_tell(cu);
    if (strcmp(driver->fake, "init_aborts") != 0)
        assert_calls_arrive(cu, path);
    cushim_close(cu);
    assert_good_driver_loads();
}

static void check_in_child(void *driver)
{
    check_driver(driver, CUSHIM_ORDER_DEFAULT);
    check_driver(driver, CUSHIM_ORDER_SYMBOLS);
}

static void test_driver(void **state)
{
    run_in_child(check_in_child, *state, NULL);
}

/* ---- which route ---- */

static enum cushim_via via(const struct cushim_api *cu, const char *symbol)
{
    return cushim_slot_at(cu, entry_index(symbol)).via;
}

static void test_routes(void **state)
{
    static const char *const symbols[] = {"cuMemAlloc", "cuMemAlloc_v2", "cuCtxCreate_v3",
                                          "cuLaunchKernel_ptsz", "cuMemcpyHtoD_v2_ptds"};
    (void)state;
    const struct cushim_api *proc = open_with("v12", CUSHIM_ORDER_DEFAULT, false);
    const struct cushim_api *only = open_with("v12", CUSHIM_ORDER_SYMBOLS, false);
    const struct cushim_api *broken = open_with("proc_fails", CUSHIM_ORDER_DEFAULT, false);
    for (size_t i = 0; i < COUNT(symbols); i++) {
        assert_int_equal(via(proc, symbols[i]), CUSHIM_VIA_PROC);
        assert_int_equal(via(only, symbols[i]), CUSHIM_VIA_DLSYM);
        assert_int_equal(via(broken, symbols[i]), CUSHIM_VIA_DLSYM);
    }
    assert_int_equal(via(proc, "cuCtxCreate_v4"), CUSHIM_VIA_NONE);
    cushim_close(proc);
    cushim_close(only);
    cushim_close(broken);
}

/* A driver's own look-up is asked with the entry's own version, never a newer one. */
static void test_asked_with_own_version(void **state)
{
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "%s", fake_path("v12"));
    struct fake_control *control = fake_control(path);
    (void)state;
    control->newest_asked = 0;
    unsigned before = control->proc_calls;
    cushim_close(open_with("v12", CUSHIM_ORDER_DEFAULT, false));
    assert_true(control->proc_calls > before);
    assert_true(control->newest_asked > 0 && control->newest_asked <= 12040);
}

/* ---- versions that do not fit what is exported ---- */

struct disguise {
    const char *fake;
    int version; /* that it says */
};

static void open_disguised(const struct disguise *disguise, const struct cushim_api **cu,
                           char *path)
{
    snprintf(path, PATH_SIZE, "%s", fake_path(disguise->fake));
    fake_control(path)->version = disguise->version;
    *cu = open_with(disguise->fake, CUSHIM_ORDER_DEFAULT, false);
    assert_int_equal(cushim_driver_version(*cu), disguise->version);
}

/*
 * It says 13.0 and lacks what 12.5 and 13.0 added. Its look-up then hands back the older ABI for
 * the newer request, and calls that a success.
 */
static void lacks_newer_abi(void *unused)
{
    static const char *const missing[] = {"cuCtxCreate_v4", "cuCtxSynchronize_v2"};
    char path[PATH_SIZE];
    const struct cushim_api *cu;
    (void)unused;
    open_disguised(&(struct disguise){"v12", 13000}, &cu, path);
    for (size_t i = 0; i < COUNT(missing); i++) {
        enum cushim_state why = CUSHIM_STATE_UNKNOWN;
        cushim_reason(cu, missing[i], &why, NULL, 0);
        assert_int_equal(why, CUSHIM_STATE_ABSENT);
    }
    assert_exact(cu, path);
    assert_missing_tell(cu);
    assert_int_equal(cushim_remarks(cu), 0); /* as every driver does: it is not broken */
    CUcontext context = NULL;
    assert_int_equal(cu->cuCtxCreate_v4(&context, NULL, 0, 0), CUDA_ERROR_NOT_SUPPORTED);
    cushim_close(cu);
}

/* The same through the four-argument look-up. */
static void lacks_newer_abi_v1(void *unused)
{
    char path[PATH_SIZE];
    const struct cushim_api *cu;
    (void)unused;
    open_disguised(&(struct disguise){"v11", 12040}, &cu, path);
    assert_exact(cu, path);
    assert_false(cushim_has(cu, "cuGetProcAddress_v2"));
    assert_false(cushim_has(cu, "cuMemPrefetchAsync_v2"));
    assert_missing_tell(cu);
    cushim_close(cu);
}

/* It says 11.4 and exports what came later: its version decides, for a hook may have put it there.
 */
static void exports_the_future(void *unused)
{
    char path[PATH_SIZE];
    const struct cushim_api *cu;
    struct fake_control *control = fake_control(fake_path("v13"));
    (void)unused;
    control->newest_asked = 0;
    open_disguised(&(struct disguise){"v13", 11040}, &cu, path);
    assert_int_equal(via(cu, "cuCtxCreate_v3"), CUSHIM_VIA_PROC);
    assert_int_equal(via(cu, "cuCtxCreate_v4"), CUSHIM_VIA_NONE);
    assert_int_equal(cu->cuCtxCreate_v4(NULL, NULL, 0, 0), CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER);
    assert_true(control->newest_asked <= 11040);
    cushim_close(cu);
}

/* Before 11.3 there is no look-up to trust, even where there is one by that name. */
static void too_old_to_ask(void *unused)
{
    char path[PATH_SIZE];
    const struct cushim_api *cu;
    struct fake_control *control = fake_control(fake_path("v12"));
    (void)unused;
    unsigned before = control->proc_calls;
    open_disguised(&(struct disguise){"v12", 11020}, &cu, path);
    assert_int_equal(control->proc_calls, before);
    assert_int_equal(via(cu, "cuCtxCreate_v2"), CUSHIM_VIA_DLSYM);
    assert_int_equal(via(cu, "cuCtxCreate_v3"), CUSHIM_VIA_NONE);
    assert_int_equal(cushim_remarks(cu), 0);
    cushim_close(cu);
}

static void test_lacks_newer_abi(void **state)
{
    (void)state;
    run_in_child(lacks_newer_abi, NULL, NULL);
}

static void test_lacks_newer_abi_v1(void **state)
{
    (void)state;
    run_in_child(lacks_newer_abi_v1, NULL, NULL);
}

static void test_exports_the_future(void **state)
{
    (void)state;
    run_in_child(exports_the_future, NULL, NULL);
}

static void test_too_old_to_ask(void **state)
{
    (void)state;
    run_in_child(too_old_to_ask, NULL, NULL);
}

/* ---- per-thread default stream ---- */

static const char *const twins[][2] = {
    {"cuStreamQuery", "cuStreamQuery_ptsz"},
    {"cuLaunchKernel", "cuLaunchKernel_ptsz"},
    {"cuMemcpyHtoD_v2", "cuMemcpyHtoD_v2_ptds"},
    {"cuStreamBeginCapture", "cuStreamBeginCapture_ptsz"},
    {"cuStreamBeginCapture_v2", "cuStreamBeginCapture_v2_ptsz"},
};

static void assert_twins(const struct cushim_api *cu, const char *path, bool per_thread)
{
    for (size_t i = 0; i < COUNT(twins); i++) {
        void *plain = table_slot(cu, entry_index(twins[i][0]));
        assert_ptr_equal(plain, exported(path, twins[i][per_thread ? 1 : 0]));
    }
    assert_ptr_equal(table_slot(cu, entry_index("cuMemAlloc_v2")), exported(path, "cuMemAlloc_v2"));
}

static void test_per_thread(void **state)
{
    static const char *const names[] = {"v10", "v11", "v12", "proc_fails"};
    (void)state;
    for (size_t i = 0; i < COUNT(names); i++) {
        for (int order = CUSHIM_ORDER_DEFAULT; order <= CUSHIM_ORDER_SYMBOLS; order++) {
            const struct cushim_api *cu = open_with(names[i], (enum cushim_order)order, true);
            assert_int_equal(cushim_remarks(cu) & CUSHIM_REMARK_NO_PER_THREAD_STREAM, 0);
            assert_twins(cu, fake_path(names[i]), true);
            assert_ptr_equal(table_slot(cu, entry_index("cuStreamQuery_ptsz")),
                             exported(fake_path(names[i]), "cuStreamQuery_ptsz"));
            cushim_close(cu);
            cu = open_with(names[i], (enum cushim_order)order, false);
            assert_twins(cu, fake_path(names[i]), false);
            cushim_close(cu);
        }
    }
}

static void test_per_thread_too_old(void **state)
{
    (void)state;
    const struct cushim_api *cu = open_with("v6", CUSHIM_ORDER_DEFAULT, true);
    assert_int_equal(cushim_remarks(cu), CUSHIM_REMARK_NO_PER_THREAD_STREAM);
    assert_mentions(cushim_message(cu), "per-thread");
    assert_exact(cu, fake_path("v6"));
    cushim_close(cu);
}

static void *all_but_one(void *user, const char *symbol)
{
    const char *denied = user;
    if (strcmp(symbol, denied) == 0 || strncmp(symbol, "cuGetProcAddress", 16) == 0)
        return NULL;
    return exported(fake_path("v12"), symbol);
}

/* One twin is missing: then no slot takes its twin, for half would order nothing. */
static void test_per_thread_all_or_none(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(twins); i++) {
        char denied[64];
        struct cushim_options options = defaults();
        snprintf(denied, sizeof denied, "%s", twins[i][1]);
        options.resolver = all_but_one;
        options.user = denied;
        options.per_thread_default_stream = true;
        const struct cushim_api *cu = cushim_open(&options);
        assert_sound(cu);
        assert_int_equal(cushim_status(cu), CUSHIM_OK);
        assert_true(cushim_remarks(cu) & CUSHIM_REMARK_NO_PER_THREAD_STREAM);
        assert_twins(cu, fake_path("v12"), false);
        cushim_close(cu);
    }
}

/* ---- typed calls ---- */

static void test_typed_calls(void **state)
{
    struct fake_control *control = fake_control(fake_path("v12"));
    int version = 0;
    (void)state;
    const struct cushim_api *cu = open_with("v12", CUSHIM_ORDER_DEFAULT, false);
    assert_int_equal(cu->cuDriverGetVersion(&version), CUDA_SUCCESS);
    assert_int_equal(version, 12040);
    control->init_code = CUDA_ERROR_NO_DEVICE;
    unsigned before = control->init_calls;
    assert_int_equal(cu->cuInit(0), CUDA_ERROR_NO_DEVICE);
    assert_int_equal(control->init_calls, before + 1);
    control->init_code = CUDA_SUCCESS;
    cushim_close(cu);
}

static struct CMUnitTest tests[64];

/* One wrong answer, about a name with one ABI: the driver's own function for another entry. */
static void test_wrong_about_one(void **state)
{
    (void)state;
    for (int order = 0; order <= CUSHIM_ORDER_SYMBOLS; order++) {
        const struct cushim_api *cu = open_with("proc_single", (enum cushim_order)order, false);
        assert_ptr_equal(table_slot(cu, entry_index("cuDeviceGetCount")),
                         exported(cushim_path(cu), "cuDeviceGetCount"));
        assert_int_equal(cushim_remarks(cu),
                         order == CUSHIM_ORDER_DEFAULT ? CUSHIM_REMARK_INTERPOSED : 0);
        cushim_close(cu);
    }
}

int main(void)
{
    static const struct CMUnitTest others[] = {
        cmocka_unit_test(test_routes),
        cmocka_unit_test(test_wrong_about_one),
        cmocka_unit_test(test_asked_with_own_version),
        cmocka_unit_test(test_lacks_newer_abi),
        cmocka_unit_test(test_lacks_newer_abi_v1),
        cmocka_unit_test(test_exports_the_future),
        cmocka_unit_test(test_too_old_to_ask),
        cmocka_unit_test(test_per_thread),
        cmocka_unit_test(test_per_thread_too_old),
        cmocka_unit_test(test_per_thread_all_or_none),
        cmocka_unit_test(test_typed_calls),
    };
    size_t count = 0;
    for (; count < COUNT(drivers); count++)
        tests[count] = (struct CMUnitTest){drivers[count].fake, test_driver, NULL, NULL,
                                           (void *)(uintptr_t)&drivers[count]};
    for (size_t i = 0; i < COUNT(others); i++)
        tests[count++] = others[i];
    return _cmocka_run_group_tests("resolve", tests, count, NULL, NULL);
}
