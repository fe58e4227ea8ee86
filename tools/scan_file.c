/* SPDX-License-Identifier: MIT */
#include "scan_file.h"

#include "cubin_read.h"
#include "elf_file.h"
#include "facts.h"
#include "known.h"
#include "mapped.h"
#include "output.h"
#include "pe_file.h"
#include "scan_code.h"
#include "scan_wheel.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST_NAME = 96, MOST_UNKNOWN = 1024, LAST_FAMILY = 32, FEW = 8 };

/* How much of a file's data is searched at a time, and what may lie across two parts. */
enum { PART = 1 << 22, OVERLAP = 16 };

#define DRIVER "libcuda.so"
#define WINDOWS_DRIVER "nvcuda.dll"

void *scan_grow(void *array, size_t count, size_t size)
{
    bool room = array && (count & (count - 1)) != 0; /* it doubles */
    void *more = room ? array : realloc(array, (array && count > 0 ? 2 * count : count + 1) * size);
    if (!more)
        output_no_memory();
    return more;
}

char *scan_copy(const char *text, size_t length)
{
    char *copy = scan_grow(NULL, length, 1);

    memcpy(copy, text, length);
    copy[length] = '\0';
    return copy;
}

static char *copy_text(const char *text)
{
    return scan_copy(text, strlen(text));
}

static void add_unknown(struct scan_file *file, const char *symbol)
{
    for (size_t i = 0; i < file->unknown_count; i++) {
        if (strcmp(file->unknown[i], symbol) == 0)
            return;
    }
    if (file->unknown_count == MOST_UNKNOWN)
        return;
    file->unknown = scan_grow(file->unknown, file->unknown_count, sizeof *file->unknown);
    file->unknown[file->unknown_count++] = copy_text(symbol);
}

/* What the macros cushim_load and cushim_open call. */
static void note_table(struct scan_file *file, const char *symbol)
{
    file->table |= strncmp(symbol, "cushim_connect_", 15) == 0;
}

static void need_symbol(void *user, const char *symbol, enum elf_need need)
{
    struct scan_file *file = user;
    size_t index = known_symbol(symbol);

    if (index != KNOWN_NONE)
        file->how[index] |= need == ELF_WEAK      ? SCAN_WEAK
                            : need == ELF_AT_CALL ? SCAN_CALLED
                                                  : SCAN_LINKED;
    else if (need != ELF_WEAK && known_looks_like_entry(symbol) && strlen(symbol) < LONGEST_NAME)
        add_unknown(file, symbol);
    note_table(file, symbol);
    if (strncmp(symbol, "cuGetProcAddress", 16) == 0)
        file->asks = true;
    if (strncmp(symbol, "cudaGetDriverEntryPoint", 23) == 0)
        file->asks_runtime = true;
}

static void define_symbol(void *user, const char *symbol)
{
    struct scan_file *file = user;

    if (strcmp(symbol, "__cudaRegisterFatBinary") == 0)
        file->runtime.inside = true;
    note_table(file, symbol);
    if (strncmp(symbol, "PyInit_", 7) == 0)
        file->python = true;
}

static void need_library(void *user, const char *library)
{
    struct scan_file *file = user;
    int release = facts_runtime_release(library);

    if (strncmp(library, DRIVER, strlen(DRIVER)) == 0)
        file->links = true;
    if (strncmp(library, "libcushim.so", 12) == 0) {
        file->cushim = true;
        snprintf(file->cushim_library, sizeof file->cushim_library, "%.31s", library);
    }
    if (release > file->runtime.release) {
        file->runtime.release = release;
        snprintf(file->runtime.library, sizeof file->runtime.library, "%.31s", library);
    }
}

/* Windows' names are the same in capitals. */
static void to_lower(char lower[LONGEST_NAME], const char *name)
{
    size_t i = 0;

    for (; i + 1 < LONGEST_NAME && name[i] != '\0'; i++)
        lower[i] = (char)tolower((unsigned char)name[i]);
    lower[i] = '\0';
}

static void import_symbol(void *user, const char *library, const char *symbol, bool delayed)
{
    struct scan_file *file = user;
    char lower[LONGEST_NAME];

    to_lower(lower, library);
    if (strncmp(lower, "libcushim", 9) == 0 || strncmp(lower, "cushim", 6) == 0)
        need_library(file, "libcushim.so");
    need_library(file, lower);
    if (facts_runtime_release(lower) > 0)
        need_symbol(file, symbol, ELF_AT_START);
    if (strncmp(lower, "nvcuda.dll", 10) != 0)
        return;
    file->links = true;
    file->lazy |= delayed;
    need_symbol(file, symbol, delayed ? ELF_AT_CALL : ELF_AT_START);
}

