/* SPDX-License-Identifier: MIT */
/* A driver's look-up: what it answers about entries that the driver does not export, about those
 * that it does, and about what no registry has. */
#include <stdio.h>
#include <string.h>

#include "fake_silent.h"
#include "loader/registry.h"

/* What cuGetProcAddress_v2 answers, and what is not exported. */
static struct {
    const char *names[2]; /* it answers these otherwise than an honest one */
    int versions[2];      /* not 0: of these releases alone */
    int version, calls, status;
    CUresult code;
    void *answer;
    size_t hidden[2]; /* entries that it has, and does not export */
    bool bare;        /* it exports the least that a driver has */
} asked;

static CUresult CUDAAPI newest_version(int *version)
{
    *version = silent.version;
    return CUDA_SUCCESS;
}

static void *address_of(silent_fn *function)
{
    void *address;
    memcpy(&address, &function, sizeof address);
    return address;
}

static CUresult CUDAAPI answer_v2(const char *name, void **function, int version, cuuint64_t flags,
                                  CUdriverProcAddressQueryResult *status);

/* Each entry is another address, of the program's own code. It has the second form of the look-up
 * alone. */
static void *distinct(size_t index)
{
    char symbol[CUSHIM_SYMBOL_SIZE];
    cushim_registry_symbol(index, symbol);
    if (strcmp(symbol, "cuDriverGetVersion") == 0)
        return address_of((silent_fn *)newest_version);
    if (strcmp(symbol, "cuGetProcAddress") == 0)
        return NULL;
    return strcmp(symbol, "cuGetProcAddress_v2") == 0
               ? address_of((silent_fn *)answer_v2)
               : (char *)address_of((silent_fn *)open_path) + index;
}

/* Of the registry's names it is honest: the newest ABI up to the version. */
static CUresult CUDAAPI answer_v2(const char *name, void **function, int version, cuuint64_t flags,
                                  CUdriverProcAddressQueryResult *status)
{
    struct cushim_entry entry;
    size_t newest = CUSHIM_ENTRY_COUNT;
    asked.calls++;
    asked.version = version;
    for (size_t i = 0; i < COUNT(asked.names); i++)
        if (asked.names[i] && strcmp(name, asked.names[i]) == 0 &&
            (!asked.versions[i] || asked.versions[i] == version)) {
            *function = asked.answer;
            *status = (CUdriverProcAddressQueryResult)asked.status;
            return asked.code;
        }
    for (size_t i = 0; cushim_entry_at(i, &entry); i++)
        if (strcmp(entry.name, name) == 0 && entry.since <= version &&
            (newest == CUSHIM_ENTRY_COUNT || entry.since > cushim_registry_since(newest)) &&
            (entry.stream != CUSHIM_STREAM_LEGACY) ==
                (flags == CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM))
            newest = i;
    *function = newest < CUSHIM_ENTRY_COUNT ? distinct(newest) : NULL;
    *status = *function ? CU_GET_PROC_ADDRESS_SUCCESS : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    return CUDA_SUCCESS;
}

static void *resolve_distinct(void *user, const char *symbol)
{
    const size_t index = cushim_registry_find(symbol);
    const bool least = strcmp(symbol, "cuDriverGetVersion") == 0 || strcmp(symbol, "cuInit") == 0;
    (void)user;
    if (index == CUSHIM_ENTRY_COUNT || index == asked.hidden[0] || index == asked.hidden[1] ||
        (asked.bare && !least))
        return NULL;
    return distinct(index);
}

static void be_honest(void)
{
    asked = (__typeof__(asked)){.status = CU_GET_PROC_ADDRESS_SUCCESS,
                                .hidden = {CUSHIM_ENTRY_COUNT, CUSHIM_ENTRY_COUNT}};
}

static const struct cushim_api *open_with(int version, bool per_thread)
{
    struct cushim_options options = defaults();
    silent.version = version;
    options.resolver = resolve_distinct;
    options.per_thread_default_stream = per_thread;
    const struct cushim_api *cu = cushim_open(&options);
    assert_int_equal(cushim_status(cu), CUSHIM_OK);
    assert_sound(cu);
    return cu;
}

