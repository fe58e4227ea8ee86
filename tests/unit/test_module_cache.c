/* SPDX-License-Identifier: MIT */
/* The cache of cubins: keys, damage, concurrent processes, folders that cannot be used. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <utime.h>

#include "../../src/module_internal.h"
#include "test_module_fake.h"

enum { PROCESSES = 8, ROUNDS = 40 };

static struct cushim_cubin_cache cache;
static struct cushim_jit_options options;
static char folder[PATH_SIZE];

static const struct cushim_api *begin(int version)
{
    const struct cushim_api *cu = module_fake_open(version);
    make_folder();
    snprintf(folder, sizeof folder, "%s", in_folder("a/b/cubin"));
    cache = (struct cushim_cubin_cache){.size = sizeof cache, .folder = folder};
    options = (struct cushim_jit_options){.size = sizeof options, .cache = &cache};
    return cu;
}

static void end(const struct cushim_api *cu)
{
    assert_int_equal(module_fake.modules + module_fake.links, 0);
    remove_folder();
    cushim_close(cu);
}

/* Load PTX with this kernel, and unload it; what the cache did. */
static enum cushim_cache_outcome load(const struct cushim_api *cu, const char *kernel, char *note)
{
    struct cushim_jit_result result;
    CUmodule module = NULL;
    CUfunction function = NULL;
    const char *ptx = module_fake_ptx("7.0", "sm_70", kernel);
    CUresult code = cushim_module_load(cu, ptx, strlen(ptx), &options, &result, &module);
    if (code != CUDA_SUCCESS)
        fail_msg("%s", cushim_last_error());
    assert_int_equal(cushim_module_function(cu, module, kernel, &function), 0);
    assert_int_equal(cushim_module_unload(cu, module), 0);
    if (note)
        snprintf(note, TEXT_SIZE, "%s", result.cache_note);
    enum cushim_cache_outcome outcome = result.cache;
    cushim_jit_result_release(&result);
    return outcome;
}

/* Number of entries, or of other files; the path of the last one. */
static int files(const char *ending, char *path)
{
    int count = 0;
    DIR *open = opendir(folder);
    for (struct dirent *entry = open ? readdir(open) : NULL; entry; entry = readdir(open)) {
        const size_t length = strlen(entry->d_name), its = strlen(ending);
        if (length < its || strcmp(entry->d_name + length - its, ending) != 0)
            continue;
        count++;
        if (path)
            snprintf(path, PATH_SIZE, "%.4000s/%s", folder, entry->d_name);
    }
    if (open)
        closedir(open);
    return count;
}

static void test_hash(void **state)
{
    /* The test vectors of its authors: key 00..0f, input 00..(n-1). */
    unsigned char key[16], input[16];
    (void)state;
    for (int i = 0; i < 16; i++)
        key[i] = input[i] = (unsigned char)i;
    struct cushim_hash hash = cushim_hash(key, input, 0);
    assert_true(hash.low == UINT64_C(0xe6a825ba047f81a3));
    assert_true(hash.high == UINT64_C(0x930255c71472f66d));
    hash = cushim_hash(key, input, 1);
    assert_true(hash.low == UINT64_C(0x44af996bd8c187da));
    assert_true(hash.high == UINT64_C(0x45fc229b11597634));
}

static void test_hit(void **state)
{
    struct stat about;
    char path[PATH_SIZE];
    (void)state;
    const struct cushim_api *cu = begin(12040);
    assert_int_equal(load(cu, "f", NULL), CUSHIM_CACHE_STORED);
    assert_int_equal(module_fake.compiled, 1);
    assert_int_equal(load(cu, "f", NULL), CUSHIM_CACHE_HIT);
    assert_int_equal(module_fake.compiled, 1);
    assert_int_equal(files(".cubin", path), 1);
    assert_int_equal(stat(path, &about), 0);
    assert_int_equal(about.st_mode & 0777, 0600);
    assert_int_equal(files(".tmp", NULL), 0);
    /* The linker has the same cache. */
    const char *ptx = module_fake_ptx("7.0", "sm_70", "f");
    struct cushim_link_input input = {.data = ptx, .bytes = strlen(ptx), .name = "any name"};
    struct cushim_cubin cubin = {0};
    struct cushim_jit_result result;
    assert_int_equal(cushim_link(cu, &input, 1, &options, &result, &cubin), 0);
    assert_int_equal(result.cache, CUSHIM_CACHE_HIT);
    assert_true(result.wall_ms == 0);
    cushim_jit_result_release(&result);
    cushim_cubin_release(&cubin);
    end(cu);
}