static void note_name(struct scan_file *file, size_t index)
{
    struct cushim_entry entry = known_entry(index);

    file->how[index] |= SCAN_NAMED;
    if (strcmp(entry.name, "cuGetProcAddress") == 0)
        file->asks = true;
    else if (entry.stream == CUSHIM_STREAM_LEGACY && strcmp(entry.name, entry.symbol) != 0)
        file->suffix = true;
}

static void note_misspelt(struct scan_file *file, const char *name)
{
    if (file->misspelt[0] == '\0' && strlen(name) < sizeof file->misspelt &&
        known_looks_like_entry(name) && !known_private(name) && known_near(name))
        snprintf(file->misspelt, sizeof file->misspelt, "%s", name);
}

/* A name that is the last word of a text. Behind a byte of no text it is a string of its own, which
 * numbers stand before. Behind other words the linker may have made one string of both. */
static void note_tail(struct scan_file *file, const char *text, size_t length)
{
    size_t begin = length;
    size_t index;

    while (begin > 0 && (isalnum((unsigned char)text[begin - 1]) || text[begin - 1] == '_'))
        begin--;
    if (length - begin < 5 || text[begin] != 'c' || text[begin + 1] != 'u')
        return;
    bool whole = begin == 0 || iscntrl((unsigned char)text[begin - 1]) || (text[begin - 1] & 0x80);
    index = known_symbol_of(text + begin, length - begin);
    if (index == KNOWN_NONE && whole)
        note_misspelt(file, text + begin);
    else if (index != KNOWN_NONE && whole)
        note_name(file, index);
    else if (index != KNOWN_NONE)
        file->how[index] |= SCAN_MENTIONED;
}

/* The variable that cushim reads; the linker may have made it the end of a sentence. */
static void note_cushim(struct scan_file *file, const char *text, size_t length)
{
    static const char variable[] = "CUSHIM_LIBCUDA";
    const size_t size = sizeof variable - 1;

    if (length >= size && memcmp(text + length - size, variable, size) == 0)
        file->cushim = true;
}

/* In a PE file: a name that is in no header of today and in the runtime's own table, and one of its
 * errors, which others name too. */
static void note_windows_runtime(struct scan_file *file, const char *text, size_t length)
{
    static const char call[] = "cudaD3D9MapVertexBuffer", error[] = "cudaErrorCudartUnloading";

    if (length == sizeof call - 1 && memcmp(text, call, length) == 0)
        file->runtime_names |= 1;
    if (length == sizeof error - 1 && memcmp(text, error, length) == 0)
        file->runtime_names |= 2;
    file->runtime.inside |= file->runtime_names == 3;
}

/* A string that is data of the program. */
static void note_text(struct scan_file *file, const char *text, size_t length)
{
    note_cushim(file, text, length);
    if (length == 0 || length >= LONGEST_NAME)
        return;
    note_tail(file, text, length);
    /* A form that only the runtime fills in; its beginning alone is what scanners look for. */
    if (length > 12 && strncmp(text, "/cudart.shm.", 12) == 0)
        file->runtime.inside = true;
    if (file->windows)
        note_windows_runtime(file, text, length);
}

/* Where the fatbins of some bytes are, in order: PTX in them is no text of the program. */
static struct {
    struct {
        const char *begin, *end;
    } * item;
    size_t count, at;
} places;

static void note_fatbin(void *user, const struct fatbin *fatbin, const char *begin, const char *end)
{
    if (fatbin->count > 0)
        scan_code_add(user, fatbin, 1, false);
    places.item = scan_grow(places.item, places.count, sizeof *places.item);
    places.item[places.count].begin = begin;
    places.item[places.count++].end = end;
}

/* Whether a place is in a fatbin; each call is for a later place than the one before. */
static bool in_fatbin(const char *place)
{
    while (places.at < places.count && places.item[places.at].end <= place)
        places.at++;
    return places.at < places.count && places.item[places.at].begin <= place;
}

/* The library's name, wherever it begins: compilers put numbers before it. */
static void find_library(struct scan_file *file, const char *bytes, size_t size)
{
    if (!bytes) /* never; gcc 12 with its sanitizers thinks of it */
        return;
    file->loads = file->loads || memmem(bytes, size, DRIVER, strlen(DRIVER)) ||
                  memmem(bytes, size, WINDOWS_DRIVER, strlen(WINDOWS_DRIVER));
}

