/* SPDX-License-Identifier: MIT */
/* Settings for dumps of a device's memory, of a context and of the process. */
#include "conform.h"

static CUresult get(bool global, int setting, void *value, size_t *size)
{
    CUcoredumpSettings which = (CUcoredumpSettings)setting;
    return global ? cu->cuCoredumpGetAttributeGlobal(which, value, size)
                  : cu->cuCoredumpGetAttribute(which, value, size);
}

static CUresult set(bool global, int setting, void *value, size_t *size)
{
    CUcoredumpSettings which = (CUcoredumpSettings)setting;
    return global ? cu->cuCoredumpSetAttributeGlobal(which, value, size)
                  : cu->cuCoredumpSetAttribute(which, value, size);
}

static bool is_text(int setting)
{
    return setting == CU_COREDUMP_FILE || setting == CU_COREDUMP_PIPE;
}

/* Each setting as it is. Names of files hold the machine's name: only whether there is one. */
static void tell(bool global)
{
    for (int setting = 0; setting < 9; setting++) {
        char value[1024] = {0};
        size_t size = sizeof value;
        unsigned number = 0;
        if (EACH(get(global, setting, value, &size), "get %d", setting) != CUDA_SUCCESS)
            continue;
        memcpy(&number, value, sizeof number);
        if (is_text(setting))
            VALUE("empty=%d whole=%d", value[0] == '\0', size == strlen(value) + 1);
        else
            VALUE("value=%u size=%zu", number, size);
    }
}

/* Rooms of other sizes, and none. A real driver overruns them: it writes 1024 bytes of a text of
 * the process's, and of a context's one more than the room has. */
static void rooms(bool global)
{
    static const size_t sizes[] = {0, 1, 2, 4, 8};
    for (int setting = 1; setting < 8; setting++) {
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            char value[1024];
            size_t size = sizes[i];
            memset(value, 0x77, sizeof value);
            EACH(get(global, setting, value, &size), "get %d into %zu", setting, sizes[i]);
            VALUE("untouched=%d", value[0] == 0x77);
            if (!is_text(setting))
                VALUE("size=%zu", size);
        }
    }
}

/* Set to what it may be without effect on the rest of the process, and read back. */
static void set_flag(bool global, int setting, bool value)
{
    bool got = !value;
    size_t size = sizeof value;
    EACH(set(global, setting, &value, &size), "set %d to %d", setting, value);
    VALUE("size=%zu", size);
    size = sizeof got;
    EACH(get(global, setting, &got, &size), "get %d", setting);
    VALUE("value=%d size=%zu", got, size);
}

static void set_flags(bool global)
{
    static const int settings[] = {CU_COREDUMP_TRIGGER_HOST, CU_COREDUMP_LIGHTWEIGHT,
                                   CU_COREDUMP_ENABLE_ON_EXCEPTION};
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        set_flag(global, settings[i], true);
        set_flag(global, settings[i], false);
    }
    set_flag(global, CU_COREDUMP_ENABLE_USER_TRIGGER, false);
}

static void set_sizes(bool global)
{
    static const size_t sizes[] = {0, 2, 4, 8};
    char value[8] = {0};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        size_t size = sizes[i];
        EACH(set(global, CU_COREDUMP_LIGHTWEIGHT, value, &size), "set a flag of %zu bytes", size);
        VALUE("size=%zu", size);
    }
    for (int setting = -1; setting < 10; setting += 9) {
        size_t size = 1;
        EACH(set(global, setting, value, &size), "set %d", setting);
    }
}

static void set_number(bool global)
{
    static const unsigned values[] = {0, 1, 2, 1U << 5, 1U << 16, ~0U};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        unsigned value = values[i], got = 77;
        size_t size = sizeof value;
        EACH(set(global, CU_COREDUMP_GENERATION_FLAGS, &value, &size), "set flags %u", value);
        size = sizeof got;
        EACH(get(global, CU_COREDUMP_GENERATION_FLAGS, &got, &size), "flags");
        VALUE("value=%u size=%zu", got, size);
    }
    for (size_t size = 1; size < 9; size *= 2) {
        uint64_t value = 0;
        size_t bytes = size;
        EACH(set(global, CU_COREDUMP_GENERATION_FLAGS, &value, &bytes), "set flags of %zu bytes",
             size);
    }
}

