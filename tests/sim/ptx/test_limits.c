/* SPDX-License-Identifier: MIT */
/* Text that asks for much: compiling it stays within a thread's stack and a bounded amount of
 * memory. */
#include "exec_case.h"

#include <limits.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define MIB ((long)1 << 20)

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { SANITIZED = 1 }; /* needs memory and stack of its own */
#else
enum { SANITIZED = 0 };
#endif

struct text {
    char *data;
    size_t size;
    enum ptx_status status;
};

static void text_open(struct text *text, FILE **file)
{
    memset(text, 0, sizeof *text);
    *file = open_memstream(&text->data, &text->size);
    assert_non_null(*file);
    fputs(EXEC_MODULE, *file);
}

static void *compile(void *user)
{
    struct text *text = user;
    struct ptx_options options = {.version = 900, .architecture = 90};
    struct ptx_source source = {.text = text->data, .size = text->size};
    struct ptx_text errors = {0};
    struct ptx_module *module;

    text->status = ptx_compile(&options, &source, 1, &errors, NULL, &module);
    if (text->status == PTX_OK)
        ptx_module_release(module);
    else
        fprintf(stderr, "%.200s\n", errors.data ? errors.data : "no log");
    ptx_text_free(&errors);
    return NULL;
}

/* The most memory that a process of its own takes to compile the text, in MiB. */
static long peak(struct text *text)
{
    struct rusage before, after;
    int status = -1;
    assert_int_equal(getrusage(RUSAGE_SELF, &before), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        compile(text);
        _exit(text->status == PTX_OK ? 0 : 1);
    }
    assert_int_equal(wait4(child, &status, 0, &after), child);
    assert_int_equal(status, 0);
    return (after.ru_maxrss - before.ru_maxrss) / 1024;
}

/* A chain of calls deeper than a small stack allows to follow by recursion. */
static void long_chain(void **state)
{
    enum { FUNCTIONS = 20000 };
    struct text text;
    pthread_attr_t attributes;
    pthread_t thread;
    FILE *file;
    (void)state;
    text_open(&text, &file);
    fputs(".func f0() { ret; }\n", file);
    for (int i = 1; i < FUNCTIONS; i++)
        fprintf(file, ".func f%d() { call f%d; ret; }\n", i, i - 1);
    fprintf(file, ".visible .entry k() { call f%d; ret; }\n", FUNCTIONS - 1);
    fclose(file);
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, SANITIZED ? 1 << 20 : 256 << 10);
    assert_int_equal(pthread_create(&thread, &attributes, compile, &text), 0);
    pthread_join(thread, NULL);
    pthread_attr_destroy(&attributes);
    assert_int_equal(text.status, PTX_OK);
    free(text.data);
}

/* Many registers that live across many blocks. */
static void many_live(void **state)
{
    enum { REGISTERS = SANITIZED ? 2000 : 20000 };
    struct text text;
    FILE *file;
    (void)state;
    text_open(&text, &file);
    fprintf(file,
            ".visible .entry k(.param .u64 out) {\n.reg .u32 %%r<%d>;\n.reg .pred %%q;\n"
            "ld.param.u32 %%r0, [out];\nsetp.eq.u32 %%q, %%r0, 0;\n",
            REGISTERS + 1);
    for (int i = 1; i < REGISTERS; i++)
        fprintf(file, "mov.u32 %%r%d, %d; @%%q bra L%d; add.u32 %%r0, %%r0, 1; L%d:\n", i, i, i, i);
    for (int i = 1; i < REGISTERS; i++)
        fprintf(file, "add.u32 %%r0, %%r0, %%r%d;\n", i);
    fputs("ret; }\n", file);
    fclose(file);
    long most = peak(&text);
    if (most > 150)
        fail_msg("%zu bytes of text took %ld MiB", text.size, most);
    free(text.data);
}

/* And what is solved in parts computes the same: each thread's sum takes every register. */
static void many_live_right(void **state)
{
    enum { REGISTERS = 6000 };
    struct exec_case one;
    struct text text;
    FILE *file;
    (void)state;
    text_open(&text, &file);
    fputs(EXEC_ENTRY, file);
    fprintf(file, ".reg .u32 %%x<%d>;\nand.b32 %%r1, %%r0, 1;\nsetp.eq.u32 %%p1, %%r1, 0;\n",
            REGISTERS);
    for (int i = 0; i < REGISTERS; i++)
        fprintf(file, "add.u32 %%x%d, %%r0, %d; @%%p1 bra L%d; add.u32 %%x%d, %%x%d, 1; L%d:\n", i,
                i, i, i, i, i);
    fputs("mov.u32 %r2, 0;\n", file);
    for (int i = 0; i < REGISTERS; i++)
        fprintf(file, "add.u32 %%r2, %%r2, %%x%d;\n", i);
    fputs("st.global.u32 [%d1], %r2;\nret;\n}\n", file);
    fclose(file);
    exec_open(&one, text.data, 1, 4);
    exec_good(&one);
    for (uint32_t t = 0; t < 4; t++)
        assert_int_equal(one.words[t],
                         (t + (t & 1)) * REGISTERS + (uint32_t)REGISTERS * (REGISTERS - 1) / 2);
    exec_close(&one);
    free(text.data);
}

/* A large variable with few initial values costs those values. */
static void large_variables(void **state)
{
    static char few[] = EXEC_MODULE ".visible .global .b8 a[1073741824] = {1};\n"
                                    ".visible .global .b8 b[4294967296] = {2, 3};\n";
    struct text text = {few, sizeof few - 1, PTX_INVALID};
    (void)state;
    compile(&text);
    assert_int_equal(text.status, PTX_OK);
    if (!SANITIZED) {
        long most = peak(&text);
        if (most > 20)
            fail_msg("took %ld MiB", most);
    }
}

/* Gaps between initial values are limited in a module, not in each of its variables. */
static void large_gaps(void **state)
{
    struct text text;
    FILE *file;
    (void)state;
    text_open(&text, &file);
    for (int i = 0; i < 8; i++)
        fprintf(file, ".visible .global .b8 a%d[2][67108864] = {{1}, {2}};\n", i);
    fclose(file);
    compile(&text);
    assert_int_equal(text.status, PTX_INVALID);
    free(text.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(long_chain),      cmocka_unit_test(many_live),
        cmocka_unit_test(many_live_right), cmocka_unit_test(large_variables),
        cmocka_unit_test(large_gaps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