/* PTX as text that begins before `stop`; it may go on until `end`. */
static void find_ptx(struct scan_file *file, const char *bytes, const char *stop, const char *end)
{
    static const char begin[] = ".version";
    const char *behind = (size_t)(end - stop) > OVERLAP ? stop + OVERLAP : end, *at = bytes;
    static struct fatbin one;

    while ((at = memmem(at, (size_t)(behind - at), begin, strlen(begin))) && at < stop) {
        one = (struct fatbin){.count = 1};
        if (!in_fatbin(at) && fatbin_read_ptx(at, (size_t)(end - at), &one.code[0]))
            scan_code_add(file, &one, 1, true);
        at += strlen(begin);
    }
}

/* The strings that end between `from` and `stop`; where the next one begins. */
static const char *find_texts(struct scan_file *file, const char *text, const char *from,
                              const char *stop)
{
    const char *zero;

    while ((zero = memchr(from, '\0', (size_t)(stop - from)))) {
        note_text(file, text, (size_t)(zero - text));
        for (text = zero; text < stop && *text == '\0';)
            text++;
        from = text;
    }
    return text;
}

/* In parts, so that the pages of a large file are given back on the way. */
static void note_data(void *user, const char *section, const char *bytes, size_t size)
{
    struct scan_file *file = user;
    const char *end = bytes + size, *text = bytes;

    places.count = places.at = 0;
    fatbin_search(bytes, size, note_fatbin, file);
    if (strstr(section, "nv_fat") || strstr(section, "nv_relfat"))
        return;
    for (size_t at = 0; at < size; at += PART) {
        const char *part = bytes + at;
        size_t left = size - at, length = left > PART ? PART : left;
        find_library(file, part, left > PART + OVERLAP ? PART + OVERLAP : left);
        find_ptx(file, part, part + length, end);
        text = find_texts(file, text, part, part + length);
        mapped_passed(part, length);
    }
}

/* The family of the newest toolkit that made machine code of the file; 0 without any. */
static int family_of_code(const struct scan_file *file)
{
    int newest = 0;

    for (size_t i = 0; i < file->code_count; i++) {
        const struct fatbin *fatbin = &file->code[i].fatbin;
        for (size_t k = 0; k < fatbin->count; k++) {
            if (fatbin->code[k].toolkit > newest)
                newest = fatbin->code[k].toolkit;
        }
    }
    return newest / 1000;
}

/* The release that a runtime in the file is of, or the oldest that it can be of: it asks for what
 * came with its own. A few names alone may be the program's. Where they are later than the toolkit
 * that made the code, it is not known whose they are. */
static void settle_runtime(struct scan_file *file)
{
    size_t of_family[LAST_FAMILY + 1] = {0};
    int newest[LAST_FAMILY + 1] = {0}, made = family_of_code(file);

    for (size_t i = 0; i < CUSHIM_ENTRY_COUNT; i++) {
        int since = known_entry(i).since, family = since / 1000;
        if (!(file->how[i] & SCAN_RUNTIME) || family > LAST_FAMILY)
            continue;
        of_family[family]++;
        newest[family] = since > newest[family] ? since : newest[family];
    }
    for (int family = LAST_FAMILY; family > 0; family--) {
        if (of_family[family] < FEW)
            continue;
        if ((made == 0 || made >= family) && newest[family] > file->runtime.release)
            file->runtime.release = newest[family];
        return;
    }
}

/* Once all of a file was seen: how its names are looked up. */
static void settle(struct scan_file *file)
{
    for (size_t i = 0; i < CUSHIM_ENTRY_COUNT; i++) {
        struct cushim_entry entry = known_entry(i);
        if (file->how[i] & SCAN_CALLED && !file->lazy)
            file->how[i] ^= SCAN_CALLED | SCAN_LINKED;
        if (file->how[i] & SCAN_NAMED)
            file->how[i] &= (unsigned char)~SCAN_MENTIONED;
        else if (file->how[i] & SCAN_MENTIONED && file->loads && !file->runtime.inside)
            file->how[i] |= SCAN_NAMED;
        else
            continue;
        if (file->cushim && strcmp(entry.name, "cuGetProcAddress") == 0)
            file->how[i] &= (unsigned char)~SCAN_NAMED; /* cushim itself asks it, if it is there */
        else if (file->runtime.inside)
            file->how[i] ^= SCAN_NAMED | SCAN_RUNTIME;
        else if (file->cushim || ((file->asks_runtime || (file->asks && !file->suffix)) &&
                                  strcmp(entry.symbol, entry.name) == 0))
            file->how[i] ^= SCAN_NAMED | SCAN_ASKED;
        else if (!file->loads && !file->asks)
            file->how[i] ^= SCAN_NAMED | SCAN_MENTIONED;
    }
    if (file->runtime.inside)
        settle_runtime(file);
}