static void set_text(bool global, int setting)
{
    static char text[4096], got[4096];
    static const size_t lengths[] = {5, 1, 0, 1022, 1023, 1024, 4000};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        size_t size = lengths[i] + 1;
        memset(text, 'x', sizeof text);
        text[lengths[i]] = '\0';
        EACH(set(global, setting, text, &size), "set a text of %zu", lengths[i]);
        VALUE("size=%zu", size);
        memset(got, 0, sizeof got);
        size = sizeof got;
        EACH(get(global, setting, got, &size), "text");
        VALUE("same=%d whole=%d", strcmp(text, got) == 0, size == strlen(got) + 1);
    }
}

static void set_text_unended(bool global)
{
    char text[] = "abcdef", got[1024] = {0};
    size_t size = 3;
    EACH(set(global, CU_COREDUMP_FILE, text, &size), "set three of six letters");
    size = sizeof got;
    EACH(get(global, CU_COREDUMP_FILE, got, &size), "text");
    VALUE("text=%s size=%zu", strlen(got) < 8 ? got : "(other)", size);
    size = 0;
    EACH(set(global, CU_COREDUMP_FILE, text, &size), "set none of six letters");
    size = sizeof got;
    EACH(get(global, CU_COREDUMP_FILE, got, &size), "text");
    VALUE("text=%s size=%zu", strlen(got) < 8 ? got : "(other)", size);
}

#define BOTH(name, of_context, of_process)                                                         \
    static void name(void)                                                                         \
    {                                                                                              \
        of_context;                                                                                \
    }                                                                                              \
    static void global_##name(void)                                                                \
    {                                                                                              \
        of_process;                                                                                \
    }
BOTH(defaults, tell(false), tell(true))
BOTH(room, rooms(false), rooms(true))
BOTH(flags, set_flags(false), set_flags(true))
BOTH(sizes, set_sizes(false), set_sizes(true))
BOTH(number, set_number(false), set_number(true))
BOTH(file, set_text(false, CU_COREDUMP_FILE), set_text(true, CU_COREDUMP_FILE))
BOTH(unended, set_text_unended(false), set_text_unended(true))
BOTH(pipes, set_text(false, CU_COREDUMP_PIPE), set_text(true, CU_COREDUMP_PIPE))

/* Which of the two forms sees what the other one set, and what a later context takes over. */
static void scopes(void)
{
    bool value = true, got = false;
    size_t size = sizeof value;
    CALL(cu->cuCoredumpSetAttributeGlobal(CU_COREDUMP_LIGHTWEIGHT, &value, &size));
    CALL(cu->cuCoredumpGetAttribute(CU_COREDUMP_LIGHTWEIGHT, &got, &size));
    VALUE("value=%d", got);
    CUcontext later = conform_context();
    CALL(cu->cuCoredumpGetAttribute(CU_COREDUMP_LIGHTWEIGHT, &got, &size));
    VALUE("value=%d", got);
    value = false;
    CALL(cu->cuCoredumpSetAttribute(CU_COREDUMP_LIGHTWEIGHT, &value, &size));
    CALL(cu->cuCoredumpGetAttribute(CU_COREDUMP_LIGHTWEIGHT, &got, &size));
    VALUE("value=%d", got);
    CALL(cu->cuCoredumpGetAttributeGlobal(CU_COREDUMP_LIGHTWEIGHT, &got, &size));
    VALUE("value=%d", got);
    MUST(cu->cuCtxSetCurrent(ctx));
    CALL(cu->cuCoredumpGetAttribute(CU_COREDUMP_LIGHTWEIGHT, &got, &size));
    VALUE("value=%d", got);
    MUST(cu->cuCtxDestroy(later));
}

