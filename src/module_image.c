/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "module_internal.h"

#define MODULE_FATBIN_MAGIC 0xba55ed50u
#define MODULE_ELF_CUDA 190 /* e_machine of a cubin */

/* Little-endian numbers at any address. */
static uint64_t module_image_number(const unsigned char *at, int bytes)
{
    uint64_t value = 0;
    while (bytes--)
        value = value << 8 | at[bytes];
    return value;
}

#define MODULE_U16(at) ((unsigned)module_image_number(at, 2))
#define MODULE_U32(at) ((uint32_t)module_image_number(at, 4))
#define MODULE_U64(at) module_image_number(at, 8)

const char *cushim_image_word(enum cushim_image_kind kind)
{
    switch (kind) {
    case CUSHIM_IMAGE_PTX:
        return "PTX";
    case CUSHIM_IMAGE_CUBIN:
        return "cubin";
    case CUSHIM_IMAGE_FATBIN:
        return "fatbin";
    case CUSHIM_IMAGE_OBJECT:
        return "object";
    case CUSHIM_IMAGE_LIBRARY:
        return "library";
    case CUSHIM_IMAGE_UNKNOWN:
        break;
    }
    return "unknown image";
}

/* ---- ELF */

struct module_elf {
    const unsigned char *data;
    size_t bytes;
    uint64_t sections, section_size;
    unsigned count;
};

/* Begin of a range of a file; NULL where it is not all there. */
static const unsigned char *module_elf_at(const struct module_elf *elf, uint64_t offset,
                                          uint64_t size)
{
    return offset <= elf->bytes && size <= elf->bytes - offset ? elf->data + offset : NULL;
}

static const unsigned char *module_elf_section(const struct module_elf *elf, unsigned index)
{
    return index < elf->count
               ? module_elf_at(elf, elf->sections + index * elf->section_size, elf->section_size)
               : NULL;
}

static bool module_elf_open(const unsigned char *data, size_t bytes, struct module_elf *elf)
{
    *elf = (struct module_elf){.data = data, .bytes = bytes};
    if (bytes < 64)
        return false;
    elf->sections = MODULE_U64(data + 40);
    elf->section_size = MODULE_U16(data + 58);
    elf->count = MODULE_U16(data + 60);
    return elf->section_size >= 64 &&
           module_elf_at(elf, elf->sections, elf->count * elf->section_size);
}

/* Whether all sections and segments are within the file. */
static bool module_elf_is_whole(const unsigned char *data, size_t bytes)
{
    struct module_elf elf;
    if (!module_elf_open(data, bytes, &elf) && (bytes < 64 || elf.count))
        return false;
    const unsigned segment_size = MODULE_U16(data + 54), segments = MODULE_U16(data + 56);
    if (!module_elf_at(&elf, segments ? MODULE_U64(data + 32) : 0,
                       (uint64_t)segments * segment_size))
        return false;
    for (unsigned i = 0; i < elf.count; i++) {
        const unsigned char *section = module_elf_section(&elf, i);
        const bool in_file = MODULE_U32(section + 4) != 8; /* SHT_NOBITS */
        if (in_file && !module_elf_at(&elf, MODULE_U64(section + 24), MODULE_U64(section + 32)))
            return false;
    }
    return true;
}

/* A name within a section of strings; NULL where it is not. */
static const char *module_elf_string(const struct module_elf *elf, unsigned section, uint32_t at)
{
    const unsigned char *header = module_elf_section(elf, section);
    if (!header)
        return NULL;
    const uint64_t size = MODULE_U64(header + 32);
    const unsigned char *strings = module_elf_at(elf, MODULE_U64(header + 24), size);
    if (!strings || at >= size || !memchr(strings + at, 0, (size_t)size - at))
        return NULL;
    return (const char *)strings + at;
}