static void begin(struct scan_file *file, const char *name)
{
    memset(file, 0, sizeof *file);
    file->name = copy_text(name);
}

static enum scan_result scan_elf(const char *name, const void *data, size_t size,
                                 const struct scan_sink *sink, const char **problem)
{
    struct scan_file *file = scan_grow(NULL, 0, sizeof *file);
    struct elf_visitor visitor = {.user = file,
                                  .exported = define_symbol,
                                  .undefined = need_symbol,
                                  .needed = need_library,
                                  .data = note_data};
    struct elf_facts facts;
    bool good;

    begin(file, name);
    good = elf_file_read(data, size, &visitor, &facts, problem);
    if (good) {
        snprintf(file->format, sizeof file->format, "ELF, %s%s", facts.machine,
                 facts.stripped ? ", without section headers" : "");
        file->machine = facts.machine;
        file->object = facts.object;
        file->lazy = facts.lazy && !file->python && !sink->python_loads;
        settle(file);
        sink->visit(sink->user, file);
    }
    scan_file_free(file);
    free(file);
    return good ? SCAN_READ : SCAN_DAMAGED;
}

static enum scan_result scan_pe(const char *name, const void *data, size_t size,
                                const struct scan_sink *sink, const char **problem)
{
    struct scan_file *file = scan_grow(NULL, 0, sizeof *file);
    struct pe_visitor visitor = {
        .user = file, .exported = define_symbol, .imported = import_symbol, .data = note_data};
    struct pe_facts facts;
    bool good;

    begin(file, name);
    file->windows = true;
    good = pe_file_read(data, size, &visitor, &facts, problem);
    if (good) {
        snprintf(file->format, sizeof file->format, "PE, %s", facts.machine);
        file->machine = facts.machine;
        settle(file);
        if (file->runtime.inside && file->runtime.release == 0 && facts.library) {
            char lower[LONGEST_NAME];
            to_lower(lower, facts.library);
            need_library(file, lower);
        }
        sink->visit(sink->user, file);
    }
    scan_file_free(file);
    free(file);
    return good ? SCAN_READ : SCAN_DAMAGED;
}

/* A fatbin, a cubin or PTX that is a file of its own. */
static enum scan_result scan_code(const char *name, const char *format, const void *data,
                                  size_t size, const struct scan_sink *sink, const char **problem)
{
    struct scan_file *file = scan_grow(NULL, 0, sizeof *file);
    bool good;

    begin(file, name);
    snprintf(file->format, sizeof file->format, "%s", format);
    places.count = places.at = 0;
    if (strcmp(format, SCAN_PTX) == 0)
        find_ptx(file, data, (const char *)data + size, (const char *)data + size);
    else
        fatbin_search(data, size, note_fatbin, file);
    good = file->code_count > 0;
    if (good)
        sink->visit(sink->user, file);
    else
        *problem = "a damaged fatbin";
    scan_file_free(file);
    free(file);
    return good ? SCAN_READ : SCAN_DAMAGED;
}

/* An object of Windows: it is told, and not read. */
static enum scan_result scan_coff(const char *name, const struct scan_sink *sink)
{
    struct scan_file *file = scan_grow(NULL, 0, sizeof *file);

    begin(file, name);
    snprintf(file->format, sizeof file->format, "COFF object, not read");
    file->unread = 1;
    sink->visit(sink->user, file);
    scan_file_free(file);
    free(file);
    return SCAN_READ;
}

struct together {
    struct scan_file *file;
    size_t members;
};

static void merge_member(void *user, struct scan_file *member)
{
    struct together *together = user;

    scan_file_merge(together->file, member);
    together->members++;
}

/* An archive of objects ("ar"): a head of 60 bytes before each member. All count as one, since what
 * they need of each other is not the driver's. */
