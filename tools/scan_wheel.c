/* SPDX-License-Identifier: MIT */
#include "scan_wheel.h"

#ifdef HAVE_MINIZIP

#include "elf_file.h"
#include "mapped.h"
#include "output.h"
#include "pe_file.h"
#include "scan_python.h"

#include <minizip/unzip.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Of a member: what tells its kind; what is unpacked in memory, and not in a file; what is unpacked
 * at a time; and the most that is unpacked at all. */
enum { HEAD = 4096, IN_MEMORY = 32 << 20, CHUNK = 1 << 20, ENCRYPTED = 1, LONGEST_MEMBER = 65536 };
#ifndef MOST_BYTES
#define MOST_BYTES ((size_t)2 << 30)
#endif
#define TOO_LARGE "passed over: it unpacks to more than 2 GiB"

/* ---- the zip file in memory, as the library reads one */

struct memory {
    const char *data;
    size_t size, at, passed;
};

static voidpf memory_open(voidpf opaque, const void *name, int mode)
{
    (void)name, (void)mode;
    return opaque;
}

static uLong memory_read(voidpf opaque, voidpf stream, void *to, uLong size)
{
    struct memory *memory = stream;
    size_t left = memory->size - memory->at, some = size < left ? (size_t)size : left;

    (void)opaque;
    memcpy(to, memory->data + memory->at, some);
    memory->at += some;
    if (memory->at < memory->passed) {
        memory->passed = memory->at;
    } else if (memory->at - memory->passed > IN_MEMORY) {
        mapped_passed(memory->data + memory->passed, memory->at - memory->passed);
        memory->passed = memory->at;
    }
    return (uLong)some;
}

static ZPOS64_T memory_tell(voidpf opaque, voidpf stream)
{
    (void)opaque;
    return ((struct memory *)stream)->at;
}

static long memory_seek(voidpf opaque, voidpf stream, ZPOS64_T offset, int origin)
{
    struct memory *memory = stream;
    size_t from = origin == ZLIB_FILEFUNC_SEEK_SET   ? 0
                  : origin == ZLIB_FILEFUNC_SEEK_CUR ? memory->at
                                                     : memory->size;

    (void)opaque;
    if (offset > memory->size - from)
        return -1;
    memory->at = from + (size_t)offset;
    return 0;
}

static int memory_close(voidpf opaque, voidpf stream)
{
    (void)opaque, (void)stream;
    return 0;
}

/* ---- its members */

struct wheel {
    unzFile zip;
    const char *name;
    const struct scan_sink *sink;
    char *chunk;
};

/* Whether a member begins as a file that has programs in it; wheels have no wheels. */
static bool is_program(const char *head, size_t size)
{
    return elf_file_is(head, size) || pe_file_is(head, size) ||
           (size >= 8 && memcmp(head, "!<arch>\n", 8) == 0) ||
           (size >= 4 && memcmp(head, "\x50\xed\x55\xba", 4) == 0) || fatbin_is_ptx(head, size);
}

/* Up to `size` bytes; fewer at the end, and -1 where the member is damaged. */
static int read_some(struct wheel *wheel, char *to, int size)
{
    int have = 0, got = 1;

    while (have < size &&
           (got = unzReadCurrentFile(wheel->zip, to + have, (unsigned)(size - have))) > 0)
        have += got;
    return got < 0 ? -1 : have;
}

/* Python text is searched for the driver's name alone. */
static void scan_text(struct wheel *wheel, const char *name, uint64_t size)
{
    if (!wheel->sink->python || size > IN_MEMORY)
        return;
    char *text = scan_grow(NULL, (size_t)size, 1);
    int length = read_some(wheel, text, (int)size);
    if (length < 0)
        wheel->sink->skipped(wheel->sink->user, name, "damaged");
    else if (scan_python_names(text, (size_t)length))
        wheel->sink->python(wheel->sink->user, name);
    free(text);
}

static bool write_all(int file, const char *data, size_t size)
{
    while (size > 0) {
        ssize_t written = write(file, data, size < CHUNK ? (unsigned)size : CHUNK);
        if (written <= 0)
            return false;
        data += written;
        size -= (size_t)written;
    }
    return true;
}

/* All of a member into a file without a name. */
static bool unpack_to_file(struct wheel *wheel, const char *head, size_t begun,
                           struct mapped *mapped, const char **problem)
{
    int file = mapped_temporary(problem), got = 0;
    bool good = file >= 0;

    if (good)
        *problem = "there is no room to unpack it; TMPDIR may name another folder";
    good = good && write_all(file, head, begun);
    while (good && (got = read_some(wheel, wheel->chunk, CHUNK)) > 0)
        good = write_all(file, wheel->chunk, (size_t)got);
    if (got < 0)
        *problem = "damaged";
    if (good && got == 0)
        return mapped_descriptor(mapped, file, problem);
    if (file >= 0)
        close(file);
    return false;
}