static void test_keys(void **state)
{
    void *value = NULL;
    const CUjit_option extra = CU_JIT_FAST_COMPILE;
    (void)state;
    const struct cushim_api *cu = begin(12040);
    const struct cushim_jit_options plain = options;
#define DIFFERS(member, its)                                                                       \
    do {                                                                                           \
        options = plain;                                                                           \
        options.member = its;                                                                      \
        assert_int_equal(load(cu, "f", NULL), CUSHIM_CACHE_STORED);                                \
        assert_int_equal(load(cu, "f", NULL), CUSHIM_CACHE_HIT);                                   \
    } while (0)
    DIFFERS(target, 0);
    DIFFERS(optimisation, CUSHIM_JIT_OPTIMISATION_0);
    DIFFERS(fallback, CUSHIM_JIT_PREFER_PTX);
    DIFFERS(max_registers, 32);
    DIFFERS(threads_per_block, 32);
    DIFFERS(target, 90);
    DIFFERS(cache_mode, 1);
    DIFFERS(debug_info, true);
    DIFFERS(line_info, true);
    DIFFERS(position_independent, true);
    options = plain;
    options.verbose = true; /* changes the log alone */
    assert_int_equal(load(cu, "f", NULL), CUSHIM_CACHE_HIT);
    assert_int_equal(load(cu, "g", NULL), CUSHIM_CACHE_STORED);
    module_fake.arch = 80;
    assert_int_equal(load(cu, "f", NULL), CUSHIM_CACHE_STORED);
    module_fake.arch = 90;
    options.extra_count = 1;
    options.extra_options = &extra;
    options.extra_values = &value;
    assert_int_equal(load(cu, "f", NULL), CUSHIM_CACHE_UNUSED);
    cushim_close(cu);
    cu = module_fake_open(12050);
    options = plain;
    assert_int_equal(load(cu, "f", NULL), CUSHIM_CACHE_STORED);
    end(cu);
}

static void overwrite(const char *path, long at, const void *bytes, size_t count)
{
    FILE *file = fopen(path, "r+b");
    assert_non_null(file);
    assert_int_equal(fseek(file, at, SEEK_SET), 0);
    assert_int_equal(fwrite(bytes, 1, count, file), count);
    assert_int_equal(fclose(file), 0);
}

static void test_damage(void **state)
{
    char path[PATH_SIZE], note[TEXT_SIZE];
    size_t bytes = 0;
    (void)state;
    const struct cushim_api *cu = begin(12040);
    assert_int_equal(load(cu, "f", NULL), CUSHIM_CACHE_STORED);
    assert_int_equal(files(".cubin", path), 1);
    unsigned char *good = read_whole(path, &bytes);
    for (size_t cut = 0; cut < bytes; cut += cut < 48 ? 1 : 37) {
        assert_int_equal(truncate(path, (off_t)cut), 0);
        assert_int_equal(load(cu, "f", note), CUSHIM_CACHE_STORED);
        assert_contains(note, "damaged");
        assert_contains(note, path);
        assert_int_equal(load(cu, "f", NULL), CUSHIM_CACHE_HIT);
    }
    for (size_t at = 0; at < bytes; at += 7) {
        unsigned char other = good[at] ^ 0x20;
        overwrite(path, (long)at, &other, 1);
        assert_int_equal(load(cu, "f", note), CUSHIM_CACHE_STORED);
        assert_contains(note, "written anew");
        assert_int_equal(load(cu, "f", NULL), CUSHIM_CACHE_HIT);
    }
    overwrite(path, (long)bytes, "more", 4);
    assert_int_equal(load(cu, "f", NULL), CUSHIM_CACHE_STORED);
    /* A folder where the file should be. */
    assert_int_equal(remove(path), 0);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_int_equal(load(cu, "f", note), CUSHIM_CACHE_FAILED);
    assert_int_equal(files(".tmp", NULL), 0);
    free(good);
    end(cu);
}

