/* SPDX-License-Identifier: MIT */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* pread, O_CLOEXEC under -std=c11 */
#endif
#include "loader/elf_file.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
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
#elif defined(__i386__)
#define OWN_MACHINE EM_386
#else
#define OWN_MACHINE 0
#endif

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define OWN_DATA ELFDATA2LSB
#else
#define OWN_DATA ELFDATA2MSB
#endif

/* Once for each library: small rather than fast. */
#define COLD __attribute__((cold))

/* What is read of a file, and where to report. */
struct elf_file {
    int descriptor;
    uint64_t bytes;
    uint64_t span; /* of addresses, from 0 to the end of its last segment */
    char *message;
    size_t size;
};

COLD static enum cushim_status elf_file_refuse(const struct elf_file *file,
                                               enum cushim_status status, const char *text)
{
    snprintf(file->message, file->size, "%s", text);
    return status;
}

/* strerror is not safe in threads by the standard. */
const char *cushim_elf_file_words(int error, char *buffer, size_t size)
{
#ifdef __GLIBC__
    return strerror_r(error, buffer, size);
#else
    return strerror_r(error, buffer, size) == 0 ? buffer : "unknown error";
#endif
}

COLD static enum cushim_status elf_file_refuse_errno(const struct elf_file *file, int error)
{
    char words[128];
    elf_file_refuse(file, CUSHIM_OK, cushim_elf_file_words(error, words, sizeof words));
    switch (error) {
    case EMFILE:
    case ENFILE:
        return CUSHIM_ERROR_NO_DESCRIPTORS;
    case ENOENT:
    case ENOTDIR:
    case ENAMETOOLONG:
    case ELOOP:
        return CUSHIM_ERROR_NOT_FOUND;
    case ENXIO: /* a socket */
        return elf_file_refuse(file, CUSHIM_ERROR_NOT_A_FILE, "not a regular file");
    case EACCES:
        return CUSHIM_ERROR_UNREADABLE;
    case EPERM: /* no rights of a file: a filter of system calls, for instance */
    case ENOSYS:
        return CUSHIM_ERROR_FORBIDDEN;
    case ENOMEM:
        return CUSHIM_ERROR_OUT_OF_MEMORY;
    default:
        return CUSHIM_ERROR_READ_FAILED;
    }
}

/* Up to `bytes` bytes, fewer if the file ends; *got is how many. */
COLD static enum cushim_status elf_file_read(const struct elf_file *file, void *buffer,
                                             size_t bytes, uint64_t offset, size_t *got)
{
    *got = 0;
    while (*got < bytes && offset + *got < file->bytes) {
        ssize_t count =
            pread(file->descriptor, (char *)buffer + *got, bytes - *got, (off_t)(offset + *got));
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            return elf_file_refuse_errno(file, errno);
        if (count == 0)
            break;
        *got += (size_t)count;
    }
    return CUSHIM_OK;
}

COLD static enum cushim_status elf_file_check_header(const struct elf_file *file,
                                                     const ElfW(Ehdr) * header)
{
    if (header->e_ident[EI_CLASS] != OWN_CLASS) {
        snprintf(file->message, file->size, "%s-bit library in a %s-bit process",
                 header->e_ident[EI_CLASS] == ELFCLASS32 ? "32" : "64",
                 OWN_CLASS == ELFCLASS32 ? "32" : "64");
        return CUSHIM_ERROR_WRONG_CLASS;
    }
    if (header->e_ident[EI_DATA] != OWN_DATA)
        return elf_file_refuse(file, CUSHIM_ERROR_WRONG_MACHINE,
                               "library for a processor of the other byte order");
    if (OWN_MACHINE && header->e_machine != OWN_MACHINE) {
        snprintf(file->message, file->size,
                 "library for another processor (ELF machine %u, not %u)",
                 (unsigned)header->e_machine, (unsigned)OWN_MACHINE);
        return CUSHIM_ERROR_WRONG_MACHINE;
    }
    if (header->e_type != ET_DYN)
        return elf_file_refuse(file, CUSHIM_ERROR_NOT_A_LIBRARY, "ELF file, but no shared library");
    if (header->e_phentsize != sizeof(ElfW(Phdr)))
        return elf_file_refuse(file, CUSHIM_ERROR_NOT_A_LIBRARY, "damaged ELF header");
    return CUSHIM_OK;
}

/* The system's loader dies of a segment that the file has not whole, or that covers another. */
COLD static enum cushim_status elf_file_check_segments(struct elf_file *file,
                                                       const ElfW(Phdr) * segments, unsigned count)
{
    uint64_t end = 0; /* of the segments before */
    for (const ElfW(Phdr) *segment = segments; segment < segments + count; segment++) {
        if (segment->p_type != PT_LOAD)
            continue;
        if (segment->p_offset > file->bytes ||
            segment->p_filesz > file->bytes - segment->p_offset) {
            snprintf(file->message, file->size, "truncated: %llu bytes, but a segment ends at %llu",
                     (unsigned long long)file->bytes,
                     (unsigned long long)(segment->p_offset + segment->p_filesz));
            return CUSHIM_ERROR_TRUNCATED;
        }
        if (segment->p_vaddr < end || segment->p_memsz < segment->p_filesz ||
            segment->p_memsz > (ElfW(Addr)) - 1 - segment->p_vaddr)
            return elf_file_refuse(file, CUSHIM_ERROR_OPEN_FAILED, "damaged: its segments overlap");
        end = segment->p_vaddr + segment->p_memsz;
    }
    file->span = end;
    return CUSHIM_OK;
}

