/* SPDX-License-Identifier: MIT */
/* Which driver runs which toolkit, by release and by the driver's version. */
#include <string.h>

#include <cushim/compat.h>

#include "common.h"

static void test_runs(void **state)
{
    (void)state;
    static const struct {
        int driver, version;
        enum cushim_runs runs;
    } rows[] = {
        {12040, 12040, CUSHIM_RUNS},          {12040, 12000, CUSHIM_RUNS},
        {12040, 6050, CUSHIM_RUNS},           {12040, 12050, CUSHIM_RUNS_LIMITED},
        {12040, 12090, CUSHIM_RUNS_LIMITED},  {12040, 13000, CUSHIM_RUNS_NOT},
        {11080, 12000, CUSHIM_RUNS_NOT},      {11000, 11080, CUSHIM_RUNS_LIMITED},
        {10000, 10010, CUSHIM_RUNS_NOT}, /* before 11 each toolkit takes its own driver */
        {10020, 11000, CUSHIM_RUNS_NOT},      {13000, 13050, CUSHIM_RUNS_LIMITED},
        {0, 12040, CUSHIM_RUNS_NO_DRIVER},    {-1, 12040, CUSHIM_RUNS_NO_DRIVER},
        {12040, 0, CUSHIM_RUNS_INVALID},      {12040, 12041, CUSHIM_RUNS_INVALID},
        {12040, -12040, CUSHIM_RUNS_INVALID}, {12040, 12, CUSHIM_RUNS_INVALID},
    };
    for (size_t i = 0; i < COUNT(rows); i++)
        assert_int_equal(cushim_release_runs(rows[i].driver, rows[i].version), rows[i].runs);
}

static void test_driver(void **state)
{
    (void)state;
    const struct cushim_api *cu = open_path(fake_path(GOOD));
    const struct cushim_api *none = open_path("/nonexistent/libcuda.so.1");
    assert_int_equal(cushim_driver_runs(cu, GOOD_VERSION), CUSHIM_RUNS);
    assert_int_equal(cushim_driver_runs(cu, GOOD_VERSION + 10), CUSHIM_RUNS_LIMITED);
    assert_int_equal(cushim_driver_runs(cu, 13000), CUSHIM_RUNS_NOT);
    assert_int_equal(cushim_driver_runs(none, 12000), CUSHIM_RUNS_NO_DRIVER);
    assert_int_equal(cushim_driver_runs(NULL, 12000), CUSHIM_RUNS_NO_DRIVER);
    cushim_close(cu);
    cushim_close(none);
}

static void test_ptx(void **state)
{
    (void)state;
    assert_int_equal(cushim_release_ptx(12040), 84);
    assert_int_equal(cushim_release_ptx(12060), 85);
    assert_int_equal(cushim_release_ptx(13000), 90);
    assert_int_equal(cushim_release_ptx(99000), 0);
    assert_int_equal(cushim_ptx_release(84), 12040);
    assert_int_equal(cushim_ptx_release(85), 12050);
    assert_int_equal(cushim_ptx_release(32), 6050); /* the oldest known takes all before it */
    assert_int_equal(cushim_ptx_release(999), 0);
    assert_int_equal(cushim_capability_release(90), 11080);
    assert_int_equal(cushim_capability_release(75), 10000);
    assert_int_equal(cushim_capability_release(20), 6050);
    assert_int_equal(cushim_capability_release(33), 0);
}

