/* SPDX-License-Identifier: MIT */
#include "scan_wheel.h"

#ifdef HAVE_ARCHIVE

#include "elf_file.h"
#include "output.h"
#include "pe_file.h"

#include <archive.h>
#include <archive_entry.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A member that unpacks to more is a trap, or is not unpacked for nothing. */
enum { HEAD = 4096 };
#ifndef MOST_BYTES
#define MOST_BYTES ((size_t)8 << 30)
#endif

/* The rest of a member behind its head; false where the zip file is damaged. */
static bool read_rest(struct archive *zip, char **data, size_t *size)
{
    size_t room = *size;

    for (;;) {
        if (*size == room) {
            if (room >= MOST_BYTES)
                return false;
            room = room < ((size_t)1 << 20) ? (size_t)1 << 20 : 2 * room;
            *data = scan_grow(*data, room, 1);
        }
        la_ssize_t got = archive_read_data(zip, *data + *size, room - *size);
        if (got < 0)
            return false;
        if (got == 0)
            return true;
        *size += (size_t)got;
    }
}

/* Whether a member begins as a file that has programs in it; wheels have no wheels. */
static bool is_program(const char *head, size_t size)
{
    return elf_file_is(head, size) || pe_file_is(head, size) ||
           (size >= 8 && memcmp(head, "!<arch>\n", 8) == 0) ||
           (size >= 4 && memcmp(head, "\x50\xed\x55\xba", 4) == 0);
}

static bool scan_member(struct archive *zip, const char *name, const char *member,
                        scan_visitor *visit, void *user)
{
    char *data = scan_grow(NULL, HEAD, 1);
    la_ssize_t head = archive_read_data(zip, data, HEAD);
    size_t size = head > 0 ? (size_t)head : 0;
    bool good = head >= 0;

    if (good && is_program(data, size)) {
        size_t length = strlen(name) + strlen(member) + 2;
        char *whole = scan_grow(NULL, length, 1);
        const char *ignored;
        good = read_rest(zip, &data, &size);
        snprintf(whole, length, "%s:%s", name, member);
        if (good) /* one that is damaged in itself is no fault of the wheel */
            scan_bytes(whole, data, size, visit, user, &ignored);
        free(whole);
    }
    free(data);
    return good;
}

bool scan_wheel(const char *name, const void *data, size_t size, scan_visitor *visit, void *user,
                const char **problem)
{
    struct archive *zip = archive_read_new();
    struct archive_entry *entry;
    bool good = true;
    int code = ARCHIVE_OK;

    if (!zip)
        output_no_memory();
    archive_read_support_format_zip_seekable(zip);
    good = archive_read_open_memory(zip, data, size) == ARCHIVE_OK;
    while (good && (code = archive_read_next_header(zip, &entry)) == ARCHIVE_OK) {
        const char *member = archive_entry_pathname_utf8(entry);
        if (archive_entry_filetype(entry) == AE_IFREG)
            good = scan_member(zip, name, member ? member : "?", visit, user);
    }
    if (!good || code != ARCHIVE_EOF) {
        *problem = "a damaged zip file";
        good = false;
    }
    archive_read_free(zip);
    return good;
}

#else

bool scan_wheel(const char *name, const void *data, size_t size, scan_visitor *visit, void *user,
                const char **problem)
{
    (void)name, (void)data, (void)size, (void)visit, (void)user;
    *problem = "a zip file, which this build cannot read (it was built without libarchive)";
    return false;
}

#endif
