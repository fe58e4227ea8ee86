/* SPDX-License-Identifier: MIT */
#include "module/module.h"

#include <elf.h>
#include <stdio.h>

#include "fatbin_format.h"

#define EM_CUDA_MACHINE 190
#define MAX_FILE ((long)1 << 30)
#define MARK "cushim" /* in the padding of the ELF identification */

/* A "cubin" of this driver: a marked ELF header, number of texts, then length and text of each. */
struct linked {
    Elf64_Ehdr elf;
    uint64_t size; /* of the whole */
    uint64_t count;
    uint64_t max_registers;
};

static bool is_elf(const void *data, size_t size)
{
    return size >= SELFMAG && strncmp(data, ELFMAG, SELFMAG) == 0;
}

static CUresult add(struct sim_image *image, const char *text, size_t size, char *owned)
{
    struct ptx_source *sources =
        realloc(image->sources, (image->count + 1) * sizeof *image->sources);
    if (sources)
        image->sources = sources;
    char **owners = realloc(image->owned, (image->count + 1) * sizeof *image->owned);
    if (owners)
        image->owned = owners;
    if (!sources || !owners) {
        free(owned);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    sources[image->count] = (struct ptx_source){.text = text, .size = size};
    owners[image->count++] = owned;
    return CUDA_SUCCESS;
}

void sim_image_free(struct sim_image *image)
{
    for (size_t i = 0; i < image->count; i++)
        free(image->owned[i]);
    free(image->sources);
    free(image->owned);
    *image = (struct sim_image){0};
}

CUresult sim_image_append(struct sim_image *image, const struct sim_image *more)
{
    for (size_t i = 0; i < more->count; i++) {
        const struct ptx_source *source = &more->sources[i];
        size_t size = strnlen(source->text, source->size);
        size_t name = source->input ? strlen(source->input) + 1 : 0;
        SIM_MADE(char *, copy, malloc(size + 1 + name));
        memcpy(copy, source->text, size);
        copy[size] = '\0';
        SIM_TRY(add(image, copy, size, copy));
        if (name)
            image->sources[image->count - 1].input = memcpy(copy + size + 1, source->input, name);
    }
    return CUDA_SUCCESS;
}

static CUresult read_linked(const char *data, size_t size, unsigned architecture,
                            struct sim_image *image)
{
    struct linked head;
    SIM_FAIL(INVALID_IMAGE, size < sizeof(Elf64_Ehdr));
    /* Where the size is not known, an ELF header is there anyhow. */
    memcpy(&head.elf, data, sizeof head.elf);
    if (memcmp(head.elf.e_ident + EI_PAD, MARK, sizeof MARK) != 0)
        return head.elf.e_machine == EM_CUDA_MACHINE && head.elf.e_shnum
                   ? SIM_LACK_cuModuleLoadData_machine
                   : CUDA_ERROR_INVALID_IMAGE;
    SIM_FAIL(INVALID_IMAGE, size < sizeof head);
    SIM_FAIL(NO_BINARY_FOR_GPU, (head.elf.e_flags & 0xff) / 10 != architecture / 10 ||
                                    (head.elf.e_flags & 0xff) > architecture);
    memcpy(&head, data, sizeof head);
    SIM_FAIL(INVALID_IMAGE, head.size > size || head.size < sizeof head);
    image->max_registers = (unsigned)head.max_registers;
    const char *at = data + sizeof head, *end = data + head.size;
    for (uint64_t i = 0; i < head.count; i++) {
        uint64_t length;
        SIM_FAIL(INVALID_IMAGE, (size_t)(end - at) < sizeof length);
        memcpy(&length, at, sizeof length);
        at += sizeof length;
        SIM_FAIL(INVALID_IMAGE, length > (size_t)(end - at));
        SIM_TRY(add(image, at, (size_t)length, NULL));
        at += length;
    }
    return CUDA_SUCCESS;
}

/* The architecture is in another place since the eighth version of the format. */
static void machine_code(const void *data, struct ptx_text *errors)
{
    Elf64_Ehdr elf;
    memcpy(&elf, data, sizeof elf);
    unsigned flags = elf.e_flags >> (elf.e_ident[EI_ABIVERSION] >= 8 ? 8 : 0) & 0xff;
    ptx_text_add(errors, "the simulated device runs PTX; a cubin is machine code (for sm_%u); ",
                 flags);
    ptx_text_add(errors, SIM_HOW_TO_GET_PTX);
}

bool sim_image_is_binary(const void *data, size_t size)
{
    return sim_fatbin_is(data, size) || is_elf(data, size);
}

CUresult sim_image_read(const void *data, size_t size, unsigned architecture,
                        struct sim_image *image, struct ptx_text *errors)
{
    CUresult result;
    *image = (struct sim_image){0};
    if (sim_fatbin_is(data, size)) {
        char *text;
        size_t length;
        result = sim_fatbin_read(data, size, architecture, &text, &length, errors);
        if (result == CUDA_SUCCESS)
            result = add(image, text, length, text);
    } else if (is_elf(data, size)) {
        result = read_linked(data, size, architecture, image);
        if (result == CUDA_ERROR_NO_BINARY_FOR_GPU && errors)
            machine_code(data, errors);
    } else {
        size_t length = strnlen(data, size);
        /* As real drivers decide: PTX is a text with a .version in it. */
        result = memmem(data, length, ".version", strlen(".version"))
                     ? add(image, data, length, NULL)
                     : CUDA_ERROR_INVALID_IMAGE;
    }
    if (result != CUDA_SUCCESS)
        sim_image_free(image);
    return result;
}

void *sim_image_write(const struct sim_image *image, unsigned architecture, size_t *size)
{
    struct linked head = {.count = image->count, .max_registers = image->max_registers};
    head.size = sizeof head;
    for (size_t i = 0; i < image->count; i++)
        head.size += sizeof(uint64_t) + image->sources[i].size;
    /* One empty section at the end, by which readers see whether the file is all there. */
    head.elf.e_shoff = head.size;
    head.elf.e_shentsize = sizeof(Elf64_Shdr);
    head.elf.e_shnum = 1;
    head.size += sizeof(Elf64_Shdr);
    memcpy(head.elf.e_ident, ELFMAG, SELFMAG);
    memcpy(head.elf.e_ident + EI_PAD, MARK, sizeof MARK);
    head.elf.e_ident[EI_CLASS] = ELFCLASS64;
    head.elf.e_ident[EI_DATA] = ELFDATA2LSB;
    head.elf.e_ident[EI_VERSION] = EV_CURRENT;
    head.elf.e_type = ET_EXEC;
    head.elf.e_machine = EM_CUDA_MACHINE;
    head.elf.e_version = EV_CURRENT;
    head.elf.e_flags = architecture; /* where a cubin says for which device it is */
    head.elf.e_ehsize = sizeof head.elf;
    char *block = calloc(1, head.size);
    if (!block)
        return NULL;
    memcpy(block, &head, sizeof head);
    char *at = block + sizeof head;
    for (size_t i = 0; i < image->count; i++) {
        uint64_t length = image->sources[i].size;
        memcpy(at, &length, sizeof length);
        memcpy(at + sizeof length, image->sources[i].text, length);
        at += sizeof length + length;
    }
    *size = head.size;
    return block;
}

bool sim_image_same(const void *data, size_t size, const void *output)
{
    struct linked head, made;
    memcpy(&made, output, sizeof made);
    /* Where the size is not known, an ELF header is there anyhow. */
    if (data == output)
        return true;
    if (size < made.size || !is_elf(data, size) || memcmp(data, &made.elf, sizeof made.elf) != 0)
        return false;
    memcpy(&head, data, sizeof head);
    return head.size == made.size && memcmp(data, output, made.size) == 0;
}

#define MAGIC "!<arch>\n"
#define DEVICE_RUNTIME "cuda_device_runtime" /* the object in libcudadevrt of every release */

extern const char sim_device_runtime[]; /* device_runtime.ptx */

/* The first fatbin at or after an address, with its size. It may lie at any address. */
static const char *next_fatbin(const char *at, const char *end, size_t *size)
{
    const uint32_t magic = FATBIN_MAGIC;
    struct fatbin_header header;
    for (; (at = memmem(at, (size_t)(end - at), &magic, sizeof magic)); at += sizeof magic) {
        if ((size_t)(end - at) < sizeof header)
            return NULL;
        memcpy(&header, at, sizeof header);
        if (header.header_size >= sizeof header && header.size <= (size_t)(end - at) &&
            header.header_size <= (size_t)(end - at) - header.size) {
            *size = (size_t)header.size + header.header_size;
            return at;
        }
    }
    return NULL;
}

/* The PTX of one fatbin, if it has any for the device. */
static CUresult add_fatbin(struct sim_image *image, const char *fatbin, size_t size,
                           unsigned architecture)
{
    struct sim_image found;
    CUresult result = sim_image_read(fatbin, size, architecture, &found, NULL);
    if (result == CUDA_SUCCESS) {
        result = sim_image_append(image, &found);
        sim_image_free(&found);
    }
    return result == CUDA_ERROR_OUT_OF_MEMORY ? result : CUDA_SUCCESS;
}

CUresult sim_image_archive_read(const void *data, size_t size, unsigned architecture,
                                struct sim_image *image, struct ptx_text *errors)
{
    const char *at = data, *end = at + size;
    struct ptx_source runtime = {.text = sim_device_runtime, .size = strlen(sim_device_runtime)};
    CUresult result = CUDA_SUCCESS;
    size_t length;
    bool found = false;
    *image = (struct sim_image){0};
    if (size < strlen(MAGIC) || memcmp(data, MAGIC, strlen(MAGIC)) != 0) {
        ptx_text_add(errors, "fatal   : unexpected archive format\n");
        return CUDA_ERROR_UNKNOWN;
    }
    if (memmem(data, size, DEVICE_RUNTIME, strlen(DEVICE_RUNTIME)))
        return sim_image_append(image, &(struct sim_image){.sources = &runtime, .count = 1});
    for (; result == CUDA_SUCCESS && (at = next_fatbin(at, end, &length)); at += length) {
        result = add_fatbin(image, at, length, architecture);
        found = true;
    }
    if (result != CUDA_SUCCESS)
        sim_image_free(image);
    return result == CUDA_SUCCESS && !found ? CUDA_ERROR_INVALID_IMAGE : result;
}

CUresult sim_image_read_file(const char *path, char **data, size_t *size)
{
    FILE *file = *path ? fopen(path, "rb") : NULL;
    long length = -1;
    char *text = NULL;
    SIM_REFUSE(!*path);
    SIM_FAIL(FILE_NOT_FOUND, !file);
    if (fseek(file, 0, SEEK_END) == 0)
        length = ftell(file);
    if (length >= 0 && length < MAX_FILE && fseek(file, 0, SEEK_SET) == 0)
        text = malloc((size_t)length + 1);
    if (text && fread(text, 1, (size_t)length, file) != (size_t)length) {
        free(text);
        text = NULL;
    }
    fclose(file);
    SIM_FAIL(OUT_OF_MEMORY, !text); /* a folder, as real drivers say */
    text[length] = '\0';
    *data = text;
    *size = (size_t)length;
    return CUDA_SUCCESS;
}
