/* SPDX-License-Identifier: MIT */
/*
 * What the headers of a fatbin tell, and what the first bytes of each PTX text and each cubin do.
 * Nothing in it is believed without a check.
 */
#include "fatbin_read.h"

#include "cubin_read.h"
#include "mapped.h"

#include "../src/fatbin_format.h"

#include <elf.h>
#include <stdlib.h>

#ifdef HAVE_LZ4
#include <lz4.h>
#endif
#ifdef HAVE_ZSTD
#include <zstd.h>
#endif

/* How much of PTX and of a cubin is read. A cubin has its symbols before its notes, and large ones
 * have many. */
enum { PTX_START = 512, PTX_HEAD = 4096, CUBIN_HEAD = 1 << 18, LARGE_HEAD = 1 << 25 };

/* How much of a file is searched before the pages that were searched are given back. */
enum { WINDOW = 1 << 24 };

/* One for all fatbins of a search. */
struct work {
    struct fatbin fatbin;
    char head[CUBIN_HEAD + 1];
    char *large; /* LARGE_HEAD + 1 bytes, once they are needed */
};

static const unsigned char magic[] = {0x50, 0xed, 0x55, 0xba};

static size_t head_of_lz4(const char *from, size_t packed, char *to, size_t room)
{
#ifdef HAVE_LZ4
    int size = packed > INT32_MAX
                   ? -1
                   : LZ4_decompress_safe_partial(from, to, (int)packed, (int)room, (int)room);
    return size > 0 ? (size_t)size : 0;
#else
    (void)from, (void)packed, (void)to, (void)room;
    return 0;
#endif
}

static size_t head_of_zstd(const char *from, size_t packed, char *to, size_t room)
{
#ifdef HAVE_ZSTD
    ZSTD_DCtx *context = ZSTD_createDCtx();
    ZSTD_inBuffer in = {from, packed, 0};
    ZSTD_outBuffer out = {to, room, 0};
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
    (void)from, (void)packed, (void)to, (void)room;
    return 0;
#endif
}

/* The first bytes of an entry's PTX or cubin, with a NUL behind them; how many. */
static size_t read_head(const struct fatbin_entry *entry, const char *payload, char *head,
                        size_t room)
{
    size_t size;

    if (entry->flags & FATBIN_ZSTD) {
        size = head_of_zstd(payload, entry->packed_size, head, room);
    } else if (entry->flags & FATBIN_LZ4) {
        size = head_of_lz4(payload, entry->packed_size, head, room);
    } else {
        size = entry->padded_size < room ? (size_t)entry->padded_size : room;
        memcpy(head, payload, size);
    }
    head[size] = '\0';
    return size;
}

/* A number of at most four digits; -1 for none. Moves *text behind it. */
static int read_number(const char **text)
{
    int value = -1;

    for (int i = 0; i < 4 && **text >= '0' && **text <= '9'; i++, (*text)++)
        value = (value < 0 ? 0 : 10 * value) + (**text - '0');
    return value;
}

/* Behind white space and remarks to the end of a line. */
static const char *skip_space(const char *text)
{
    for (;;) {
        text += strspn(text, " \t\r\n");
        if (text[0] != '/' || text[1] != '/')
            return text;
        text += strcspn(text, "\n");
    }
}

/* What PTX says of itself: ".version 8.4" and ".target sm_90a". 0 for what it does not. */
static void read_directives(const char *head, int *version, int *target, char *variant)
{
    const char *text = strstr(head, ".version");

    *version = *target = 0;
    *variant = '\0';
    if (!text)
        return;
    text += strlen(".version");
    text += strspn(text, " \t");
    int major = read_number(&text);
    int minor = major > 0 && *text == '.' ? (text++, read_number(&text)) : -1;
    if (minor < 0 || minor > 9 || major > 999)
        return;
    *version = 10 * major + minor;
    text = skip_space(text);
    if (strncmp(text, ".target", strlen(".target")) != 0)
        return;
    text += strlen(".target");
    text += strspn(text, " \t");
    if (strncmp(text, "sm_", 3) != 0)
        return;
    text += 3;
    int architecture = read_number(&text);
    *target = architecture > 0 ? architecture : 0;
    if (*text == 'a' || *text == 'f')
        *variant = *text;
}

bool fatbin_read_ptx(const char *text, size_t size, struct fatbin_code *code)
{
    char head[PTX_START + 1];
    size_t some = size < PTX_START ? size : PTX_START;
    int version, target;
    char variant;

    memcpy(head, text, some);
    head[some] = '\0';
    read_directives(head, &version, &target, &variant);
    if (strncmp(head, ".version", strlen(".version")) != 0 || version == 0 || target < 10)
        return false;
    *code = (struct fatbin_code){
        .kind = FATBIN_PTX, .architecture = target, .ptx_version = version, .variant = variant};
    return true;
}

bool fatbin_is_ptx(const char *text, size_t size)
{
    const char *const end = text + size, *behind;
    struct fatbin_code code;

    for (;; text = behind) {
        while (text < end && memchr(" \t\r\n", *text, 4))
            text++;
        if (end - text < 2 || text[0] != '/')
            break;
        const size_t left = (size_t)(end - text - 2);
        behind = text[1] == '/'   ? memchr(text + 2, '\n', left)
                 : text[1] == '*' ? memmem(text + 2, left, "*/", 2)
                                  : NULL;
        if (!behind)
            return false;
        behind += text[1] == '/' ? 1 : 2;
    }
    return text < end && fatbin_read_ptx(text, (size_t)(end - text), &code);
}

