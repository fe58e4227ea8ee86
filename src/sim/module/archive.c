/* SPDX-License-Identifier: MIT */
#include "module/module.h"

#include <string.h>

#include "fatbin_format.h"
#include "ptx/ptx.h"

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

CUresult sim_archive_read(const void *data, size_t size, unsigned architecture,
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