static void no_context(void)
{
    bool value = false;
    size_t size = sizeof value;
    CALL(cu->cuCoredumpGetAttribute(CU_COREDUMP_LIGHTWEIGHT, &value, &size));
    CALL(cu->cuCoredumpGetAttribute((CUcoredumpSettings)99, &value, &size));
    CALL(cu->cuCoredumpSetAttribute(CU_COREDUMP_LIGHTWEIGHT, &value, &size));
    CALL(cu->cuCoredumpGetAttributeGlobal(CU_COREDUMP_LIGHTWEIGHT, &value, &size));
    CALL(cu->cuCoredumpSetAttributeGlobal(CU_COREDUMP_LIGHTWEIGHT, &value, &size));
}

static void before_init(void)
{
    bool value = true, got = false;
    size_t size = sizeof value;
    CALL(cu->cuCoredumpGetAttributeGlobal(CU_COREDUMP_LIGHTWEIGHT, &got, &size));
    CALL(cu->cuCoredumpSetAttributeGlobal(CU_COREDUMP_LIGHTWEIGHT, &value, &size));
    CALL(cu->cuCoredumpGetAttribute(CU_COREDUMP_LIGHTWEIGHT, &got, &size));
    CALL(cu->cuCoredumpSetAttribute(CU_COREDUMP_LIGHTWEIGHT, &value, &size));
    MUST(cu->cuInit(0));
    CALL(cu->cuCoredumpGetAttributeGlobal(CU_COREDUMP_LIGHTWEIGHT, &got, &size));
    VALUE("value=%d", got);
}

/* Pointers that a driver may read before it judges them: each in a process of its own. */
static bool flag;
static size_t one = 1;

#define ALONE(name, call)                                                                          \
    static void name(void)                                                                         \
    {                                                                                              \
        EACH(call, "%s", #call);                                                                   \
        VALUE("size=%zu", one);                                                                    \
    }
ALONE(get_no_value, cu->cuCoredumpGetAttribute(CU_COREDUMP_LIGHTWEIGHT, NULL, &one))
ALONE(get_no_size, cu->cuCoredumpGetAttribute(CU_COREDUMP_LIGHTWEIGHT, &flag, NULL))
ALONE(global_get_no_value, cu->cuCoredumpGetAttributeGlobal(CU_COREDUMP_LIGHTWEIGHT, NULL, &one))
ALONE(set_no_value, cu->cuCoredumpSetAttribute(CU_COREDUMP_LIGHTWEIGHT, NULL, &one))
ALONE(set_no_size, cu->cuCoredumpSetAttribute(CU_COREDUMP_LIGHTWEIGHT, &flag, NULL))
ALONE(global_set_no_value, cu->cuCoredumpSetAttributeGlobal(CU_COREDUMP_LIGHTWEIGHT, NULL, &one))
ALONE(global_set_no_size, cu->cuCoredumpSetAttributeGlobal(CU_COREDUMP_LIGHTWEIGHT, &flag, NULL))

static const struct sequence sequences[] = {S(defaults, PRIMARY),
                                            S(global_defaults, PRIMARY),
                                            S(room, PRIMARY),
                                            S(global_room, PRIMARY),
                                            S(flags, PRIMARY),
                                            S(global_flags, PRIMARY),
                                            S(sizes, PRIMARY),
                                            S(global_sizes, PRIMARY),
                                            S(number, PRIMARY),
                                            S(global_number, PRIMARY),
                                            S(file, PRIMARY),
                                            S(global_file, PRIMARY),
                                            S(unended, PRIMARY),
                                            S(global_unended, PRIMARY),
                                            S(pipes, PRIMARY),
                                            S(global_pipes, PRIMARY),
                                            S(scopes, PRIMARY),
                                            S(no_context, INIT),
                                            S(before_init, BARE),
                                            S(get_no_value, PRIMARY),
                                            S(get_no_size, PRIMARY),
                                            S(global_get_no_value, PRIMARY),
                                            S(set_no_value, PRIMARY),
                                            S(set_no_size, PRIMARY),
                                            S(global_set_no_value, PRIMARY),
                                            S(global_set_no_size, PRIMARY),
                                            {0}};
const struct family coredump_family = {"coredump", sequences};
