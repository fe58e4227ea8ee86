/* SPDX-License-Identifier: MIT */
/* Fatbins: a header, and one entry per PTX text or cubin. The layout was read off what nvcc 13
 * writes; all numbers are little-endian. Nothing in a file is believed without a check. */
#include <stdlib.h>
#include <string.h>

#include "image.h"

#ifdef SIM_HAVE_LZ4
#include <lz4.h>
#endif
#ifdef SIM_HAVE_ZSTD
#include <zstd.h>
#endif

#define WRAPPER_MAGIC 0x466243b1U
#define MAGIC 0xba55ed50U
#define KIND_PTX 1
#define FLAG_LZ4 UINT64_C(0x2000)
#define FLAG_ZSTD UINT64_C(0x8000)
#define MAX_TEXT ((uint64_t)1 << 30)

struct wrapper { /* what nvcc puts into a program: points to the fatbin */
    uint32_t magic, version;
    const void *data;
    void *file;
};
struct header {
    uint32_t magic;
    uint16_t version, header_size;
    uint64_t size; /* of what follows the header */
};
struct entry {
    uint16_t kind, version;
    uint32_t header_size;
    uint64_t padded_size;
    uint32_t packed_size; /* 0: not packed */
    uint32_t unknown;
    uint16_t minor, major;
    uint32_t architecture;
    uint32_t name_offset, name_length;
    uint64_t flags, zero;
    uint64_t size; /* unpacked; 0: not packed */
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

bool sim_is_fatbin(const void *data, size_t size)
{
    uint32_t magic = magic_of(data, size);
    return magic == MAGIC || magic == WRAPPER_MAGIC;
}

bool sim_unpack_lz4(const void *from, size_t packed, char *to, size_t size)
{
#ifdef SIM_HAVE_LZ4
    return packed <= INT32_MAX && size <= INT32_MAX &&
           LZ4_decompress_safe(from, to, (int)packed, (int)size) == (int)size;
#else
    (void)from, (void)packed, (void)to, (void)size;
    return false;
#endif
}

bool sim_unpack_zstd(const void *from, size_t packed, char *to, size_t size)
{
#ifdef SIM_HAVE_ZSTD
    return ZSTD_decompress(to, size, from, packed) == size;
#else
    (void)from, (void)packed, (void)to, (void)size;
    return false;
#endif
}

/* The entry's text, NUL-terminated, to be freed; NULL: damaged, or packed in a way that this build
 * cannot unpack. */
static char *unpack(const struct entry *entry, const char *payload, size_t *length,
                    struct ptx_text *errors)
{
    bool packed = entry->flags & (FLAG_LZ4 | FLAG_ZSTD);
    uint64_t size = packed ? entry->size : entry->padded_size;
    char *text = size < MAX_TEXT ? malloc((size_t)size + 1) : NULL;
    if (!text)
        return NULL;
    bool good = true;
    if (entry->flags & FLAG_ZSTD)
        good = sim_unpack_zstd(payload, entry->packed_size, text, (size_t)size);
    else if (entry->flags & FLAG_LZ4)
        good = sim_unpack_lz4(payload, entry->packed_size, text, (size_t)size);
    else
        memcpy(text, payload, (size_t)size);
    if (!good) {
        if (errors)
            ptx_text_add(errors, "fatbin: PTX packed with %s cannot be unpacked\n",
                         entry->flags & FLAG_ZSTD ? "Zstandard" : "LZ4");
        free(text);
        return NULL;
    }
    text[size] = '\0';
    *length = strlen(text);
    return text;
}

/* The entry at `offset`, and its payload; false: outside of the file. */
static bool entry_at(const char *data, uint64_t size, uint64_t offset, struct entry *entry,
                     const char **payload)
{
    if (size - offset < sizeof *entry)
        return false;
    memcpy(entry, data + offset, sizeof *entry);
    uint64_t room = size - offset;
    if (entry->header_size < sizeof *entry || entry->header_size > room ||
        entry->padded_size > room - entry->header_size || entry->packed_size > entry->padded_size)
        return false;
    *payload = data + offset + entry->header_size;
    return true;
}

/* What is in a fatbin without PTX for this device. */
static void list_parts(const char *entries, uint64_t size, unsigned architecture,
                       struct ptx_text *errors)
{
    struct entry entry;
    const char *payload;
    ptx_text_add(errors, "the simulated device runs PTX for sm_%u and older; the fatbin has",
                 architecture);
    for (uint64_t at = 0; at < size && entry_at(entries, size, at, &entry, &payload);
         at += entry.header_size + entry.padded_size)
        ptx_text_add(errors, "%s %s sm_%u", at ? "," : "",
                     entry.kind == KIND_PTX ? "PTX for" : "machine code for",
                     (unsigned)entry.architecture);
    ptx_text_add(errors, "%s; ", size ? "" : " nothing");
}

CUresult sim_fatbin_read(const void *data, size_t size, unsigned architecture, char **text,
                         size_t *length, struct ptx_text *errors)
{
    struct header header;
    struct entry entry, best = {0};
    const char *payload, *best_payload = NULL;
    if (magic_of(data, size) == WRAPPER_MAGIC) {
        struct wrapper wrapper;
        if (size < sizeof wrapper)
            return CUDA_ERROR_INVALID_IMAGE;
        memcpy(&wrapper, data, sizeof wrapper);
        data = wrapper.data;
        size = SIZE_MAX;
        if (!data || magic_of(data, size) != MAGIC)
            return CUDA_ERROR_INVALID_IMAGE;
    }
    if (size < sizeof header)
        return CUDA_ERROR_INVALID_IMAGE;
    memcpy(&header, data, sizeof header);
    if (header.header_size < sizeof header || header.header_size > size ||
        header.size > size - header.header_size)
        return CUDA_ERROR_INVALID_IMAGE;
    const char *entries = (const char *)data + header.header_size;
    for (uint64_t at = 0; at < header.size;) {
        if (!entry_at(entries, header.size, at, &entry, &payload))
            return CUDA_ERROR_INVALID_IMAGE;
        if (entry.kind == KIND_PTX && entry.architecture <= architecture &&
            entry.architecture >= best.architecture) {
            best = entry;
            best_payload = payload;
        }
        at += entry.header_size + entry.padded_size;
    }
    if (!best_payload) {
        if (errors) {
            list_parts(entries, header.size, architecture, errors);
            ptx_text_add(errors, SIM_HOW_TO_GET_PTX);
        }
        return CUDA_ERROR_NO_BINARY_FOR_GPU;
    }
    *text = unpack(&best, best_payload, length, errors);
    return *text ? CUDA_SUCCESS : CUDA_ERROR_INVALID_IMAGE;
}
