/* SPDX-License-Identifier: MIT */
/* What a program registers to be told of, and the log of refused calls. */
#include <pthread.h>

#include "memory_test.h"

struct ear {
    unsigned heard;
    char last[256];
};

static void CUDA_CB hear(void *data, CUlogLevel level, char *message, size_t length)
{
    struct ear *ear = data;
    assert_int_equal(level, CU_LOG_LEVEL_ERROR);
    assert_int_equal(strlen(message), length);
    snprintf(ear->last, sizeof ear->last, "%s", message);
    ear->heard++;
}

/* As many as a call makes: of a driver some, of the simulator one. */
static unsigned refuse(struct ear *ear)
{
    unsigned before = ear->heard;
    GIVES(CUDA_ERROR_INVALID_VALUE, cu->cuMemAlloc_v2(NULL, 1));
    return ear->heard - before;
}

static CUlogsCallbackHandle listen(struct ear *ear)
{
    CUlogsCallbackHandle handle = NULL;
    OK(cu->cuLogsRegisterCallback(hear, ear, &handle));
    assert_non_null(handle);
    return handle;
}

static bool has_logs(void)
{
    if (!CUSHIM_HAS(cu, cuLogsRegisterCallback))
        skip();
    return CUSHIM_HAS(cu, cuLogsRegisterCallback);
}

static void test_listeners(void **state)
{
    struct ear a = {0}, b = {0};
    (void)state;
    if (!has_logs())
        return;
    CUlogsCallbackHandle first = listen(&a), second = listen(&b);
    assert_ptr_not_equal(first, second);
    assert_true(refuse(&a) > 0);
    assert_int_equal(a.heard, b.heard);
    assert_non_null(strstr(a.last, "cuMemAlloc_v2"));
    assert_non_null(strstr(a.last, "CUDA_ERROR_INVALID_VALUE"));
    CUdeviceptr memory = memory_of(64); /* what succeeds is silent */
    OK(cu->cuMemFree_v2(memory));
    assert_int_equal(a.heard, b.heard);
    OK(cu->cuLogsUnregisterCallback(first));
    assert_int_equal(refuse(&a), 0);
    assert_true(b.heard > a.heard);
    OK(cu->cuLogsUnregisterCallback(second));
    assert_int_equal(refuse(&b), 0);
}

/* Another thread's call is told by that thread. */
static void *refuse_there(void *data)
{
    CUdeviceptr address;
    (void)data;
    GIVES(CUDA_ERROR_INVALID_CONTEXT, cu->cuMemAlloc_v2(&address, 1));
    return NULL;
}