static const struct cushim_api *open_distinct(int version)
{
    be_honest();
    const struct cushim_api *cu = open_with(version, false);
    assert_int_equal(cushim_remarks(cu) & CUSHIM_REMARK_INTERPOSED, 0);
    return cu;
}

/* ---- about what no registry has */

/* It is not believed if it is an entry's own address, be it the first one's or the last one's. */
static void test_other_entry(void **state)
{
    const size_t indices[] = {0, 1, CUSHIM_ENTRY_COUNT - 1};
    enum cushim_proc_status why;
    (void)state;
    for (size_t i = 0; i < COUNT(indices); i++) {
        const struct cushim_api *cu = open_distinct(99000);
        asked.names[0] = "cuOfTomorrow";
        asked.answer = distinct(indices[i]);
        assert_null(cushim_proc(cu, "cuOfTomorrow", 99000, CUSHIM_STREAM_LEGACY, &why));
        assert_int_equal(why, CUSHIM_PROC_NOT_FOUND);
        asked.answer = address_of((silent_fn *)test_other_entry);
        assert_ptr_equal(cushim_proc(cu, "cuOfTomorrow", 99000, CUSHIM_STREAM_LEGACY, &why),
                         asked.answer);
        assert_int_equal(why, CUSHIM_PROC_UNVERIFIED);
        assert_int_equal(asked.version, 99000);
        asked.status = CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT;
        assert_null(cushim_proc(cu, "cuOfTomorrow", 99000, CUSHIM_STREAM_LEGACY, &why));
        asked.status = CU_GET_PROC_ADDRESS_SUCCESS;
        asked.code = CUDA_ERROR_INVALID_VALUE;
        assert_null(cushim_proc(cu, "cuOfTomorrow", 99000, CUSHIM_STREAM_LEGACY, &why));
        cushim_close(cu);
    }
}

/* What the registry knows is not asked: up to its own release, or of a driver that is no newer. */
static void test_told(void **state)
{
    static const struct {
        int driver, version; /* beyond the registry's own */
        bool asks;
    } rows[] = {{0, 0, false}, {0, 10, false}, {10, 0, false}, {10, 10, true}, {-10, 10, false}};
    enum cushim_proc_status why;
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct cushim_api *cu = open_distinct(CUSHIM_REGISTRY_VERSION + rows[i].driver);
        asked.calls = 0;
        cushim_proc(cu, "cuDeviceGet", CUSHIM_REGISTRY_VERSION + rows[i].version,
                    CUSHIM_STREAM_LEGACY, &why);
        assert_int_equal(asked.calls, rows[i].asks);
        assert_int_equal(cushim_remarks(cu) & CUSHIM_REMARK_NEWER_THAN_REGISTRY,
                         rows[i].driver > 0 ? CUSHIM_REMARK_NEWER_THAN_REGISTRY : 0);
        cushim_close(cu);
    }
}

/* ---- about entries */

/* Each entry by its name, release and stream, be it the first or the last. */
static void test_every_entry(void **state)
{
    struct cushim_entry entry;
    const struct cushim_api *cu = open_distinct(99000);
    (void)state;
    for (size_t i = 0; cushim_entry_at(i, &entry); i++) {
        enum cushim_proc_status why;
        const bool elsewhere = cushim_registry_is_elsewhere(i);
        void *wanted = elsewhere ? NULL : resolve_distinct(NULL, entry.symbol);
        void *found = cushim_proc(cu, entry.name, entry.since, entry.stream, &why);
        assert_ptr_equal(found, wanted);
        assert_true((why == CUSHIM_PROC_EXACT) == !!wanted);
    }
    cushim_close(cu);
}

/* The look-up with five arguments is of 12.0; what an older driver exports under its name is not
 * called. */
