/* SPDX-License-Identifier: MIT */
/* What linking costs: cuLink* of a driver in this process, which counts the sources that it has
 * read. Each input is read when it is added, and never again while the link lives. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cushim/sim.h>

#include "ptx/ptx.h"

enum { INPUTS = 20, TEXT = 600, IMAGE = 64 << 10 };

#define OK(call) assert_int_equal((call), CUDA_SUCCESS)
#define GIVES(code, call) assert_int_equal((call), (code))
#define HEAD ".version 6.0\n.target sm_50\n.address_size 64\n"

static const struct cushim_api *cu;
static CUcontext shared;

static int begin(void **state)
{
    (void)state;
    cu = cushim_sim_open(NULL);
    assert_non_null(cu);
    OK(cu->cuInit(0));
    OK(cu->cuDevicePrimaryCtxRetain(&shared, 0));
    OK(cu->cuCtxSetCurrent(shared));
    return 0;
}

/* Input 0 has the kernel; each calls the next one's function, which adds its number. */
static void input(char *text, int number)
{
    char call[200] = "";
    if (number + 1 < INPUTS)
        snprintf(call, sizeof call,
                 " {\n .param .b32 i, o;\n st.param.b32 [i], a;\n call (o), f%d, (i);\n"
                 " ld.param.b32 a, [o];\n }\n",
                 number + 1);
    int used = snprintf(text, TEXT, HEAD);
    if (number + 1 < INPUTS)
        used += snprintf(text + used, TEXT - (size_t)used,
                         ".extern .func (.param .b32 o) f%d(.param .b32 i);\n", number + 1);
    used +=
        snprintf(text + used, TEXT - (size_t)used,
                 ".visible .func (.param .b32 r) f%d(.param .b32 x)\n{\n .reg .u32 a;\n"
                 " ld.param.b32 a, [x];\n add.u32 a, a, %d;\n%s st.param.b32 [r], a;\n ret;\n}\n",
                 number, number, call);
    if (number == 0)
        snprintf(text + used, TEXT - (size_t)used,
                 ".visible .entry sum(.param .u64 p)\n{\n .reg .u64 b;\n .reg .u32 a;\n"
                 " {\n .param .b32 i, o;\n st.param.b32 [i], 0;\n call (o), f0, (i);\n"
                 " ld.param.b32 a, [o];\n }\n ld.param.u64 b, [p];\n st.global.u32 [b], a;\n"
                 " ret;\n}\n");
}

static void runs(const void *image)
{
    CUmodule module = NULL;
    CUfunction function = NULL;
    CUdeviceptr word = 0;
    unsigned sum = 0;
    OK(cu->cuModuleLoadData(&module, image));
    OK(cu->cuModuleGetFunction(&function, module, "sum"));
    OK(cu->cuMemAlloc_v2(&word, 4));
    OK(cu->cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, (void *[]){&word}, NULL));
    OK(cu->cuMemcpyDtoH_v2(&sum, word, 4));
    assert_int_equal(sum, INPUTS * (INPUTS - 1) / 2);
    OK(cu->cuMemFree_v2(word));
    OK(cu->cuModuleUnload(module));
}

static void test_each_input_once(void **state)
{
    static char text[TEXT], copy[IMAGE];
    CUlinkState link = NULL;
    void *image = NULL;
    size_t size = 0, before = ptx_sources_read();
    (void)state;
    OK(cu->cuLinkCreate_v2(0, NULL, NULL, &link));
    for (int i = 0; i < INPUTS; i++) {
        input(text, i);
        OK(cu->cuLinkAddData_v2(link, CU_JIT_INPUT_PTX, text, strlen(text) + 1, "i", 0, NULL,
                                NULL));
        memset(text, '?', sizeof text - 1); /* the caller's own again */
        assert_int_equal(ptx_sources_read() - before, i + 1);
    }
    OK(cu->cuLinkComplete(link, &image, &size));
    assert_true(size <= sizeof copy);
    memcpy(copy, image, size);
    runs(image);
    runs(copy);
    assert_int_equal(ptx_sources_read() - before, INPUTS);
    /* Another text is another module, and the image of a link that is gone is read. */
    char *number = memmem(copy, size, "add.u32 a, a, 7;", 16);
    assert_non_null(number);
    number[14] = '8';
    CUmodule module = NULL;
    OK(cu->cuModuleLoadData(&module, copy));
    OK(cu->cuModuleUnload(module));
    assert_int_equal(ptx_sources_read() - before, 2 * INPUTS);
    number[14] = '7';
    OK(cu->cuLinkDestroy(link));
    runs(copy);
    assert_int_equal(ptx_sources_read() - before, 3 * INPUTS);
}