static void read_ptx(struct work *work, const struct fatbin_entry *entry, const char *payload,
                     struct fatbin_code *code)
{
    size_t size = read_head(entry, payload, work->head, PTX_HEAD);
    int version, target;
    char variant;

    read_directives(work->head, &version, &target, &variant);
    code->ptx_version = version;
    if (code->variant == 0 && target == code->architecture)
        code->variant = variant;
    if (version == 0 && entry->major > 0 && entry->major < 100 && entry->minor < 10)
        code->ptx_version = 10 * entry->major + entry->minor;
    code->empty = version > 0 && size < PTX_HEAD && !strstr(work->head, ".entry") &&
                  !strstr(work->head, ".func");
}

static void read_cubin(struct work *work, const struct fatbin_entry *entry, const char *payload,
                       struct fatbin_code *code)
{
    size_t size = read_head(entry, payload, work->head, CUBIN_HEAD);

    if (cubin_tell(work->head, size, code) || size < CUBIN_HEAD)
        return;
    if (!work->large)
        work->large = malloc(LARGE_HEAD + 1);
    if (work->large)
        cubin_tell(work->large, read_head(entry, payload, work->large, LARGE_HEAD), code);
}

static void add_code(struct work *work, const struct fatbin_entry *entry, const char *payload)
{
    struct fatbin *fatbin = &work->fatbin;
    struct fatbin_code *code;

    if (fatbin->count == FATBIN_MAX_CODES) {
        fatbin->cut = true;
        return;
    }
    code = &fatbin->code[fatbin->count++];
    *code = (struct fatbin_code){.kind = entry->kind == FATBIN_KIND_PTX     ? FATBIN_PTX
                                         : entry->kind == FATBIN_KIND_CUBIN ? FATBIN_CUBIN
                                                                            : FATBIN_OTHER,
                                 .architecture = (int)(entry->architecture & 0xffff),
                                 .variant = entry->flags & FATBIN_ARCHITECTURE ? 'a'
                                            : entry->flags & FATBIN_FAMILY     ? 'f'
                                                                               : 0};
    if (code->kind == FATBIN_OTHER)
        return;
    if (code->kind == FATBIN_CUBIN) {
        read_cubin(work, entry, payload, code);
        return;
    }
    read_ptx(work, entry, payload, code);
}

/* The fatbin at the beginning of some bytes; how many bytes it has, 0 where there is none. */
static size_t read_fatbin(const char *data, size_t size, struct work *work)
{
    struct fatbin *fatbin = &work->fatbin;
    struct fatbin_header header;
    struct fatbin_entry entry;
    const char *payload;
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
        if (!fatbin_entry_at(data, whole, at, &entry, &payload)) {
            fatbin->damaged = true;
            break;
        }
        add_code(work, &entry, payload);
        at += (size_t)fatbin_entry_size(&entry);
    }
    return header.header_size + at;
}

/* A cubin that is in no fatbin, as the only code of one; how many bytes it has. */
static size_t read_alone(const char *data, size_t size, struct work *work)
{
    struct fatbin *fatbin = &work->fatbin;
    size_t length = cubin_size(data, size);

    if (length == 0)
        return 0;
    *fatbin = (struct fatbin){.count = 1, .kernels = cubin_kernels(data, length)};
    fatbin->code[0] =
        (struct fatbin_code){.kind = FATBIN_CUBIN, .architecture = cubin_architecture(data)};
    cubin_tell(data, length, &fatbin->code[0]);
    return length;
}

/* The next place of four bytes; `stop` if there is none. */
static const char *next_place(const char *at, const char *stop, const void *bytes)
{
    const char *found = at < stop ? memmem(at, (size_t)(stop - at), bytes, 4) : NULL;

    return found ? found : stop;
}

/* What begins before `stop`; where to go on. */
static const char *search_window(const char *at, const char *stop, const char *end,
                                 struct work *work, fatbin_visitor *visit, void *user)
{
    const char *fatbin = next_place(at, stop, magic), *cubin = next_place(at, stop, ELFMAG);

    while (fatbin < stop || cubin < stop) {
        const char *found = fatbin < cubin ? fatbin : cubin;
        size_t length = found == fatbin ? read_fatbin(found, (size_t)(end - found), work)
                                        : read_alone(found, (size_t)(end - found), work);
        if (length > 0)
            visit(user, &work->fatbin, found, found + length);
        at = found + (length > 0 ? length : sizeof magic);
        fatbin = fatbin < at ? next_place(at, stop, magic) : fatbin;
        cubin = cubin < at ? next_place(at, stop, ELFMAG) : cubin;
    }
    return at;
}

void fatbin_search(const void *data, size_t size, fatbin_visitor *visit, void *user)
{
    const char *at = data, *end = at + size, *passed = at;
    struct work *work = calloc(1, sizeof *work);

    while (work && (size_t)(end - at) >= sizeof magic) {
        size_t left = (size_t)(end - at);
        const char *stop = left < WINDOW ? end : at + WINDOW;
        at = search_window(at, stop, end, work, visit, user);
        stop -= sizeof magic - 1;
        at = at > stop ? at : stop;
        mapped_passed(passed, (size_t)(at - passed));
        passed = at;
    }
    mapped_passed(passed, (size_t)(end - passed));
    free(work ? work->large : NULL);
    free(work);
}
