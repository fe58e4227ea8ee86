/* SPDX-License-Identifier: MIT */
/*
 * Cubins on disk. A file is named after the hash of its key, which is all that the cubin depends
 * on: the inputs' bytes, the options, the driver and the compute capability. The file has the key
 * itself too, and a reader compares it, so that two keys with one hash do harm to nobody. Files are
 * written under a name of their own and renamed: a reader sees all of one or none.
 *
 *     "CUSHIMC1", bytes of the key, bytes of the cubin, hash of the cubin (2 words), key, cubin
 *
 * Numbers are of 64 bits, little end first.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "module_internal.h"

enum { MODULE_CACHE_HEADER = 40 };

static const unsigned char module_cache_name[16] = "cushim: keys..",
                           module_cache_sum[16] = "cushim: sums..";

static void module_cache_note(struct cushim_jit *jit, const char *path, const char *words,
                              const char *why)
{
    char text[4600];
    free(jit->cache_note);
    snprintf(text, sizeof text, "%.4095s: %.160s%s%.200s", path, words, why[0] ? ": " : "", why);
    jit->cache_note = malloc(strlen(text) + 1);
    if (jit->cache_note)
        memcpy(jit->cache_note, text, strlen(text) + 1);
}

/* ---- the key */

static unsigned char *module_put(unsigned char *at, const void *data, size_t bytes)
{
    if (bytes)
        memcpy(at, data, bytes);
    return at + bytes;
}

static unsigned char *module_put_number(unsigned char *at, uint64_t number)
{
    for (int i = 0; i < 8; i++)
        *at++ = (unsigned char)(number >> 8 * i);
    return at;
}

static uint64_t module_get_number(const unsigned char *at)
{
    uint64_t number = 0;
    for (int i = 8; i--;)
        number = number << 8 | at[i];
    return number;
}

/* A driver's file is libcuda.so.VERSION once links are followed: two builds of one CUDA version
 * compile differently. */
static const char *module_driver_file(const struct cushim_api *cu)
{
    const char *path = cushim_path(cu), *slash = path ? strrchr(path, '/') : NULL;
    return slash ? slash + 1 : path ? path : "";
}

static bool module_cache_key(const struct cushim_jit *jit, const struct cushim_linking *inputs,
                             size_t count, struct cushim_bytes *key)
{
    const struct cushim_jit_options *wanted = &jit->wanted;
    const char *driver = module_driver_file(jit->cu);
    const uint64_t numbers[] = {
        1, /* of this layout */
        (uint64_t)cushim_driver_version(jit->cu),
        (uint64_t)cushim_module_arch(jit->cu),
        (uint64_t)wanted->optimisation,
        (uint64_t)wanted->fallback,
        wanted->max_registers,
        wanted->threads_per_block,
        wanted->target,
        wanted->cache_mode,
        wanted->debug_info,
        wanted->line_info,
        wanted->position_independent,
        strlen(driver),
        count,
    };
    const size_t number_count = sizeof numbers / sizeof *numbers;
    size_t bytes = 8 * number_count + strlen(driver);
    for (size_t i = 0; i < count; i++) {
        if (inputs[i].bytes > SIZE_MAX / 4 - bytes)
            return false;
        bytes += 16 + inputs[i].bytes;
    }
    unsigned char *at = malloc(bytes);
    *key = (struct cushim_bytes){at, bytes};
    if (!at)
        return false;
    for (size_t i = 0; i < number_count; i++)
        at = module_put_number(at, numbers[i]);
    at = module_put(at, driver, strlen(driver));
    for (size_t i = 0; i < count; i++) {
        at = module_put_number(at, (uint64_t)inputs[i].image.kind);
        at = module_put_number(at, inputs[i].bytes);
        at = module_put(at, inputs[i].data, inputs[i].bytes);
    }
    return true;
}