/* Each input that uses what none defines is named. */
static void test_undefined(void **state)
{
    static char calls[] = HEAD ".extern .func _Z1Zv;\n.extern .global .b32 word;\n"
                               ".visible .func g() { .reg .b32 a; call _Z1Zv; "
                               "ld.global.b32 a, [word]; ret; }\n";
    static char other[] = HEAD ".extern .func g;\n.extern .func _Z1Zv;\n"
                               ".visible .entry k() { call g; call _Z1Zv; ret; }\n";
    static char idle[] = HEAD ".extern .const .b32 unused;\n.extern .global .texref picture;\n";
    static char declares[] = HEAD ".extern .func _Z1Zv;\n.visible .func h() { ret; }\n";
    char log[400] = "";
    CUjit_option keys[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log, (void *)sizeof log}, *image = NULL;
    char name[] = "CBA";
    CUlinkState link = NULL;
    (void)state;
    OK(cu->cuLinkCreate_v2(2, keys, values, &link));
    OK(cu->cuLinkAddData_v2(link, CU_JIT_INPUT_PTX, declares, sizeof declares, "D", 0, NULL, NULL));
    OK(cu->cuLinkAddData_v2(link, CU_JIT_INPUT_PTX, calls, sizeof calls, name, 0, NULL, NULL));
    memset(name, '?', sizeof name - 1); /* the caller's own again */
    OK(cu->cuLinkAddData_v2(link, CU_JIT_INPUT_PTX, other, sizeof other, NULL, 0, NULL, NULL));
    OK(cu->cuLinkAddData_v2(link, CU_JIT_INPUT_PTX, idle, sizeof idle, "idle", 0, NULL, NULL));
    GIVES(CUDA_ERROR_INVALID_SOURCE, cu->cuLinkComplete(link, &image, NULL));
    assert_string_equal(log, "error   : Undefined reference to 'word' in 'CBA'\n"
                             "error   : Undefined reference to 'unused' in 'idle'\n"
                             "error   : Undefined reference to '_Z1Zv' in 'CBA'\n"
                             "error   : Undefined reference to '_Z1Zv' in 'Input 3'");
    OK(cu->cuLinkDestroy(link));
}

/* PTX that is refused leaves no trace. */
static void test_refused_input(void **state)
{
    static char good[] = HEAD ".visible .func f() { ret; }\n";
    static char caller[] = HEAD ".extern .func f;\n.extern .func nowhere;\n"
                                ".visible .entry k() { call f; call nowhere; ret; }\n";
    static char bad[] = HEAD ".visible .entry k() {\nwrong; }\n";
    char log[400] = "";
    CUjit_option keys[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log, (void *)sizeof log}, *image = NULL;
    CUlinkState link = NULL;
    CUmodule module;
    CUfunction function;
    (void)state;
    OK(cu->cuLinkCreate_v2(2, keys, values, &link));
    OK(cu->cuLinkAddData_v2(link, CU_JIT_INPUT_PTX, caller, sizeof caller, "c", 0, NULL, NULL));
    GIVES(CUDA_ERROR_INVALID_PTX,
          cu->cuLinkAddData_v2(link, CU_JIT_INPUT_PTX, bad, sizeof bad, "b", 0, NULL, NULL));
    static const char said[] = "ptxas application ptx input, line 5; error   : Not a name of any "
                               "known instruction: 'wrong'\n"
                               "ptxas fatal   : Ptx assembly aborted due to errors";
    assert_string_equal(log, said);
    assert_int_equal((uintptr_t)values[1], sizeof said - 1);
    OK(cu->cuLinkAddData_v2(link, CU_JIT_INPUT_PTX, good, sizeof good, "g", 0, NULL, NULL));
    GIVES(CUDA_ERROR_INVALID_SOURCE, cu->cuLinkComplete(link, &image, NULL));
    assert_string_equal(log + sizeof said - 1,
                        "\nerror   : Undefined reference to 'nowhere' in 'c'");
    OK(cu->cuLinkDestroy(link));
    OK(cu->cuLinkCreate_v2(0, NULL, NULL, &link));
    GIVES(CUDA_ERROR_INVALID_PTX,
          cu->cuLinkAddData_v2(link, CU_JIT_INPUT_PTX, bad, sizeof bad, "b", 0, NULL, NULL));
    OK(cu->cuLinkAddData_v2(link, CU_JIT_INPUT_PTX, good, sizeof good, "g", 0, NULL, NULL));
    OK(cu->cuLinkComplete(link, &image, NULL));
    OK(cu->cuModuleLoadData(&module, image));
    GIVES(CUDA_ERROR_NOT_FOUND, cu->cuModuleGetFunction(&function, module, "k"));
    OK(cu->cuModuleUnload(module));
    OK(cu->cuLinkDestroy(link));
}