static void test_first_release(void **state)
{
    (void)state;
    for (int version = 11990; version <= 12000; version += 10) {
        const struct cushim_api *cu = open_distinct(version);
        assert_true((asked.calls > 0) == (version == 12000));
        cushim_close(cu);
    }
}

/* An honest answer about what is not exported counts, from the entry's own release on. */
static void test_hidden(void **state)
{
    const size_t newest = entry_index("cuCtxCreate_v4");
    const size_t pairs[][2] = {{newest, CUSHIM_ENTRY_COUNT}, {0, newest}, {0, 1}, {newest, 7}};
    (void)state;
    for (size_t i = 0; i < COUNT(pairs); i++)
        for (int above = -10; above <= 10; above += 10) {
            be_honest();
            memcpy(asked.hidden, pairs[i], sizeof asked.hidden);
            const struct cushim_api *cu = open_with(12050 + above, false);
            assert_int_equal(cushim_remarks(cu) & CUSHIM_REMARK_INTERPOSED, 0);
            for (int k = 0; k < 2 && pairs[i][k] < CUSHIM_ENTRY_COUNT; k++) {
                const struct cushim_slot slot = cushim_slot_at(cu, pairs[i][k]);
                const bool early = pairs[i][k] == newest && above < 0;
                assert_int_equal(slot.state, early ? CUSHIM_STATE_NEWER : CUSHIM_STATE_AVAILABLE);
                assert_ptr_equal(slot.address, early ? NULL : distinct(pairs[i][k]));
                assert_int_equal(slot.via, early ? CUSHIM_VIA_NONE : CUSHIM_VIA_PROC);
            }
            cushim_close(cu);
        }
}

/* Another entry's address is none, and no fault: drivers answer with an older ABI. */
static void test_hidden_and_older(void **state)
{
    const size_t hidden = entry_index("cuDeviceGetAttribute"),
                 others[] = {0, 1, entry_index("cuCtxCreate_v4")};
    (void)state;
    for (size_t i = 0; i < COUNT(others); i++) {
        be_honest();
        asked.hidden[0] = hidden;
        asked.names[0] = "cuDeviceGetAttribute";
        asked.answer = distinct(others[i]);
        const struct cushim_api *cu = open_with(12050, false);
        assert_int_equal(cushim_slot_at(cu, hidden).state, CUSHIM_STATE_ABSENT);
        assert_int_equal(cushim_remarks(cu) & CUSHIM_REMARK_INTERPOSED, 0);
        cushim_close(cu);
    }
}

/* One function for two entries is wrong for one of them: neither counts. */
static void test_hidden_and_same(void **state)
{
    const size_t attribute = entry_index("cuDeviceGetAttribute"),
                 name = entry_index("cuDeviceGetName");
    const size_t low = attribute < name ? attribute : name,
                 high = attribute < name ? name : attribute;
    const size_t pairs[][2] = {{0, 1}, {0, low}, {0, high}, {low, high}};
    (void)state;
    assert_true(low > 1);
    for (size_t i = 0; i < COUNT(pairs); i++) {
        struct cushim_entry entries[2];
        be_honest();
        memcpy(asked.hidden, pairs[i], sizeof asked.hidden);
        for (size_t k = 0; k < 2; k++) {
            assert_true(cushim_entry_at(pairs[i][k], &entries[k]));
            asked.names[k] = entries[k].name;
            asked.versions[k] = entries[k].since; /* other ABIs of the name are exported */
        }
        asked.answer = address_of((silent_fn *)test_hidden_and_same);
        const struct cushim_api *cu = open_with(12050, false);
        assert_int_equal(cushim_remarks(cu), 0);
        for (size_t k = 0; k < 2; k++) {
            assert_int_equal(cushim_slot_at(cu, pairs[i][k]).state, CUSHIM_STATE_ABSENT);
            assert_int_equal(cushim_slot_at(cu, pairs[i][k]).via, CUSHIM_VIA_NONE);
        }
        cushim_close(cu);
    }
}

