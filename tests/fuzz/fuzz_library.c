/* SPDX-License-Identifier: MIT */
/*
 * Fuzzing what the loader reads of a file before the system's loader maps it, and what the helpers
 * read of an image before a driver does. A library that is found good may be bad all the same, but
 * its segments are within the file: mapping it raises no SIGBUS.
 */
#include "fuzz.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "loader/elf_file.h"

#include <cushim/module.h>

static void check_segments(const uint8_t *data, size_t size)
{
    Elf64_Ehdr header;
    if (size < sizeof header)
        abort();
    memcpy(&header, data, sizeof header);
    for (unsigned i = 0; i < header.e_phnum; i++) {
        Elf64_Phdr segment;
        if (header.e_phoff > size || size - header.e_phoff < (i + 1) * sizeof segment)
            abort();
        memcpy(&segment, data + header.e_phoff + i * sizeof segment, sizeof segment);
        if (segment.p_type == PT_LOAD &&
            (segment.p_offset > size || segment.p_filesz > size - segment.p_offset))
            abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[64], message[128] = "";
    int file = memfd_create("input", MFD_CLOEXEC);
    if (file < 0 || write(file, data, size) != (ssize_t)size)
        abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    enum cushim_status status = cushim_elf_file_inspect(path, message, sizeof message);
    if (status == CUSHIM_OK)
        check_segments(data, size);
    else if (!*message || !memchr(message, '\0', sizeof message))
        abort();
    close(file);

    struct cushim_image image = {.size = sizeof image};
    CUresult code = cushim_image_describe(data, size, &image);
    if (code != CUDA_SUCCESS && !*cushim_last_error())
        abort();
    return 0;
}