static enum scan_result scan_archive(const char *name, const char *data, size_t size,
                                     const struct scan_sink *sink, const char **problem)
{
    struct together together = {scan_grow(NULL, 0, sizeof *together.file), 0};
    const struct scan_sink members = {.user = &together, .visit = merge_member};
    size_t at = 8, imports = 0;
    bool good = true;

    if (size > 8 + 13 && memcmp(data + 8, "debian-binary", 13) == 0) {
        free(together.file);
        *problem = "a Debian package: unpack it with 'dpkg-deb -x', and scan the folder";
        return SCAN_DAMAGED;
    }
    begin(together.file, name);
    while (good && size - at >= 60) {
        char digits[11] = "";
        memcpy(digits, data + at + 48, 10);
        char *stop;
        unsigned long long length = strtoull(digits, &stop, 10);
        at += 60;
        if (stop == digits || length > size - at) {
            *problem = "a damaged archive of objects";
            good = false;
            break;
        }
        if (elf_file_is(data + at, (size_t)length)) {
            const char *ignored;
            scan_elf(name, data + at, (size_t)length, &members, &ignored);
        }
        imports += pe_file_is_import(data + at, (size_t)length);
        together.file->unread += pe_file_is_object(data + at, (size_t)length);
        at += (size_t)length + (length & 1);
        if (at > size)
            break;
    }
    if (together.file->unread > 0)
        snprintf(together.file->format, sizeof together.file->format,
                 "archive of %zu COFF object%s, not read", together.file->unread,
                 output_plural(together.file->unread));
    else if (imports > 0)
        snprintf(together.file->format, sizeof together.file->format,
                 "import library, %zu object%s", imports, output_plural(imports));
    else
        snprintf(together.file->format, sizeof together.file->format, "archive of %zu object%s",
                 together.members, output_plural(together.members));
    if (good || together.members > 0 || together.file->unread > 0)
        sink->visit(sink->user, together.file);
    scan_file_free(together.file);
    free(together.file);
    return good ? SCAN_READ : SCAN_DAMAGED;
}

enum scan_result scan_bytes(const char *name, const void *data, size_t size,
                            const struct scan_sink *sink, const char **problem)
{
    static const unsigned char fatbin[] = {0x50, 0xed, 0x55, 0xba};

    if (cubin_size(data, size) > 0)
        return scan_code(name, SCAN_CUBIN, data, size, sink, problem);
    if (elf_file_is(data, size))
        return scan_elf(name, data, size, sink, problem);
    if (pe_file_is(data, size))
        return scan_pe(name, data, size, sink, problem);
    if (size >= 8 && memcmp(data, "!<arch>\n", 8) == 0)
        return scan_archive(name, data, size, sink, problem);
    if (size >= 4 && memcmp(data, "PK\3\4", 4) == 0)
        return scan_wheel(name, data, size, sink, problem);
    if (size >= sizeof fatbin && memcmp(data, fatbin, sizeof fatbin) == 0)
        return scan_code(name, "fatbin", data, size, sink, problem);
    if (pe_file_is_object(data, size))
        return scan_coff(name, sink);
    if (fatbin_is_ptx(data, size))
        return scan_code(name, SCAN_PTX, data, size, sink, problem);
    *problem =
        "not a program, a library, an object, an archive, a wheel, a fatbin, a cubin, PTX, or "
        "a C, C++ or CUDA source";
    return SCAN_OTHER;
}

void scan_file_merge(struct scan_file *all, const struct scan_file *from)
{
    for (size_t i = 0; i < CUSHIM_ENTRY_COUNT; i++)
        all->how[i] |= from->how[i];
    for (size_t i = 0; i < from->unknown_count; i++)
        add_unknown(all, from->unknown[i]);
    for (size_t i = 0; i < from->code_count; i++)
        scan_code_add(all, &from->code[i].fatbin, from->code[i].times, from->code[i].text);
    all->asks |= from->asks;
    all->asks_runtime |= from->asks_runtime;
    all->suffix |= from->suffix;
    all->runtime.inside |= from->runtime.inside;
    if (from->runtime.release > all->runtime.release) {
        all->runtime.release = from->runtime.release;
        memcpy(all->runtime.library, from->runtime.library, sizeof all->runtime.library);
    }
    all->unread += from->unread;
    all->cushim |= from->cushim;
    if (from->cushim_library[0])
        memcpy(all->cushim_library, from->cushim_library, sizeof all->cushim_library);
    all->table |= from->table;
    all->loads |= from->loads;
    all->links |= from->links;
    all->object |= from->object;
    all->lazy |= from->lazy;
}

void scan_file_free(struct scan_file *file)
{
    for (size_t i = 0; i < file->unknown_count; i++)
        free(file->unknown[i]);
    free(file->unknown);
    free(file->code);
    free(file->name);
    memset(file, 0, sizeof *file);
}