/* Without a linker a declaration with a size is a definition. */
static void test_declared_alone(void **state)
{
    static char text[] =
        HEAD ".extern .global .align 4 .b32 word[3];\n.extern .const .b32 number;\n"
             ".extern .shared .b32 shared;\n.extern .global .texref picture;\n"
             ".global .u64 place = word;\n"
             ".visible .entry k() { .reg .b32 a, b; ld.global.b32 a, [word+8]; "
             "ld.const.b32 b, [number]; add.u32 a, a, b; st.shared.b32 [shared], a; "
             "add.u32 a, a, 5; st.global.b32 [word+4], a; ret; }\n";
    static char open[] =
        HEAD ".extern .global .b32 word[];\n"
             ".visible .entry k() { .reg .b32 a; ld.global.b32 a, [word]; ret; }\n";
    uint32_t words[3] = {9, 9, 9};
    CUdeviceptr address = 0, place = 0;
    CUmodule module = NULL;
    CUfunction function;
    CUtexref reference;
    size_t size = 0;
    int bytes = 0;
    (void)state;
    OK(cu->cuModuleLoadData(&module, text));
    OK(cu->cuModuleGetGlobal_v2(&address, &size, module, "word"));
    assert_int_equal(size, sizeof words);
    OK(cu->cuModuleGetGlobal_v2(&place, NULL, module, "place"));
    OK(cu->cuMemcpyDtoH_v2(&place, place, sizeof place));
    assert_int_equal(place, address);
    OK(cu->cuModuleGetGlobal_v2(NULL, &size, module, "number"));
    assert_int_equal(size, 4);
    OK(cu->cuModuleGetTexRef(&reference, module, "picture"));
    GIVES(CUDA_ERROR_INVALID_VALUE, cu->cuModuleGetGlobal_v2(NULL, &size, module, "picture"));
    OK(cu->cuModuleGetFunction(&function, module, "k"));
    OK(cu->cuFuncGetAttribute(&bytes, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, function));
    assert_int_equal(bytes, 4);
    OK(cu->cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    OK(cu->cuMemcpyDtoH_v2(words, address, sizeof words));
    assert_memory_equal(words, ((uint32_t[]){0, 5, 0}), sizeof words);
    OK(cu->cuModuleUnload(module));
    GIVES(CUDA_ERROR_INVALID_PTX, cu->cuModuleLoadData(&module, open));
}

static void test_info_log(void **state)
{
    static char text[] = HEAD ".global .b32 numbers[100];\n.const .b32 few[10];\n"
                              ".visible .entry k() { .shared .b32 all[64]; .reg .b32 a; "
                              "ld.const.b32 a, [few]; st.shared.b32 [all], a; ret; }\n";
    static const char wanted[] = "ptxas info    : 400 bytes gmem, 40 bytes cmem[3]\n"
                                 "ptxas info    : Compiling entry function 'k' for 'sm_80'\n"
                                 "ptxas info    : Function properties for k\n"
                                 "ptxas         .     0 bytes stack frame, 0 bytes spill stores, "
                                 "0 bytes spill loads\n"
                                 "ptxas info    : Used ";
    (void)state;
    for (size_t size = 0; size < 1000; size += size ? size : 1) {
        char log[1000] = "";
        CUjit_option keys[] = {CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES,
                               CU_JIT_LOG_VERBOSE};
        void *values[] = {log, (void *)size, (void *)1};
        CUmodule module;
        OK(cu->cuModuleLoadDataEx(&module, text, 3, keys, values));
        size_t length = strlen(log), told = (uintptr_t)values[1];
        size_t shown = length < sizeof wanted - 1 ? length : sizeof wanted - 1;
        assert_memory_equal(log, wanted, shown);
        if (length + 1 < size) { /* whole */
            assert_int_equal(told, length);
            assert_non_null(strstr(log + sizeof wanted - 1, " registers, 256 bytes smem"));
            assert_int_not_equal(log[length - 1], '\n');
        } else {
            assert_int_equal(told, length ? size : 0);
            assert_int_equal(length, size ? size - 1 : 0);
        }
        OK(cu->cuModuleUnload(module));
    }
}

/* Two definitions spoil the link; those that follow are still told what is wrong with them. */
static void test_two_definitions(void **state)
{
    static char good[] = HEAD ".visible .func f() { ret; }\n";
    static char bad[] = HEAD ".visible .entry k() { wrong; }\n";
    char said[400] = "";
    CUlinkState link = NULL;
    void *image = NULL;
    FILE *file = tmpfile();
    int kept = dup(STDERR_FILENO);
    (void)state;
    assert_true(file && dup2(fileno(file), STDERR_FILENO) >= 0);
    OK(cu->cuLinkCreate_v2(0, NULL, NULL, &link));
    OK(cu->cuLinkAddData_v2(link, CU_JIT_INPUT_PTX, good, sizeof good, "g", 0, NULL, NULL));
    GIVES(CUDA_ERROR_INVALID_SOURCE,
          cu->cuLinkAddData_v2(link, CU_JIT_INPUT_PTX, good, sizeof good, "again", 0, NULL, NULL));
    GIVES(CUDA_ERROR_INVALID_PTX,
          cu->cuLinkAddData_v2(link, CU_JIT_INPUT_PTX, bad, sizeof bad, "b", 0, NULL, NULL));
    GIVES(CUDA_ERROR_INVALID_SOURCE, cu->cuLinkComplete(link, &image, NULL));
    OK(cu->cuLinkDestroy(link));
    dup2(kept, STDERR_FILENO);
    rewind(file);
    assert_true(fread(said, 1, sizeof said - 1, file) > 0);
    assert_non_null(strstr(
        said, "code 300: error   : Multiple definition of 'f' in 'again', first defined in 'g'\n"));
    assert_null(strstr(strstr(said, "code 218: "), "'f'")); /* each time what is new */
    assert_int_equal(fclose(file) | close(kept), 0);
    OK(cu->cuLinkCreate_v2(0, NULL, NULL, &link)); /* never completed */
    OK(cu->cuLinkAddData_v2(link, CU_JIT_INPUT_PTX, good, sizeof good, "g", 0, NULL, NULL));
    OK(cu->cuLinkDestroy(link));
}

static _Atomic bool adding, completing;
static _Atomic unsigned failed; /* in the thread that links */

/* An input that takes a while to read and to compile. */
static void *long_link(void *unused)
{
    enum { LINES = 60000, LINE = 24 };
    static char text[LINES * LINE + TEXT];
    CUlinkState link = NULL;
    void *image = NULL;
    int used = snprintf(text, sizeof text,
                        HEAD ".visible .entry k(.param .u32 p)\n{\n"
                             " .reg .u32 a;\n ld.param.u32 a, [p];\n");
    (void)unused;
    for (int i = 0; i < LINES; i++)
        used += snprintf(text + used, LINE + 1, " mad.lo.u32 a, a, a, 77;");
    snprintf(text + used, sizeof text - (size_t)used, " ret;\n}\n");
    failed |= cu->cuCtxPushCurrent(shared);
    failed |= cu->cuLinkCreate_v2(0, NULL, NULL, &link);
    adding = true;
    failed |=
        cu->cuLinkAddData_v2(link, CU_JIT_INPUT_PTX, text, strlen(text) + 1, "l", 0, NULL, NULL);
    adding = false;
    completing = true;
    failed |= cu->cuLinkComplete(link, &image, NULL);
    completing = false;
    failed |= cu->cuLinkDestroy(link);
    return NULL;
}

/* How many calls begin and end while another thread is at something. */
static unsigned calls_while(const _Atomic bool *busy)
{
    unsigned calls = 0;
    size_t size = 0;
    while (!*busy && !failed)
        ;
    while (*busy) {
        OK(cu->cuCtxGetLimit(&size, CU_LIMIT_STACK_SIZE));
        calls += *busy;
    }
    return calls;
}

/* A thread that links holds nobody else up. With the lock held a call or two could slip in. */
static void test_others_go_on(void **state)
{
    pthread_t thread;
    (void)state;
    assert_int_equal(pthread_create(&thread, NULL, long_link, NULL), 0);
    assert_true(calls_while(&adding) > 50);
    assert_true(calls_while(&completing) > 50);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(failed, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_input_once), cmocka_unit_test(test_undefined),
        cmocka_unit_test(test_refused_input),   cmocka_unit_test(test_two_definitions),
        cmocka_unit_test(test_info_log),        cmocka_unit_test(test_declared_alone),
        cmocka_unit_test(test_others_go_on),
    };
    return cmocka_run_group_tests_name("link", tests, begin, NULL);
}