static void scan_unpacked(const struct wheel *wheel, const char *name, const void *data,
                          size_t size)
{
    const char *problem;

    /* The bytes are as they were packed, or the check sum would differ. */
    if (unzCloseCurrentFile(wheel->zip) == UNZ_CRCERROR)
        wheel->sink->skipped(wheel->sink->user, name, "damaged: its check sum differs");
    else if (scan_bytes(name, data, size, wheel->sink, &problem) == SCAN_DAMAGED)
        wheel->sink->skipped(wheel->sink->user, name, problem);
}

/* A member that begins as a program does. */
static void scan_program(struct wheel *wheel, const char *name, const char *head, size_t begun,
                         uint64_t size)
{
    const char *problem = "damaged";
    struct mapped mapped;
    bool good;

    if (size > MOST_BYTES) {
        wheel->sink->skipped(wheel->sink->user, name, TOO_LARGE);
        return;
    }
    if (size > IN_MEMORY) {
        good = unpack_to_file(wheel, head, begun, &mapped, &problem);
        if (good) {
            scan_unpacked(wheel, name, mapped.data, mapped.size);
            mapped_close(&mapped);
        }
    } else {
        char *data = scan_grow(NULL, (size_t)size, 1);
        memcpy(data, head, begun);
        int rest = read_some(wheel, data + begun, (int)((size_t)size - begun));
        good = rest >= 0;
        if (good)
            scan_unpacked(wheel, name, data, begun + (size_t)rest);
        free(data);
    }
    if (!good)
        wheel->sink->skipped(wheel->sink->user, name, problem);
}

static void scan_member(struct wheel *wheel, const char *member, const unz_file_info64 *info)
{
    size_t length = strlen(wheel->name) + strlen(member) + 2;
    char head[HEAD], *name = scan_grow(NULL, length, 1);
    int begun;

    snprintf(name, length, "%s:%s", wheel->name, member);
    if (info->flag & ENCRYPTED) {
        wheel->sink->skipped(wheel->sink->user, name, "encrypted");
    } else if (unzOpenCurrentFile(wheel->zip) != UNZ_OK) {
        wheel->sink->skipped(wheel->sink->user, name,
                             "damaged, or packed in a way that this build cannot read");
    } else if (scan_python_is(member)) {
        scan_text(wheel, name, info->uncompressed_size);
        unzCloseCurrentFile(wheel->zip);
    } else {
        begun = read_some(wheel, head,
                          info->uncompressed_size < HEAD ? (int)info->uncompressed_size : HEAD);
        if (begun < 0)
            wheel->sink->skipped(wheel->sink->user, name, "damaged");
        else if (is_program(head, (size_t)begun))
            scan_program(wheel, name, head, (size_t)begun, info->uncompressed_size);
        unzCloseCurrentFile(wheel->zip);
    }
    free(name);
}

enum scan_result scan_wheel(const char *name, const void *data, size_t size,
                            const struct scan_sink *sink, const char **problem)
{
    struct memory memory = {data, size, 0, 0};
    zlib_filefunc64_def functions = {.zopen64_file = memory_open,
                                     .zread_file = memory_read,
                                     .ztell64_file = memory_tell,
                                     .zseek64_file = memory_seek,
                                     .zclose_file = memory_close,
                                     .zerror_file = memory_close,
                                     .opaque = &memory};
    struct scan_sink members = *sink;
    struct wheel wheel = {unzOpen2_64(name, &functions), name, &members, NULL};
    char *member;
    int code;

    members.python_loads = true;
    *problem = "a damaged zip file";
    if (!wheel.zip)
        return SCAN_DAMAGED;
    wheel.chunk = scan_grow(NULL, CHUNK, 1);
    member = scan_grow(NULL, LONGEST_MEMBER, 1);
    for (code = unzGoToFirstFile(wheel.zip); code == UNZ_OK; code = unzGoToNextFile(wheel.zip)) {
        unz_file_info64 info;
        code = unzGetCurrentFileInfo64(wheel.zip, &info, member, LONGEST_MEMBER, NULL, 0, NULL, 0);
        if (code != UNZ_OK)
            break;
        if (member[0] != '\0' && member[strlen(member) - 1] != '/') /* a folder's name ends so */
            scan_member(&wheel, member, &info);
    }
    free(member);
    free(wheel.chunk);
    unzClose(wheel.zip);
    return code == UNZ_END_OF_LIST_OF_FILE ? SCAN_READ : SCAN_DAMAGED;
}

#else

enum scan_result scan_wheel(const char *name, const void *data, size_t size,
                            const struct scan_sink *sink, const char **problem)
{
    (void)name, (void)data, (void)size, (void)sink;
    *problem = "a zip file, which this build cannot read (it was built without minizip)";
    return SCAN_DAMAGED;
}

#endif