/* A key with the same hash: the file is whole, but it is for something else. */
static void test_collision(void **state)
{
    char path[PATH_SIZE], other[PATH_SIZE], note[TEXT_SIZE];
    size_t bytes = 0;
    (void)state;
    const struct cushim_api *cu = begin(12040);
    assert_int_equal(load(cu, "f", NULL), CUSHIM_CACHE_STORED);
    files(".cubin", path);
    unsigned char *whole = read_whole(path, &bytes);
    assert_int_equal(remove(path), 0);
    assert_int_equal(load(cu, "g", NULL), CUSHIM_CACHE_STORED);
    files(".cubin", other);
    overwrite(other, 0, whole, bytes);
    assert_int_equal(load(cu, "g", note), CUSHIM_CACHE_STORED);
    assert_contains(note, "for something else");
    free(whole);
    end(cu);
}

/* What the cache gave is refused by the driver: compiled anew, and loaded. */
static void test_refused_cubin(void **state)
{
    (void)state;
    const struct cushim_api *cu = begin(12040);
    assert_int_equal(load(cu, "f", NULL), CUSHIM_CACHE_STORED);
    module_fake.refuses_cubins = true;
    assert_int_equal(load(cu, "f", NULL), CUSHIM_CACHE_FAILED);
    module_fake.refuses_cubins = false;
    end(cu);
}

static void test_no_folder(void **state)
{
    char note[TEXT_SIZE];
    (void)state;
    const struct cushim_api *cu = begin(12040);
    write_file("file", "", 0);
    cache.folder = in_folder("file");
    assert_int_equal(load(cu, "f", note), CUSHIM_CACHE_FAILED);
    assert_contains(note, "no folder for the cache");
    snprintf(folder, sizeof folder, "%s", in_folder("file/below"));
    cache.folder = folder;
    assert_int_equal(load(cu, "f", note), CUSHIM_CACHE_FAILED);
    assert_contains(note, "no folder for the cache");
    char *name = malloc(5001);
    memset(name, 'a', 5000);
    name[5000] = 0;
    cache.folder = name;
    assert_int_equal(load(cu, "f", note), CUSHIM_CACHE_FAILED);
    free(name);

    cache.folder = NULL;
    set_environment("XDG_CACHE_HOME", in_folder("xdg"));
    assert_int_equal(load(cu, "f", note), CUSHIM_CACHE_STORED);
    snprintf(folder, sizeof folder, "%s", in_folder("xdg/cushim/cubin"));
    assert_int_equal(files(".cubin", NULL), 1);
    set_environment("XDG_CACHE_HOME", "relative");
    set_environment("HOME", in_folder("home"));
    assert_int_equal(load(cu, "f", note), CUSHIM_CACHE_STORED);
    snprintf(folder, sizeof folder, "%s", in_folder("home/.cache/cushim/cubin"));
    assert_int_equal(files(".cubin", NULL), 1);
    set_environment("HOME", NULL);
    assert_int_equal(load(cu, "f", note), CUSHIM_CACHE_FAILED);
    assert_contains(note, "neither XDG_CACHE_HOME nor HOME");
    end(cu);
}

static void load_read_only(void *argument)
{
    const struct cushim_api *cu = argument;
    char note[TEXT_SIZE];
    if (geteuid() == 0)
        assert_int_equal(seteuid(65534), 0);
    assert_int_equal(load(cu, "f", NULL), CUSHIM_CACHE_HIT);
    assert_int_equal(load(cu, "g", note), CUSHIM_CACHE_FAILED);
    assert_contains(note, "not stored: Permission denied");
}

static void test_read_only(void **state)
{
    char path[PATH_SIZE];
    (void)state;
    const struct cushim_api *cu = begin(12040);
    assert_int_equal(load(cu, "f", NULL), CUSHIM_CACHE_STORED);
    files(".cubin", path);
    assert_int_equal(chmod(path, 0644), 0);
    assert_int_equal(chmod(folder, 0555), 0);
    assert_int_equal(chmod(in_folder("a/b"), 0755), 0);
    assert_int_equal(chmod(in_folder("a"), 0755), 0);
    assert_int_equal(chmod(make_folder(), 0755), 0);
    run_in_child(load_read_only, (void *)cu, NULL);
    assert_int_equal(chmod(folder, 0700), 0);
    end(cu);
}

