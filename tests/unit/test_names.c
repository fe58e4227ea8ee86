/* SPDX-License-Identifier: MIT */
/* Which names of kernels are near to one that is missing, compared with a second, plain reading of
 * the rule; and the sentences that list them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake_silent.h"

#include <cushim/error.h>
#include <cushim/module.h>

enum { MOST_NAMES = 12, NAME_SIZE = 400 };
#define SOMETHING ((void *)(uintptr_t)0x1000)

/* What a module and a library have. */
static struct {
    char names[MOST_NAMES][NAME_SIZE];
    unsigned count;
} held;

static CUresult CUDAAPI count_names(unsigned *count, void *holder)
{
    assert_ptr_equal(holder, SOMETHING);
    *count = held.count;
    return CUDA_SUCCESS;
}

static CUresult CUDAAPI list_names(void **handles, unsigned count, void *holder)
{
    assert_ptr_equal(holder, SOMETHING);
    assert_int_equal(count, held.count);
    for (unsigned i = 0; i < count; i++)
        handles[i] = held.names[i];
    return CUDA_SUCCESS;
}

static CUresult CUDAAPI tell_name(const char **name, void *handle)
{
    *name = handle;
    return CUDA_SUCCESS;
}

static const struct cushim_api *cu;

static const char *sentence(const char *wanted, bool of_library)
{
    static char parts[2][64] = {"cushim_module_function: ", "cushim_library_kernel: "};
    CUfunction function = SOMETHING;
    CUkernel kernel = SOMETHING;
    assert_int_equal(of_library ? cushim_library_kernel(cu, SOMETHING, wanted, &kernel)
                                : cushim_module_function(cu, SOMETHING, wanted, &function),
                     CUDA_ERROR_NOT_FOUND);
    assert_true(function == SOMETHING && kernel == SOMETHING);
    const size_t length = strlen(parts[of_library]);
    assert_memory_equal(cushim_last_error(), parts[of_library], length);
    return cushim_last_error() + length;
}

/* ---- near */

static bool letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool same(char a, char b)
{
    return a == b || (letter(a) && letter(b) && (a & 31) == (b & 31));
}

static bool model_near(const char *a, const char *b)
{
    const size_t x = strlen(a), y = strlen(b), shorter = x < y ? x : y, longer = x < y ? y : x;
    size_t head = 0, tail = 0;
    for (size_t i = 0; i < shorter && same(a[i], b[i]); i++)
        head = i + 1;
    for (size_t i = 1; i + head <= shorter && same(a[x - i], b[y - i]); i++)
        tail = i;
    return (x >= 3 && strstr(b, a)) || ((head || tail) && longer - head - tail <= 2);
}

static unsigned seed = 5;

static void make_name(char *name, const char *of)
{
    static const char letters[] = "aAbB@`[{zZ_1";
    size_t length = of && (seed >> 20 & 1) ? strlen(strcpy(name, of)) : 0;
    for (unsigned i = (seed >> 12) % 5; i; i--) {
        seed = seed * 1664525u + 1013904223u;
        const char c = letters[(seed >> 8) % (sizeof letters - 1)];
        if (length && (seed >> 16 & 1))
            name[(seed >> 17) % length] = c;
        else
            name[length++] = c;
    }
    name[length] = '\0';
    seed = seed * 1664525u + 1013904223u;
}

static void test_near(void **state)
{
    unsigned near = 0;
    (void)state;
    held.count = 1;
    for (int round = 0; round < 100000; round++) {
        char wanted[64], words[1024];
        make_name(wanted, NULL);
        make_name(held.names[0], wanted);
        if (!wanted[0])
            continue;
        const bool is_near = model_near(wanted, held.names[0]);
        snprintf(words, sizeof words, "name: %s: no kernel has that name (cuModuleGetFunction)%s%s",
                 wanted, is_near ? "; nearest: " : "; there is: ", held.names[0]);
        char *exact = strdup(wanted); /* the sanitizers notice what is read around it */
        assert_non_null(exact);
        assert_string_equal(sentence(exact, false), words);
        free(exact);
        near += is_near;
    }
    assert_true(near > 1000);
}

/* ---- lists */