static void module_elf_symbol(const struct module_elf *elf, unsigned strings,
                              const unsigned char *symbol,
                              struct cushim_names names[CUSHIM_NAMES_KINDS])
{
    enum { OBJECT = 1, FUNCTION = 2, IS_ENTRY = 0x10 };
    const int type = symbol[4] & 15, binding = symbol[4] >> 4;
    if (MODULE_U16(symbol + 6) == 0 || (type != OBJECT && type != FUNCTION))
        return;
    if (type == FUNCTION && (binding == 0 || !(symbol[5] & IS_ENTRY)))
        return;
    const char *name = module_elf_string(elf, strings, MODULE_U32(symbol));
    if (name && name[0] && name[0] != '.')
        cushim_names_add(&names[type == FUNCTION ? CUSHIM_NAMES_KERNELS : CUSHIM_NAMES_GLOBALS],
                         name, strlen(name));
}

static void module_elf_names(const unsigned char *data, size_t bytes,
                             struct cushim_names names[CUSHIM_NAMES_KINDS])
{
    struct module_elf elf;
    if (!module_elf_open(data, bytes, &elf))
        return;
    for (unsigned i = 0; i < elf.count; i++) {
        const unsigned char *section = module_elf_section(&elf, i);
        if (MODULE_U32(section + 4) != 2) /* SHT_SYMTAB */
            continue;
        const uint64_t size = MODULE_U64(section + 32);
        const unsigned char *symbols = module_elf_at(&elf, MODULE_U64(section + 24), size);
        for (uint64_t at = 0; symbols && at + 24 <= size; at += 24)
            module_elf_symbol(&elf, MODULE_U32(section + 40), symbols + at, names);
    }
}

/* e_ident's 7th byte tells the two layouts of a cubin's flags apart. */
static int module_cubin_arch(const unsigned char *data)
{
    const uint32_t flags = MODULE_U32(data + 48);
    return (int)(data[7] == 0x41 ? flags >> 8 & 0xff : flags & 0xff);
}

static CUresult module_elf_read(const char *helper, const char *what, const unsigned char *data,
                                size_t bytes, struct cushim_image *image)
{
    const bool wide = bytes > 4 && data[4] == 2;
    if (bytes < 52 || (wide && !module_elf_is_whole(data, bytes)))
        return cushim_refuse(CUDA_ERROR_INVALID_IMAGE, helper,
                             "%s: an ELF file that is truncated: %zu bytes are not all that its "
                             "headers say",
                             what, bytes);
    const bool cuda = MODULE_U16(data + 18) == MODULE_ELF_CUDA;
    image->kind = cuda ? CUSHIM_IMAGE_CUBIN : CUSHIM_IMAGE_OBJECT;
    image->relocatable = MODULE_U16(data + 16) == 1;
    image->arch = cuda && wide ? module_cubin_arch(data) : 0;
    if (cuda || image->relocatable)
        return CUDA_SUCCESS;
    return cushim_refuse(CUDA_ERROR_INVALID_IMAGE, helper,
                         "%s: a program or shared library of the host, with no code for a GPU that "
                         "could be taken from it",
                         what);
}

/* ---- all kinds */

static CUresult module_fatbin_read(const char *helper, const char *what, const unsigned char *data,
                                   size_t bytes, struct cushim_image *image)
{
    const uint64_t header = bytes >= 16 ? MODULE_U16(data + 6) : 0;
    const uint64_t body = bytes >= 16 ? MODULE_U64(data + 8) : 0;
    if (bytes < 16 || header < 16 || header > bytes || body > bytes - header)
        return cushim_refuse(CUDA_ERROR_INVALID_IMAGE, helper,
                             "%s: a fatbin that is truncated: %zu bytes, of %llu", what, bytes,
                             (unsigned long long)(header + body));
    image->kind = CUSHIM_IMAGE_FATBIN;
    return CUDA_SUCCESS;
}