static void test_threads(void **state)
{
    struct ear ear = {0};
    pthread_t thread;
    (void)state;
    if (!has_logs())
        return;
    CUlogsCallbackHandle handle = listen(&ear);
    assert_int_equal(pthread_create(&thread, NULL, refuse_there, NULL), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_non_null(strstr(ear.last, "CUDA_ERROR_INVALID_CONTEXT"));
    OK(cu->cuLogsUnregisterCallback(handle));
}

/* A callback may call, and end itself. */
static CUlogsCallbackHandle itself;

static void CUDA_CB leave(void *data, CUlogLevel level, char *message, size_t length)
{
    (void)level, (void)message, (void)length;
    ++*(unsigned *)data;
    if (itself) {
        CUlogsCallbackHandle mine = itself;
        itself = NULL;
        OK(cu->cuLogsUnregisterCallback(mine));
        OK(cu->cuMemFree_v2(memory_of(64)));
    }
}

static void test_leaves(void **state)
{
    unsigned heard = 0;
    (void)state;
    OK(cu->cuLogsRegisterCallback(leave, &heard, &itself));
    GIVES(CUDA_ERROR_INVALID_VALUE, cu->cuMemAlloc_v2(NULL, 1));
    GIVES(CUDA_ERROR_INVALID_VALUE, cu->cuMemAlloc_v2(NULL, 1));
    assert_int_equal(heard, 1);
}

static void test_dead_handles(void **state)
{
    struct ear ear = {0};
    CUasyncCallbackHandle note = NULL;
    (void)state;
    CUlogsCallbackHandle handle = listen(&ear);
    GIVES(CUDA_ERROR_INVALID_VALUE,
          cu->cuDeviceUnregisterAsyncNotification(0, (CUasyncCallbackHandle)handle));
    OK(cu->cuLogsUnregisterCallback(handle));
    GIVES(CUDA_ERROR_INVALID_VALUE, cu->cuLogsUnregisterCallback(handle));
    GIVES(CUDA_ERROR_INVALID_VALUE, cu->cuDeviceRegisterAsyncNotification(0, NULL, NULL, &note));
    GIVES(CUDA_ERROR_INVALID_VALUE, cu->cuDeviceRegisterAsyncNotification(
                                        0, (CUasyncCallback)(void (*)(void))hear, NULL, NULL));
    OK(cu->cuDeviceRegisterAsyncNotification(0, (CUasyncCallback)(void (*)(void))hear, NULL,
                                             &note));
    GIVES(CUDA_ERROR_INVALID_VALUE, cu->cuDeviceUnregisterAsyncNotification(1, note));
    OK(cu->cuDeviceUnregisterAsyncNotification(0, note));
    GIVES(CUDA_ERROR_INVALID_VALUE, cu->cuDeviceUnregisterAsyncNotification(0, note));
}

static unsigned lines_of(const char *text)
{
    unsigned lines = 0;
    for (; *text; text++)
        lines += *text == '\n';
    return lines;
}

/* The newest messages, as far as there is room, and never beyond it. */
static void test_room(void **state)
{
    CUlogIterator from;
    char all[8192], text[8192];
    size_t whole = sizeof all;
    (void)state;
    OK(cu->cuLogsCurrent(&from, 0));
    for (unsigned i = 0; i < 10; i++)
        GIVES(CUDA_ERROR_INVALID_VALUE, cu->cuMemAlloc_v2(NULL, 1));
    OK(cu->cuLogsDumpToMemory(&(CUlogIterator){from}, all, &whole, 0));
    assert_int_equal(lines_of(all), 10);
    assert_int_equal(strlen(all), whole);
    unsigned before = 0;
    for (size_t room = 0; room < whole + 2; room++) {
        CUlogIterator at = from;
        size_t size = room;
        memset(text, '#', sizeof text);
        /* A refusal is a message itself. */
        CUresult code = cu->cuLogsDumpToMemory(&at, text, &size, 0);
        assert_int_equal(text[room], '#');
        if (code != CUDA_SUCCESS) {
            assert_int_equal(before, 0);
            GIVES(CUDA_ERROR_INVALID_VALUE, code);
            assert_int_equal(size, 0);
            assert_int_equal(at, from);
            continue;
        }
        assert_true(size < room);
        assert_int_equal(strlen(text), size);
        assert_true(lines_of(text) >= before);
        before = lines_of(text);
    }
    assert_true(before >= 5);
}

static void test_rolls(void **state)
{
    CUlogIterator from, to, at;
    char text[40000];
    size_t size = sizeof text;
    (void)state;
    OK(cu->cuLogsCurrent(&from, 0));
    for (unsigned i = 0; i < 250; i++)
        GIVES(CUDA_ERROR_INVALID_VALUE, cu->cuMemAlloc_v2(NULL, 1));
    OK(cu->cuLogsCurrent(&to, 0));
    assert_int_equal(to - from, 250);
    at = from;
    OK(cu->cuLogsDumpToMemory(&at, text, &size, 0));
    assert_int_equal(lines_of(text), 101); /* the first says that there were more */
    assert_int_equal(at, to);
    at = to - 2;
    size = sizeof text;
    OK(cu->cuLogsDumpToMemory(&at, text, &size, 0));
    assert_int_equal(lines_of(text), 2);
    at = to + 1;
    size = sizeof text;
    GIVES(CUDA_ERROR_INVALID_VALUE, cu->cuLogsDumpToMemory(&at, text, &size, 0));
    assert_int_equal(size, 0);
}

/* A file has what memory has, and nothing of before. */
static void test_file(void **state)
{
    char name[] = "/tmp/cushim-logs-XXXXXX", text[4096], kept[4096] = "";
    CUlogIterator from;
    size_t size = sizeof text;
    (void)state;
    if (!has_logs())
        return;
    int number = mkstemp(name);
    assert_true(number >= 0);
    OK(cu->cuLogsCurrent(&from, 0));
    GIVES(CUDA_ERROR_INVALID_VALUE, cu->cuMemAlloc_v2(NULL, 1));
    OK(cu->cuLogsDumpToFile(NULL, name, 0));
    OK(cu->cuLogsDumpToMemory(&(CUlogIterator){from}, text, &size, 0));
    OK(cu->cuLogsDumpToFile(&from, name, 0));
    FILE *file = fdopen(number, "r");
    assert_non_null(file);
    size_t length = fread(kept, 1, sizeof kept - 1, file);
    fclose(file);
    remove(name);
    assert_int_equal(length, size);
    assert_string_equal(kept, text);
}

static void CUDA_CB dumped(void *data, int process, CUdevice device)
{
    (void)data, (void)process, (void)device;
}

static void test_dumps(void **state)
{
    CUcoredumpCallbackHandle start = NULL, complete = NULL;
    (void)state;
    if (!CUSHIM_HAS(cu, cuCoredumpRegisterStartCallback)) {
        skip();
        return;
    }
    GIVES(CUDA_ERROR_INVALID_VALUE, cu->cuCoredumpRegisterStartCallback(NULL, NULL, &start));
    OK(cu->cuCoredumpRegisterStartCallback(dumped, NULL, NULL));
    OK(cu->cuCoredumpRegisterStartCallback(dumped, NULL, &start));
    OK(cu->cuCoredumpRegisterCompleteCallback(dumped, NULL, &complete));
    GIVES(CUDA_ERROR_INVALID_VALUE, cu->cuCoredumpDeregisterCompleteCallback(start));
    GIVES(CUDA_ERROR_INVALID_VALUE, cu->cuCoredumpDeregisterStartCallback(complete));
    OK(cu->cuCoredumpDeregisterStartCallback(start));
    OK(cu->cuCoredumpDeregisterCompleteCallback(complete));
    GIVES(CUDA_ERROR_INVALID_VALUE, cu->cuCoredumpDeregisterStartCallback(start));
    GIVES(CUDA_ERROR_INVALID_VALUE, cu->cuCoredumpDeregisterStartCallback(NULL));
}

static const struct CMUnitTest tests[] = {
    MEMORY_TEST(test_listeners),
    MEMORY_TEST(test_threads),
    MEMORY_OWN(test_leaves, "a driver may still hold what a callback ends"),
    MEMORY_OWN(test_dead_handles, "driver 580 crashes"),
    MEMORY_OWN(test_room, "driver 580 writes beyond the buffer"),
    MEMORY_OWN(test_rolls, "how many messages a call makes"),
    MEMORY_TEST(test_file),
    MEMORY_TEST(test_dumps)};
MEMORY_MAIN("callbacks", tests)