static void expect(unsigned count, const char *words)
{
    char whole[2][2048];
    held.count = count;
    for (int of_library = 0; of_library < 2; of_library++) {
        snprintf(whole[of_library], sizeof whole[of_library],
                 "name: wanted: no kernel has that name (%s)%s",
                 of_library ? "cuLibraryGetKernel" : "cuModuleGetFunction", words);
        assert_string_equal(sentence("wanted", of_library), whole[of_library]);
    }
}

static void test_lists(void **state)
{
    (void)state;
    for (unsigned i = 0; i < MOST_NAMES; i++)
        snprintf(held.names[i], NAME_SIZE, "k%u", i);
    expect(0, "");
    expect(1, "; there is: k0");
    expect(2, "; there is: k0, k1");
    expect(6, "; there is: k0, k1, k2, k3, k4, k5");
    expect(7, "; none is near; the first of 7: k0, k1, k2, k3, k4, k5");
    expect(12, "; none is near; the first of 12: k0, k1, k2, k3, k4, k5");
    strcpy(held.names[9], "Wanted");
    strcpy(held.names[11], "wanted2");
    expect(9, "; none is near; the first of 9: k0, k1, k2, k3, k4, k5");
    expect(12, "; nearest: Wanted, wanted2");
}

/* A name is cut to 200 bytes, and a list to 319. */
static void test_long(void **state)
{
    char words[1024], list[1024];
    (void)state;
    for (size_t length = 199; length <= 202; length++)
        for (int near = 0; near < 2; near++) {
            for (int i = 0; i < 3; i++) {
                memset(held.names[i], "xyz"[i], NAME_SIZE);
                if (near)
                    memcpy(held.names[i], "wanted", 6);
                held.names[i][length] = '\0';
            }
            snprintf(list, sizeof list, "%.200s, %.200s, %.200s", held.names[0], held.names[1],
                     held.names[2]);
            snprintf(words, sizeof words, "; %s: %.319s", near ? "nearest" : "there is", list);
            expect(3, words);
        }
}

/* A driver that lacks one of the entries that list lists nothing. */
static void test_lacking(void **state)
{
    static const char *const symbols[] = {
        "cuModuleGetFunctionCount", "cuModuleEnumerateFunctions", "cuFuncGetName",
        "cuLibraryGetKernelCount",  "cuLibraryEnumerateKernels",  "cuKernelGetName"};
    const struct cushim_api *whole = cu;
    const struct silent settings = silent;
    (void)state;
    held.count = 1;
    strcpy(held.names[0], "k");
    for (size_t i = 0; i < COUNT(symbols); i++) {
        const bool of_library = i >= 3;
        silent = settings;
        for (size_t k = 0; k < COUNT(silent.others); k++)
            if (silent.others[k].symbol && strcmp(silent.others[k].symbol, symbols[i]) == 0)
                silent.others[k].function = NULL;
        cu = silent_open();
        assert_null(strstr(sentence("wanted", of_library), "there is"));
        assert_non_null(strstr(sentence("wanted", !of_library), "; there is: k"));
        cushim_close(cu);
    }
    silent = settings;
    cu = whole;
}

static int set_up(void **state)
{
    (void)state;
    silent_reset();
    silent_fail("cuModuleGetFunction", CUDA_ERROR_NOT_FOUND);
    silent_fail("cuLibraryGetKernel", CUDA_ERROR_NOT_FOUND);
    silent_use("cuModuleGetFunctionCount", (silent_fn *)count_names);
    silent_use("cuLibraryGetKernelCount", (silent_fn *)count_names);
    silent_use("cuModuleEnumerateFunctions", (silent_fn *)list_names);
    silent_use("cuLibraryEnumerateKernels", (silent_fn *)list_names);
    silent_use("cuFuncGetName", (silent_fn *)tell_name);
    silent_use("cuKernelGetName", (silent_fn *)tell_name);
    cu = silent_open();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    cushim_close(cu);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_near),
        cmocka_unit_test(test_lists),
        cmocka_unit_test(test_long),
        cmocka_unit_test(test_lacking),
    };
    return cmocka_run_group_tests_name("names", tests, set_up, tear_down);
}