/* The header and, in nearly all libraries, the program headers come with one read. */
COLD static enum cushim_status elf_file_check(struct elf_file *file)
{
    union {
        ElfW(Ehdr) header;
        char bytes[1024];
    } start;
    ElfW(Phdr) segments[64]; /* drivers have about ten */
    size_t got;
    enum cushim_status status = elf_file_read(file, &start, sizeof start, 0, &got);
    if (status != CUSHIM_OK)
        return status;
    if (memcmp(&start, ELFMAG, got < SELFMAG ? got : SELFMAG) != 0)
        return elf_file_refuse(file, CUSHIM_ERROR_NOT_A_LIBRARY, "not an ELF file");
    if (got < sizeof start.header)
        return elf_file_refuse(file, CUSHIM_ERROR_TRUNCATED,
                               "truncated: the file ends within its ELF header");
    status = elf_file_check_header(file, &start.header);
    if (status != CUSHIM_OK)
        return status;
    unsigned count = start.header.e_phnum;
    uint64_t at = start.header.e_phoff, bytes = count * sizeof *segments;
    if (count > sizeof segments / sizeof *segments)
        return elf_file_refuse(file, CUSHIM_ERROR_NOT_A_LIBRARY, "damaged ELF header");
    if (at > file->bytes || bytes > file->bytes - at)
        return elf_file_refuse(file, CUSHIM_ERROR_TRUNCATED,
                               "truncated: the file ends within its program headers");
    if (at + bytes <= got) {
        memcpy(segments, start.bytes + at, (size_t)bytes);
    } else {
        status = elf_file_read(file, segments, (size_t)bytes, at, &got);
        if (status == CUSHIM_OK && got < bytes)
            status = elf_file_refuse(file, CUSHIM_ERROR_TRUNCATED, "truncated while it was read");
        if (status != CUSHIM_OK)
            return status;
    }
    return elf_file_check_segments(file, segments, count);
}

COLD static enum cushim_status elf_file_open(struct elf_file *file, const char *path)
{
    file->descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a pipe would wait */
    if (file->descriptor >= 0)
        return CUSHIM_OK;
    int error = errno;
    /* A filter of system calls may refuse what is not even there. */
    if ((error == EPERM || error == ENOSYS) && access(path, F_OK) != 0 && errno == ENOENT)
        error = ENOENT;
    return elf_file_refuse_errno(file, error);
}

COLD static enum cushim_status elf_file_inspect(struct elf_file *file)
{
    struct stat info;
    if (fstat(file->descriptor, &info) != 0)
        return elf_file_refuse_errno(file, errno);
    if (!S_ISREG(info.st_mode))
        return elf_file_refuse(file, CUSHIM_ERROR_NOT_A_FILE,
                               S_ISDIR(info.st_mode) ? "a folder, not a file"
                                                     : "not a regular file");
    if (info.st_size == 0)
        return elf_file_refuse(file, CUSHIM_ERROR_EMPTY_FILE, "the file is empty");
    file->bytes = (uint64_t)info.st_size;
    return elf_file_check(file);
}

/* Map as the system's loader does: the whole range first, and then code. */
COLD static enum cushim_status elf_file_map(const struct elf_file *file)
{
    void *range = mmap(NULL, (size_t)file->span, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (range == MAP_FAILED)
        return CUSHIM_ERROR_OUT_OF_MEMORY;
    munmap(range, (size_t)file->span);
    range = mmap(NULL, 1, PROT_READ | PROT_EXEC, MAP_PRIVATE, file->descriptor, 0);
    if (range == MAP_FAILED)
        return CUSHIM_ERROR_FORBIDDEN;
    munmap(range, 1);
    return CUSHIM_OK;
}

COLD static enum cushim_status elf_file_each(const char *path, bool map, char *message, size_t size)
{
    struct elf_file file = {.message = message, .size = size};
    enum cushim_status status = elf_file_open(&file, path);
    if (status != CUSHIM_OK)
        return status;
    status = elf_file_inspect(&file);
    if (status == CUSHIM_OK && map)
        status = elf_file_map(&file);
    close(file.descriptor);
    return status;
}

COLD enum cushim_status cushim_elf_file_inspect(const char *path, char *message, size_t size)
{
    return elf_file_each(path, false, message, size);
}

COLD enum cushim_status cushim_elf_file_map(const char *path, char *message, size_t size)
{
    return elf_file_each(path, true, message, size);
}
