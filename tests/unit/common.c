/* SPDX-License-Identifier: MIT */
#include "common.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct fake_control *fake_control(const char *path)
{
    struct fake_control *control = exported(path, "fake_control");
    assert_non_null(control);
    return control;
}

struct cushim_options defaults(void)
{
    struct cushim_options options = {.size = sizeof options};
    return options;
}

const struct cushim_api *open_path(const char *path)
{
    struct cushim_options options = defaults();
    options.path = path;
    const struct cushim_api *cu = cushim_open(&options);
    assert_non_null(cu);
    return cu;
}

size_t entry_index(const char *symbol)
{
    struct cushim_entry entry;
    for (size_t i = 0; cushim_entry_at(i, &entry); i++)
        if (strcmp(entry.symbol, symbol) == 0)
            return i;
    fail_msg("no entry %s in the registry", symbol);
    return 0;
}

void *table_slot(const struct cushim_api *table, size_t index)
{
    /* The layout is documented: `size`, then one pointer for each entry, in their order. */
    void *slot;
    const char *slots = (const char *)table + offsetof(struct cushim_api, cuArray3DCreate_v1);
    memcpy(&slot, slots + index * sizeof slot, sizeof slot);
    return slot;
}

static void assert_sound_slot(const struct cushim_api *cu, size_t index)
{
    struct cushim_entry entry;
    assert_true(cushim_entry_at(index, &entry));
    struct cushim_slot slot = cushim_slot_at(cu, index);
    bool available = slot.state == CUSHIM_STATE_AVAILABLE;
    enum cushim_state state = CUSHIM_STATE_UNKNOWN;

    if (!table_slot(cu, index))
        fail_msg("%s: NULL slot", entry.symbol);
    if (available != !!slot.address || available != (slot.via != CUSHIM_VIA_NONE))
        fail_msg("%s: state %d, address %p, via %d", entry.symbol, (int)slot.state, slot.address,
                 (int)slot.via);
    if (slot.state == CUSHIM_STATE_UNKNOWN)
        fail_msg("%s: unknown, though in the registry", entry.symbol);
    if (available != cushim_has(cu, entry.symbol))
        fail_msg("%s: cushim_has says otherwise than the slot", entry.symbol);
    char text[512];
    const char *reason = cushim_reason(cu, entry.symbol, &state, text, sizeof text);
    if (!reason || state != slot.state || !strstr(reason, entry.symbol))
        fail_msg("%s: state %d, reason %d: %s", entry.symbol, (int)slot.state, (int)state, reason);
}

size_t attempts_of(const struct cushim_api *cu, struct cushim_attempt attempts[ATTEMPTS])
{
    size_t count = 0;
    for (; count < ATTEMPTS; count++) {
        attempts[count].size = sizeof attempts[count];
        if (!cushim_attempt_at(cu, count, &attempts[count]))
            break;
    }
    return count;
}

void assert_sound(const struct cushim_api *cu)
{
    assert_non_null(cu);
    assert_true(cu->size == sizeof(struct cushim_api));
    assert_true(sizeof(struct cushim_api) == offsetof(struct cushim_api, cuArray3DCreate_v1) +
                                                 cushim_entry_count() * sizeof(void *));
    for (size_t i = 0; i < cushim_entry_count(); i++)
        assert_sound_slot(cu, i);

    const char *message = cushim_message(cu);
    assert_non_null(message);
    assert_true(strlen(message) > 10);
    assert_null(strchr(message, '\n'));
    struct cushim_attempt attempts[ATTEMPTS];
    size_t count = attempts_of(cu, attempts);
    for (size_t i = 0; i < count; i++) {
        assert_non_null(attempts[i].path);
        assert_non_null(attempts[i].message);
        assert_true((attempts[i].status == CUSHIM_OK) ==
                    (cushim_status(cu) == CUSHIM_OK && i == count - 1));
    }
    assert_true((cushim_status(cu) == CUSHIM_OK) == (cushim_driver_version(cu) > 0));
}

void assert_failed(const struct cushim_api *cu, enum cushim_status status)
{
    assert_non_null(cu);
    if (cushim_status(cu) != status)
        fail_msg("status %s, not %s: %s", cushim_status_name(cushim_status(cu)),
                 cushim_status_name(status), cushim_message(cu));
    assert_sound(cu);
    assert_int_equal(cushim_driver_version(cu), 0);
    assert_null(cushim_path(cu));
    assert_null(cushim_base(cu));
    for (size_t i = 0; i < cushim_entry_count(); i++)
        assert_true(cushim_slot_at(cu, i).state != CUSHIM_STATE_AVAILABLE);
    int version = -1;
    assert_int_equal(cu->cuInit(0), CUDA_ERROR_NO_DEVICE);
    assert_int_equal(cu->cuDriverGetVersion(&version), CUDA_SUCCESS);
    assert_int_equal(version, 0);
}

void assert_good_driver_loads(void)
{
    const struct cushim_api *cu = open_path(fake_path(GOOD));
    if (cushim_status(cu) != CUSHIM_OK)
        fail_msg("good driver: %s", cushim_message(cu));
    assert_sound(cu);
    assert_int_equal(cushim_driver_version(cu), GOOD_VERSION);
    assert_true(cushim_has(cu, "cuMemAlloc_v2"));
    assert_null(strchr(cushim_message(cu), ';')); /* no remark */
    cushim_close(cu);
}

void assert_contains(const char *text, const char *part)
{
    assert_non_null(text);
    if (!strstr(text, part))
        fail_msg("no \"%s\" in: %s", part, text);
}

void assert_mentions(const char *text, const char *part)
{
    size_t length = strlen(part);
    assert_non_null(text);
    for (const char *at = text; *at; at++) {
        size_t i = 0;
        while (i < length && tolower((unsigned char)at[i]) == tolower((unsigned char)part[i]))
            i++;
        if (i == length)
            return;
    }
    fail_msg("no \"%s\" in: %s", part, text);
}

bool can_call_with_zeros(void)
{
#if defined(__x86_64__) || defined(__i386__) || defined(__aarch64__)
    return true;
#else
    return false;
#endif
}

/*
 * The one place that calls functions through another type than their own. The caller cleans up the
 * stack on these processors, so a function may be given more arguments than it takes: zero in all
 * registers for arguments, and in 160 bytes of stack (i386: 112), more than any entry of the API
 * takes by value (cuIpcOpenMemHandle: 64).
 */
#if defined(__clang__)
__attribute__((no_sanitize("undefined")))
#endif
int call_with_zeros(void *function)
{
    typedef uintptr_t word;
    typedef int generic(word, word, word, word, word, word, word, word, word, word, word, word,
                        word, word, word, word, word, word, word, word, word, word, word, word,
                        word, word, word, word);
    generic *call;
    memcpy(&call, &function, sizeof call);
    return call(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
}

unsigned char *read_whole(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        fail_msg("%s: %s", path, strerror(errno));
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    long end = ftell(file);
    assert_true(end >= 0);
    rewind(file);
    *size = (size_t)end;
    unsigned char *bytes = malloc(*size + 1);
    assert_non_null(bytes);
    assert_true(fread(bytes, 1, *size, file) == *size);
    fclose(file);
    return bytes;
}

const char *copy_file(const char *from, const char *name)
{
    size_t size;
    unsigned char *bytes = read_whole(from, &size);
    const char *path = write_file(name, bytes, size);
    free(bytes);
    return path;
}