/* What a driver has, counted, and its releases. */
static void test_message(void **state)
{
    static const struct {
        int version;
        const char *text;
    } rows[] = {{12340, "12.34"}, {99000, "99.0"}, {CUSHIM_REGISTRY_VERSION, NULL}};
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        char own[32], newer[96] = "", wanted[256];
        int available = 0;
        const struct cushim_api *cu = open_distinct(rows[i].version);
        snprintf(own, sizeof own, "%d.%d", CUSHIM_REGISTRY_VERSION / 1000,
                 CUSHIM_REGISTRY_VERSION / 10 % 100);
        for (size_t k = 0; k < CUSHIM_ENTRY_COUNT; k++)
            available += cushim_slot_at(cu, k).state == CUSHIM_STATE_AVAILABLE;
        if (rows[i].version == 99000)
            snprintf(newer, sizeof newer, "; newer than CUDA %s, the newest this build knows", own);
        snprintf(wanted, sizeof wanted, ": CUDA %s, %d of %d entries%s",
                 rows[i].text ? rows[i].text : own, available, CUSHIM_ENTRY_COUNT, newer);
        const char *from = strstr(cushim_message(cu), ": CUDA");
        assert_non_null(from);
        assert_string_equal(from, wanted);
        cushim_close(cu);
    }
}

/* ---- per-thread streams */

/* A legacy slot tells the way by which its twin was found. */
static void test_way_of_twin(void **state)
{
    const size_t legacy = entry_index("cuStreamQuery"), twin = entry_index("cuStreamQuery_ptsz");
    (void)state;
    for (int denied = 0; denied < 2; denied++) {
        be_honest();
        asked.names[0] = denied ? "cuStreamQuery" : NULL;
        const struct cushim_api *cu = open_with(12050, true);
        assert_int_equal(cushim_remarks(cu), 0);
        assert_ptr_equal(cushim_slot_at(cu, legacy).address, distinct(twin));
        assert_int_equal(cushim_slot_at(cu, legacy).via,
                         denied ? CUSHIM_VIA_DLSYM : CUSHIM_VIA_PROC);
        cushim_close(cu);
    }
}

/* A tool's one function for both default streams is both entries', as far as they are exported.
 * This one lies in no library. */
static void test_one_for_both_streams(void **state)
{
    const size_t legacy = entry_index("cuLaunchKernel"), twin = entry_index("cuLaunchKernel_ptsz");
    char *tool = test_malloc(1);
    (void)state;
    for (int hidden = 0; hidden < 2; hidden++) {
        be_honest();
        asked.names[0] = "cuLaunchKernel";
        asked.answer = tool;
        asked.hidden[0] = hidden ? twin : CUSHIM_ENTRY_COUNT;
        const struct cushim_api *cu = open_with(12050, false);
        assert_int_equal(cushim_remarks(cu), CUSHIM_REMARK_INTERPOSED);
        assert_ptr_equal(cushim_slot_at(cu, legacy).address, asked.answer);
        assert_ptr_equal(cushim_slot_at(cu, twin).address, hidden ? NULL : asked.answer);
        cushim_close(cu);
    }
    test_free(tool);
}

/* Without a single twin there is no per-thread stream. */
static void test_no_twins(void **state)
{
    (void)state;
    be_honest();
    asked.bare = true;
    const struct cushim_api *cu = open_with(12050, true);
    assert_int_equal(cushim_remarks(cu), CUSHIM_REMARK_NO_PER_THREAD_STREAM);
    cushim_close(cu);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_other_entry),
        cmocka_unit_test(test_told),
        cmocka_unit_test(test_every_entry),
        cmocka_unit_test(test_first_release),
        cmocka_unit_test(test_hidden),
        cmocka_unit_test(test_hidden_and_older),
        cmocka_unit_test(test_hidden_and_same),
        cmocka_unit_test(test_way_of_twin),
        cmocka_unit_test(test_no_twins),
        cmocka_unit_test(test_message),
        cmocka_unit_test(test_one_for_both_streams),
    };
    return cmocka_run_group_tests_name("answers", tests, NULL, NULL);
}