static void test_driver_release(void **state)
{
    (void)state;
    static const struct {
        const char *version;
        int release;
    } rows[] = {
        {"550.163.01", 12040},
        {"550.54.14", 12040},
        {"535.261.03", 12020},
        {"525.60.13", 12000},
        {"470.256.02", 11040},
        {"565.57.01", 12070},
        {"580.159.04", 13000},
        {"340.108", 6050},
        {"390.157", 9010},
        {"390.25", 9010},
        {"390.45", 9010},
        {"387.26", 9010},
        {"384.130", 9000},
        {"396.24", 9020},
        {"410.48", 10000},
        {"450.36.06", 11000},
        {"450.51.06", 11000},
        {"455.23.05", 11010},
        {"375.26", 8000},
        {"610.43.02", 13030},
        {"615.1", 13040}, /* by its branch alone */
        {"999.1", 13040}, /* later than all that are known */
        {"304.1", 0},
        {"", 0},
        {"550", 0},
        {"550.", 0},
        {"550.1.2.3", 0},
        {".550", 0},
        {"550.a", 0},
        {"-550.1", 0},
    };
    for (size_t i = 0; i < COUNT(rows); i++)
        assert_int_equal(cushim_driver_release(rows[i].version), rows[i].release);
    assert_int_equal(cushim_driver_release(NULL), 0);
}

static void test_linux_driver(void **state)
{
    (void)state;
    static const struct {
        const char *driver;
        int version;
        enum cushim_runs runs;
    } rows[] = {
        {"450.36.06", 11000, CUSHIM_RUNS},
        {"450.36.06", 11010, CUSHIM_RUNS_NOT},
        {"450.51.05", 11080, CUSHIM_RUNS_NOT},
        {"450.51.06", 11040, CUSHIM_RUNS_NOT},
        {"450.66", 11010, CUSHIM_RUNS_NOT},
        {"450.80.02", 11010, CUSHIM_RUNS_LIMITED},
        {"450.248.02", 11080, CUSHIM_RUNS_LIMITED},
        {"450.80.02", 12000, CUSHIM_RUNS_NOT},
        {"450.51.06", 10020, CUSHIM_RUNS},
        {"525.60.13", 12090, CUSHIM_RUNS_LIMITED},
        {"525.53", 12000, CUSHIM_RUNS},
        {"525.53", 12010, CUSHIM_RUNS_NOT},
        {"580.65.06", 13010, CUSHIM_RUNS_LIMITED},
        {"580.41", 13010, CUSHIM_RUNS_NOT},
        {"550.163.01", 12040, CUSHIM_RUNS},
        {"304.1", 6050, CUSHIM_RUNS_NO_DRIVER},
        {"new", 12000, CUSHIM_RUNS_NO_DRIVER},
        {NULL, 12000, CUSHIM_RUNS_NO_DRIVER},
        {"550.163.01", 12, CUSHIM_RUNS_INVALID},
    };
    for (size_t i = 0; i < COUNT(rows); i++)
        assert_int_equal(cushim_driver_runs_linux(rows[i].driver, rows[i].version), rows[i].runs);
}

static void test_toolkits(void **state)
{
    (void)state;
    struct cushim_toolkit toolkit = {.size = sizeof toolkit};
    int before = 0;
    size_t count = 0;
    for (; cushim_toolkit_at(count, &toolkit); count++) {
        assert_true(toolkit.release * 100 + toolkit.update > before);
        before = toolkit.release * 100 + toolkit.update;
        assert_int_equal(cushim_driver_release(toolkit.linux_driver), toolkit.release);
    }
    assert_true(count > 50);
    assert_false(cushim_toolkit_at(count, &toolkit));
    assert_false(cushim_toolkit_at(0, NULL));
    toolkit.size = sizeof toolkit - 1;
    assert_false(cushim_toolkit_at(0, &toolkit));
}

static void test_family(void **state)
{
    (void)state;
    const char *linux_driver = NULL, *windows_driver = "";
    assert_true(cushim_family_floor(12, &linux_driver, &windows_driver));
    assert_string_equal(linux_driver, "525.60.13");
    assert_string_equal(windows_driver, "528.33");
    assert_true(cushim_family_floor(13, NULL, &windows_driver));
    assert_null(windows_driver);
    assert_false(cushim_family_floor(10, &linux_driver, NULL));
    assert_true(cushim_release_has_compat(12040));
    assert_false(cushim_release_has_compat(9020));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_runs),         cmocka_unit_test(test_driver),
        cmocka_unit_test(test_ptx),          cmocka_unit_test(test_driver_release),
        cmocka_unit_test(test_linux_driver), cmocka_unit_test(test_toolkits),
        cmocka_unit_test(test_family),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
