/* SPDX-License-Identifier: MIT */
/*
 * A fatbin is a header and entries, each with a header of its own; all numbers are little-endian.
 * Nothing in it is believed without a check.
 */
#include "fatbin_read.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifdef HAVE_LZ4
#include <lz4.h>
#endif
#ifdef HAVE_ZSTD
#include <zstd.h>
#endif

#define FLAG_LZ4 UINT64_C(0x2000)
#define FLAG_ZSTD UINT64_C(0x8000)

enum { KIND_PTX = 1, KIND_CUBIN = 2, HEAD_SIZE = 4096 };

static const unsigned char magic[] = {0x50, 0xed, 0x55, 0xba};

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

static size_t head_of_lz4(const char *from, size_t packed, char *to)
{
#ifdef HAVE_LZ4
    int size = packed > INT32_MAX
                   ? -1
                   : LZ4_decompress_safe_partial(from, to, (int)packed, HEAD_SIZE, HEAD_SIZE);
    return size > 0 ? (size_t)size : 0;
#else
    (void)from, (void)packed, (void)to;
    return 0;
#endif
}

static size_t head_of_zstd(const char *from, size_t packed, char *to)
{
#ifdef HAVE_ZSTD
    ZSTD_DCtx *context = ZSTD_createDCtx();
    ZSTD_inBuffer in = {from, packed, 0};
    ZSTD_outBuffer out = {to, HEAD_SIZE, 0};
    size_t before = 1;

    /* Until the head is full, or there is no more. */
    while (context && out.pos < out.size && in.pos < in.size + 1 && before != 0) {
        size_t at = in.pos + out.pos;
        before = ZSTD_decompressStream(context, &out, &in);
        if (ZSTD_isError(before) || in.pos + out.pos == at)
            break;
    }
    ZSTD_freeDCtx(context);
    return out.pos;
#else
    (void)from, (void)packed, (void)to;
    return 0;
#endif
}

/* The first bytes of an entry's PTX, NUL-terminated. */
static void read_head(const struct entry *entry, const char *payload, char head[HEAD_SIZE + 1])
{
    size_t size = 0;

    if (entry->flags & FLAG_ZSTD) {
        size = head_of_zstd(payload, entry->packed_size, head);
    } else if (entry->flags & FLAG_LZ4) {
        size = head_of_lz4(payload, entry->packed_size, head);
    } else {
        size = entry->padded_size < HEAD_SIZE ? (size_t)entry->padded_size : HEAD_SIZE;
        memcpy(head, payload, size);
    }
    head[size] = '\0';
}

/* A number of at most four digits; -1 for none. Moves *text behind it. */
static int read_number(const char **text)
{
    int value = -1;

    for (int i = 0; i < 4 && **text >= '0' && **text <= '9'; i++, (*text)++)
        value = (value < 0 ? 0 : 10 * value) + (**text - '0');
    return value;
}

/* What PTX says of itself: ".version 8.4" and ".target sm_90a". */
static void read_directives(const char *head, struct fatbin_code *code)
{
    const char *text = strstr(head, ".version");

    if (text) {
        text += strlen(".version");
        text += strspn(text, " \t");
        int major = read_number(&text);
        int minor = major > 0 && *text == '.' ? (text++, read_number(&text)) : -1;
        if (minor >= 0 && minor < 10 && major < 1000)
            code->ptx_version = 10 * major + minor;
    }
    text = strstr(head, ".target");
    if (!text)
        return;
    text += strlen(".target");
    text += strspn(text, " \t");
    if (strncmp(text, "sm_", 3) == 0) {
        text += 3;
        if (read_number(&text) == code->architecture && (*text == 'a' || *text == 'f'))
            code->variant = *text;
    }
}

static void add_code(struct fatbin *fatbin, const struct entry *entry, const char *payload)
{
    struct fatbin_code *code;
    char head[HEAD_SIZE + 1];

    if (fatbin->count == FATBIN_MAX_CODES) {
        fatbin->cut = true;
        return;
    }
    code = &fatbin->code[fatbin->count++];
    *code = (struct fatbin_code){.kind = entry->kind == KIND_PTX     ? FATBIN_PTX
                                         : entry->kind == KIND_CUBIN ? FATBIN_CUBIN
                                                                     : FATBIN_OTHER,
                                 .architecture = (int)(entry->architecture & 0xffff)};
    if (code->kind != FATBIN_PTX)
        return;
    read_head(entry, payload, head);
    read_directives(head, code);
    if (code->ptx_version == 0 && entry->major > 0 && entry->major < 100 && entry->minor < 10)
        code->ptx_version = 10 * entry->major + entry->minor;
}

/* The fatbin at the beginning of some bytes; how many bytes it has, 0 where there is none. */
static size_t read_fatbin(const char *data, size_t size, struct fatbin *fatbin)
{
    struct header header;
    struct entry entry;
    size_t at = 0, whole;

    if (size < sizeof header)
        return 0;
    memcpy(&header, data, sizeof header);
    if (header.version != 1 || header.header_size < sizeof header || header.header_size > 64 ||
        header.header_size > size)
        return 0;
    memset(fatbin, 0, sizeof *fatbin);
    data += header.header_size;
    whole = size - header.header_size;
    if (header.size < whole)
        whole = (size_t)header.size;
    else
        fatbin->damaged = header.size > whole;
    while (whole - at >= sizeof entry) {
        size_t room = whole - at;
        memcpy(&entry, data + at, sizeof entry);
        if (entry.header_size < sizeof entry || entry.header_size > room ||
            entry.padded_size > room - entry.header_size || entry.packed_size > entry.padded_size) {
            fatbin->damaged = true;
            break;
        }
        add_code(fatbin, &entry, data + at + entry.header_size);
        at += entry.header_size + (size_t)entry.padded_size;
    }
    return header.header_size + at;
}

void fatbin_search(const void *data, size_t size, fatbin_visitor *visit, void *user)
{
    const char *at = data, *end = at + size;

    while ((at = memmem(at, (size_t)(end - at), magic, sizeof magic))) {
        struct fatbin *fatbin = malloc(sizeof *fatbin);
        size_t length = fatbin ? read_fatbin(at, (size_t)(end - at), fatbin) : 0;
        if (length > 0)
            visit(user, fatbin);
        free(fatbin);
        at += length > 0 ? length : sizeof magic;
    }
}