/* Whether it looks like text, by its first bytes. */
static bool module_is_text(const unsigned char *data, size_t bytes)
{
    for (size_t i = 0; i < bytes && i < 64; i++)
        if ((data[i] < 32 && !strchr("\t\n\v\f\r", data[i])) || data[i] == 127)
            return i > 0 && data[i] == 0;
    return bytes > 0 && data[0] != 0;
}

static CUresult module_text_read(const char *helper, const char *what, const char *text,
                                 size_t bytes, struct cushim_image *image)
{
    struct cushim_ptx ptx;
    cushim_ptx_read(text, bytes, &ptx, NULL);
    if (!ptx.is_ptx)
        return cushim_refuse(CUDA_ERROR_INVALID_IMAGE, helper,
                             "%s: %zu bytes of text that is not PTX: its first word is not "
                             ".version",
                             what, bytes);
    if (ptx.nul != SIZE_MAX)
        return cushim_refuse(CUDA_ERROR_INVALID_PTX, helper,
                             "%s: PTX with a NUL at byte %zu of %zu, and text behind it", what,
                             ptx.nul, bytes);
    if (ptx.open_line)
        return cushim_refuse(CUDA_ERROR_INVALID_PTX, helper,
                             "%s: PTX that is truncated: what line %d opens is not closed at its "
                             "end (%zu bytes)",
                             what, ptx.open_line, bytes);
    if (!ptx.image.version_major)
        return cushim_refuse(CUDA_ERROR_INVALID_PTX, helper,
                             "%s: PTX that is truncated: no number follows .version (%zu bytes)",
                             what, bytes);
    *image = ptx.image;
    return CUDA_SUCCESS;
}

CUresult cushim_image_read(const char *helper, const char *what, const void *data, size_t bytes,
                           struct cushim_image *image)
{
    const unsigned char *at = data;
    struct cushim_image found = {0};
    CUresult code = CUDA_SUCCESS;
    if (!data)
        return cushim_refuse(CUDA_ERROR_INVALID_VALUE, helper, "%s: NULL", what);
    if (!bytes)
        return cushim_refuse(CUDA_ERROR_INVALID_VALUE, helper, "%s: empty, 0 bytes", what);
    if (bytes >= 4 && memcmp(at, "\177ELF", 4) == 0)
        code = module_elf_read(helper, what, at, bytes, &found);
    else if (bytes >= 4 && MODULE_U32(at) == MODULE_FATBIN_MAGIC)
        code = module_fatbin_read(helper, what, at, bytes, &found);
    else if (bytes >= 8 && memcmp(at, "!<arch>\n", 8) == 0)
        found.kind = CUSHIM_IMAGE_LIBRARY;
    else if (module_is_text(at, bytes))
        code = module_text_read(helper, what, data, bytes, &found);
    else
        code = cushim_refuse(CUDA_ERROR_INVALID_IMAGE, helper,
                             "%s: none of PTX, cubin, fatbin, object and library: %zu bytes that "
                             "begin with %02x %02x %02x %02x",
                             what, bytes, at[0], bytes > 1 ? at[1] : 0, bytes > 2 ? at[2] : 0,
                             bytes > 3 ? at[3] : 0);
    if (code == CUDA_SUCCESS)
        *image = found;
    return code;
}

CUresult cushim_image_describe(const void *data, size_t bytes, struct cushim_image *image)
{
    if (!image)
        return cushim_refuse(CUDA_ERROR_INVALID_VALUE, __func__, "image: NULL");
    return cushim_image_read(__func__, "data", data, bytes, image);
}

void cushim_image_names(const void *data, size_t bytes, const struct cushim_image *image,
                        struct cushim_names names[CUSHIM_NAMES_KINDS])
{
    struct cushim_ptx ptx;
    const unsigned char *at = data;
    if (image->kind == CUSHIM_IMAGE_PTX)
        cushim_ptx_read(data, bytes, &ptx, names);
    else if (image->kind == CUSHIM_IMAGE_CUBIN && bytes > 4 && at[4] == 2)
        module_elf_names(data, bytes, names);
}