static void test_limit(void **state)
{
    char path[PATH_SIZE], note[TEXT_SIZE];
    size_t bytes = 0;
    (void)state;
    const struct cushim_api *cu = begin(12040);
    assert_int_equal(load(cu, "a", NULL), CUSHIM_CACHE_STORED);
    files(".cubin", path);
    free(read_whole(path, &bytes));
    cache.limit = 2 * bytes + bytes / 2;
    /* Used an hour ago; so "b" is the older one once "a" was used again. */
    assert_int_equal(utime(path, &(struct utimbuf){time(NULL) - 3600, time(NULL) - 3600}), 0);
    assert_int_equal(load(cu, "b", NULL), CUSHIM_CACHE_STORED);
    for (DIR *open = opendir(folder); open; closedir(open), open = NULL)
        for (struct dirent *entry = readdir(open); entry; entry = readdir(open)) {
            char other[PATH_SIZE];
            snprintf(other, sizeof other, "%.4000s/%s", folder, entry->d_name);
            if (strcmp(other, path) != 0 && strstr(other, ".cubin"))
                assert_int_equal(
                    utime(other, &(struct utimbuf){time(NULL) - 1800, time(NULL) - 1800}), 0);
        }
    assert_int_equal(load(cu, "a", NULL), CUSHIM_CACHE_HIT);
    assert_int_equal(load(cu, "c", NULL), CUSHIM_CACHE_STORED);
    assert_int_equal(files(".cubin", NULL), 2);
    assert_int_equal(load(cu, "a", NULL), CUSHIM_CACHE_HIT);
    assert_int_equal(load(cu, "b", NULL), CUSHIM_CACHE_STORED);
    cache.limit = bytes - 1;
    assert_int_equal(load(cu, "d", note), CUSHIM_CACHE_FAILED);
    assert_contains(note, "the limit is");

    /* Nobody's files are removed but the cache's own. */
    cache.limit = 0;
    snprintf(note, sizeof note, "%.4000s/mine.cubin", folder);
    FILE *file = fopen(note, "w");
    assert_int_equal(fclose(file), 0);
    snprintf(path, sizeof path, "%.4000s/0123456789abcdef0123456789abcdef.cubin.1-2-3.tmp", folder);
    file = fopen(path, "w");
    assert_int_equal(fclose(file), 0);
    cushim_file_trim(folder, 0);
    assert_int_equal(files(".cubin", NULL), 1);
    assert_int_equal(files(".tmp", NULL), 1);
    assert_int_equal(utime(path, &(struct utimbuf){1000, 1000}), 0);
    cushim_file_trim(folder, 0);
    assert_int_equal(files(".tmp", NULL), 0);
    end(cu);
}

/* Many processes load, damage and trim at once: every load succeeds with the right kernels. */
static void hammer(const struct cushim_api *cu, int seed)
{
    srand((unsigned)seed);
    for (int i = 0; i < ROUNDS; i++) {
        char kernel[16], path[PATH_SIZE];
        snprintf(kernel, sizeof kernel, "kernel%d", rand() % 5);
        load(cu, kernel, NULL);
        if (rand() % 4 == 0 && files(".cubin", path) && truncate(path, rand() % 300) != 0)
            continue; /* another process removed it */
        if (rand() % 8 == 0)
            cushim_file_trim(folder, 800);
    }
}

static void test_processes(void **state)
{
    pid_t children[PROCESSES];
    (void)state;
    const struct cushim_api *cu = begin(12040);
    for (int i = 0; i < PROCESSES; i++) {
        children[i] = fork();
        assert_true(children[i] >= 0);
        if (children[i] == 0) {
            hammer(cu, i);
            _exit(0);
        }
    }
    for (int i = 0; i < PROCESSES; i++) {
        int status = -1;
        assert_int_equal(waitpid(children[i], &status, 0), children[i]);
        assert_int_equal(status, 0);
    }
    assert_int_equal(files(".tmp", NULL), 0);
    for (int i = 0; i < 5; i++) {
        char kernel[16];
        snprintf(kernel, sizeof kernel, "kernel%d", i);
        load(cu, kernel, NULL);
        assert_int_equal(load(cu, kernel, NULL), CUSHIM_CACHE_HIT);
    }
    end(cu);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hash),      cmocka_unit_test(test_hit),
        cmocka_unit_test(test_keys),      cmocka_unit_test(test_damage),
        cmocka_unit_test(test_collision), cmocka_unit_test(test_refused_cubin),
        cmocka_unit_test(test_no_folder), cmocka_unit_test(test_read_only),
        cmocka_unit_test(test_limit),     cmocka_unit_test(test_processes),
    };
    return cmocka_run_group_tests_name("module_cache", tests, NULL, NULL);
}
