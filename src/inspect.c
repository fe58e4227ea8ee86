/* SPDX-License-Identifier: MIT */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* pread, O_CLOEXEC under -std=c11 */
#endif
#include "inspect.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#if UINTPTR_MAX > UINT32_MAX
#define OWN_CLASS ELFCLASS64
#else
#define OWN_CLASS ELFCLASS32
#endif

/* e_machine of this process; 0: leave it to the system's loader. */
#if defined(__x86_64__)
#define OWN_MACHINE EM_X86_64
#elif defined(__aarch64__)
#define OWN_MACHINE EM_AARCH64
#elif defined(__powerpc64__)
#define OWN_MACHINE EM_PPC64
#else
#define OWN_MACHINE 0
#endif

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define OWN_DATA ELFDATA2LSB
#else
#define OWN_DATA ELFDATA2MSB
#endif

static enum cushim_status say(enum cushim_status status, char *message, size_t size,
                              const char *text)
{
    snprintf(message, size, "%s", text);
    return status;
}

static bool read_at(int file, void *buffer, size_t bytes, off_t offset)
{
    return pread(file, buffer, bytes, offset) == (ssize_t)bytes;
}

static enum cushim_status check_header(const ElfW(Ehdr) * header, char *message, size_t size)
{
    if (header->e_ident[EI_CLASS] != OWN_CLASS) {
        snprintf(message, size, "%s-bit library in a %s-bit process",
                 header->e_ident[EI_CLASS] == ELFCLASS32 ? "32" : "64",
                 OWN_CLASS == ELFCLASS32 ? "32" : "64");
        return CUSHIM_ERROR_WRONG_CLASS;
    }
    if (header->e_ident[EI_DATA] != OWN_DATA)
        return say(CUSHIM_ERROR_WRONG_MACHINE, message, size,
                   "library for a processor of the other byte order");
    if (OWN_MACHINE && header->e_machine != OWN_MACHINE) {
        snprintf(message, size, "library for another processor (ELF machine %u, not %u)",
                 (unsigned)header->e_machine, (unsigned)OWN_MACHINE);
        return CUSHIM_ERROR_WRONG_MACHINE;
    }
    if (header->e_type != ET_DYN)
        return say(CUSHIM_ERROR_NOT_A_LIBRARY, message, size, "ELF file, but no shared library");
    if (header->e_phentsize != sizeof(ElfW(Phdr)))
        return say(CUSHIM_ERROR_NOT_A_LIBRARY, message, size, "damaged ELF header");
    return CUSHIM_OK;
}

static enum cushim_status check_segments(int file, const ElfW(Ehdr) * header, off_t bytes,
                                         char *message, size_t size)
{
    ElfW(Phdr) segments[64]; /* drivers have about ten */
    unsigned count = header->e_phnum;
    off_t at = (off_t)header->e_phoff;
    if (count > sizeof segments / sizeof *segments)
        return say(CUSHIM_ERROR_NOT_A_LIBRARY, message, size, "damaged ELF header");
    if (at < 0 || !read_at(file, segments, count * sizeof *segments, at))
        return say(CUSHIM_ERROR_TRUNCATED, message, size,
                   "truncated: the file ends within its program headers");
    for (const ElfW(Phdr) *segment = segments; segment < segments + count; segment++) {
        bool fits = segment->p_offset <= (uint64_t)bytes &&
                    segment->p_filesz <= (uint64_t)bytes - segment->p_offset;
        if (segment->p_type == PT_LOAD && !fits) {
            snprintf(message, size, "truncated: %lld bytes, but a segment ends at %llu",
                     (long long)bytes, (unsigned long long)(segment->p_offset + segment->p_filesz));
            return CUSHIM_ERROR_TRUNCATED;
        }
    }
    return CUSHIM_OK;
}

static enum cushim_status check_content(int file, off_t bytes, char *message, size_t size)
{
    ElfW(Ehdr) header;
    size_t magic = bytes < SELFMAG ? (size_t)bytes : SELFMAG;
    if (!read_at(file, &header, magic, 0) || memcmp(&header, ELFMAG, magic) != 0)
        return say(CUSHIM_ERROR_NOT_A_LIBRARY, message, size, "not an ELF file");
    if (bytes < (off_t)sizeof header || !read_at(file, &header, sizeof header, 0))
        return say(CUSHIM_ERROR_TRUNCATED, message, size,
                   "truncated: the file ends within its ELF header");
    enum cushim_status status = check_header(&header, message, size);
    if (status == CUSHIM_OK)
        status = check_segments(file, &header, bytes, message, size);
    return status;
}

enum cushim_status cushim_inspect(const char *path, char *message, size_t size)
{
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a pipe would wait for a writer */
    struct stat info;
    if (file < 0 || fstat(file, &info) != 0) {
        int error = errno;
        if (file >= 0)
            close(file);
        if (error == ENXIO) /* a socket */
            return say(CUSHIM_ERROR_NOT_A_FILE, message, size, "not a regular file");
        bool absent =
            error == ENOENT || error == ENOTDIR || error == ENAMETOOLONG || error == ELOOP;
        snprintf(message, size, "%s", strerror(error));
        return absent ? CUSHIM_ERROR_NOT_FOUND : CUSHIM_ERROR_UNREADABLE;
    }
    enum cushim_status status;
    if (!S_ISREG(info.st_mode))
        status = say(CUSHIM_ERROR_NOT_A_FILE, message, size,
                     S_ISDIR(info.st_mode) ? "a folder, not a file" : "not a regular file");
    else if (info.st_size == 0)
        status = say(CUSHIM_ERROR_EMPTY_FILE, message, size, "the file is empty");
    else
        status = check_content(file, info.st_size, message, size);
    close(file);
    return status;
}
