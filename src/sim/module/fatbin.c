/* SPDX-License-Identifier: MIT */
/* The PTX of a fatbin for a device. Nothing in a file is believed without a check. */
#include "module/module.h"

#include "fatbin_format.h"

#ifdef SIM_HAVE_LZ4
#include <lz4.h>
#endif
#ifdef SIM_HAVE_ZSTD
#include <zstd.h>
#endif

#define WRAPPER_MAGIC 0x466243b1U
#define MAX_TEXT ((uint64_t)1 << 30)

struct wrapper { /* what nvcc puts into a program: points to the fatbin */
    uint32_t magic, version;
    const void *data;
    void *file;
};

/* Where the size is not known, what is no fatbin may end early, as "" does: neither magic has a
 * zero in it. */
static uint32_t magic_of(const void *data, size_t size)
{
    const unsigned char *bytes = data;
    uint32_t magic = 0;
    if (size >= sizeof magic)
        for (unsigned i = 0; i < sizeof magic && bytes[i]; i++)
            magic |= (uint32_t)bytes[i] << 8 * i;
    return magic;
}

bool sim_fatbin_is(const void *data, size_t size)
{
    uint32_t magic = magic_of(data, size);
    return magic == FATBIN_MAGIC || magic == WRAPPER_MAGIC;
}

/* The entry's text, NUL-terminated, to be freed; NULL: damaged, or packed in a way that this build
 * cannot unpack. */
static char *unpack(const struct fatbin_entry *entry, const char *payload, size_t *length,
                    struct ptx_text *errors)
{
    bool packed = entry->flags & (FATBIN_LZ4 | FATBIN_ZSTD);
    uint64_t size = packed ? entry->size : entry->padded_size;
    char *text = size < MAX_TEXT ? malloc((size_t)size + 1) : NULL;
    if (!text)
        return NULL;
    bool good = !packed;
    if (!packed)
        memcpy(text, payload, (size_t)size);
#ifdef SIM_HAVE_LZ4
    if (entry->flags & FATBIN_LZ4 && entry->packed_size <= INT32_MAX && size <= INT32_MAX)
        good = LZ4_decompress_safe(payload, text, (int)entry->packed_size, (int)size) == (int)size;
#endif
#ifdef SIM_HAVE_ZSTD
    if (entry->flags & FATBIN_ZSTD)
        good = ZSTD_decompress(text, (size_t)size, payload, entry->packed_size) == size;
#endif
    if (!good) {
        if (errors)
            ptx_text_add(errors, "fatbin: PTX packed with %s cannot be unpacked\n",
                         entry->flags & FATBIN_ZSTD ? "Zstandard" : "LZ4");
        free(text);
        return NULL;
    }
    text[size] = '\0';
    *length = strlen(text);
    return text;
}

/* What is in a fatbin without PTX for this device. */
static void list_parts(const char *entries, uint64_t size, unsigned architecture,
                       struct ptx_text *errors)
{
    struct fatbin_entry entry;
    const char *payload;
    ptx_text_add(errors, "the simulated device runs PTX for sm_%u and older; the fatbin has",
                 architecture);
    for (uint64_t at = 0; at < size && fatbin_entry_at(entries, size, at, &entry, &payload);
         at += fatbin_entry_size(&entry))
        ptx_text_add(errors, "%s %s sm_%u", at ? "," : "",
                     entry.kind == FATBIN_KIND_PTX ? "PTX for" : "machine code for",
                     (unsigned)entry.architecture);
    ptx_text_add(errors, "%s; ", size ? "" : " nothing");
}

CUresult sim_fatbin_read(const void *data, size_t size, unsigned architecture, char **text,
                         size_t *length, struct ptx_text *errors)
{
    struct fatbin_header header;
    struct fatbin_entry entry, best = {0};
    const char *payload, *best_payload = NULL;
    if (magic_of(data, size) == WRAPPER_MAGIC) {
        struct wrapper wrapper;
        SIM_FAIL(INVALID_IMAGE, size < sizeof wrapper);
        memcpy(&wrapper, data, sizeof wrapper);
        data = wrapper.data;
        size = SIZE_MAX;
        SIM_FAIL(INVALID_IMAGE, !data || magic_of(data, size) != FATBIN_MAGIC);
    }
    SIM_FAIL(INVALID_IMAGE, size < sizeof header);
    memcpy(&header, data, sizeof header);
    SIM_FAIL(INVALID_IMAGE, header.header_size < sizeof header || header.header_size > size ||
                                header.size > size - header.header_size);
    const char *entries = (const char *)data + header.header_size;
    for (uint64_t at = 0; at < header.size;) {
        SIM_FAIL(INVALID_IMAGE, !fatbin_entry_at(entries, header.size, at, &entry, &payload));
        if (entry.kind == FATBIN_KIND_PTX && entry.architecture <= architecture &&
            entry.architecture >= best.architecture) {
            best = entry;
            best_payload = payload;
        }
        at += fatbin_entry_size(&entry);
    }
    if (!best_payload) {
        if (errors) {
            list_parts(entries, header.size, architecture, errors);
            ptx_text_add(errors, SIM_HOW_TO_GET_PTX);
        }
        return SIM_LACK_cuModuleLoadData_machine;
    }
    *text = unpack(&best, best_payload, length, errors);
    return *text ? CUDA_SUCCESS : CUDA_ERROR_INVALID_IMAGE;
}