bool cushim_cache_begin(struct cushim_jit *jit, const struct cushim_linking *inputs, size_t count,
                        struct cushim_cache_entry *entry)
{
    char folder[4000], why[200] = "";
    jit->outcome = CUSHIM_CACHE_FAILED;
    if (!cushim_module_arch(jit->cu))
        return false; /* no context: the linker says so */
    if (jit->cache.folder && strlen(jit->cache.folder) < sizeof folder)
        memcpy(folder, jit->cache.folder, strlen(jit->cache.folder) + 1);
    else if (jit->cache.folder || !cushim_file_cache_folder(folder, sizeof folder)) {
        module_cache_note(jit, "cache", "no folder: neither XDG_CACHE_HOME nor HOME is one", "");
        return false;
    }
    if (!cushim_file_make_folder(folder, why, sizeof why)) {
        module_cache_note(jit, folder, "no folder for the cache", why);
        return false;
    }
    if (!module_cache_key(jit, inputs, count, &entry->key)) {
        module_cache_note(jit, folder, "no memory for a key", "");
        return false;
    }
    struct cushim_hash hash = cushim_hash(module_cache_name, entry->key.data, entry->key.bytes);
    snprintf(entry->path, sizeof entry->path, "%s/%016" PRIx64 "%016" PRIx64 ".cubin", folder,
             hash.high, hash.low);
    return true;
}

void cushim_cache_end(struct cushim_cache_entry *entry)
{
    free(entry->key.data);
    entry->key = (struct cushim_bytes){0};
}

/* ---- entries */

/* Where the cubin is in a file; 0, and words, where the file is not what it should be. */
static size_t module_cache_check(const struct cushim_bytes *file, const struct cushim_bytes *key,
                                 const char **why)
{
    const unsigned char *data = file->data;
    *why = "it is damaged";
    if (file->bytes < MODULE_CACHE_HEADER || memcmp(data, "CUSHIMC1", 8) != 0)
        return 0;
    const uint64_t key_bytes = module_get_number(data + 8), bytes = module_get_number(data + 16);
    const uint64_t left = file->bytes - MODULE_CACHE_HEADER;
    if (key_bytes > left || bytes != left - key_bytes || !bytes)
        return 0;
    const unsigned char *cubin = data + MODULE_CACHE_HEADER + key_bytes;
    const struct cushim_hash sum = cushim_hash(module_cache_sum, cubin, (size_t)bytes);
    if (sum.low != module_get_number(data + 24) || sum.high != module_get_number(data + 32))
        return 0;
    *why = "it is for something else";
    if (key_bytes != key->bytes || memcmp(data + MODULE_CACHE_HEADER, key->data, key->bytes) != 0)
        return 0;
    return MODULE_CACHE_HEADER + (size_t)key_bytes;
}

bool cushim_cache_fetch(struct cushim_jit *jit, const struct cushim_cache_entry *entry,
                        struct cushim_cubin *cubin)
{
    struct cushim_bytes file = {0};
    char why[200] = "";
    const char *wrong = "";
    if (!cushim_file_read(entry->path, &file, why, sizeof why)) {
        if (why[0])
            module_cache_note(jit, entry->path, "cannot be read", why);
        return false;
    }
    const size_t at = module_cache_check(&file, &entry->key, &wrong);
    if (!at) {
        module_cache_note(jit, entry->path, "not used, but written anew", wrong);
        free(file.data);
        return false;
    }
    cubin->bytes = file.bytes - at;
    memmove(file.data, (unsigned char *)file.data + at, cubin->bytes);
    cubin->data = file.data;
    jit->outcome = CUSHIM_CACHE_HIT;
    cushim_file_touch(entry->path);
    return true;
}

void cushim_cache_store(struct cushim_jit *jit, const struct cushim_cache_entry *entry,
                        const struct cushim_cubin *cubin)
{
    unsigned char header[MODULE_CACHE_HEADER] = "CUSHIMC1";
    char folder[4096], why[200] = "";
    const struct cushim_hash sum = cushim_hash(module_cache_sum, cubin->data, cubin->bytes);
    const struct cushim_bytes parts[] = {
        {header, sizeof header}, entry->key, {cubin->data, cubin->bytes}};
    unsigned char *at = module_put_number(header + 8, entry->key.bytes);
    at = module_put_number(at, cubin->bytes);
    at = module_put_number(at, sum.low);
    module_put_number(at, sum.high);
    const size_t bytes = sizeof header + entry->key.bytes + cubin->bytes;
    if (bytes > jit->cache.limit) {
        snprintf(why, sizeof why, "%zu bytes, and the limit is %llu", bytes, jit->cache.limit);
        module_cache_note(jit, entry->path, "not stored", why);
        return;
    }
    if (!cushim_file_write(entry->path, parts, sizeof parts / sizeof *parts, why, sizeof why)) {
        module_cache_note(jit, entry->path, "not stored", why);
        return;
    }
    jit->outcome = CUSHIM_CACHE_STORED;
    memcpy(folder, entry->path, sizeof folder);
    *strrchr(folder, '/') = 0;
    cushim_file_trim(folder, jit->cache.limit);
}
