/* SPDX-License-Identifier: MIT */
/* Fuzzing the reader of module images: fatbins with plain and packed PTX, linked images, PTX. What
 * it takes must survive being written and read again. */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "module/module.h"
#include "ptx/ptx.h"

#define WRAPPER_MAGIC 0x466243b1U

static void require(bool condition)
{
    if (!condition)
        abort();
}

static bool same(const struct ptx_source *a, const struct ptx_source *b)
{
    size_t length = strnlen(a->text, a->size);
    return length == strnlen(b->text, b->size) && memcmp(a->text, b->text, length) == 0;
}

/* Copied, written, read again: the same texts. */
static void round_trip(const struct sim_image *image, unsigned architecture)
{
    struct sim_image copy = {0}, again;
    size_t size = 0;
    require(sim_image_append(&copy, image) == CUDA_SUCCESS && copy.count == image->count);
    void *block = sim_image_write(&copy, architecture, &size);
    require(block && sim_image_is_binary(block, size));
    require(sim_image_read(block, size, architecture, &again, NULL) == CUDA_SUCCESS);
    require(again.count == image->count);
    for (size_t i = 0; i < image->count; i++)
        require(same(&again.sources[i], &image->sources[i]));
    sim_image_free(&again);
    sim_image_free(&copy);
    free(block);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const unsigned architectures[] = {52, 80, 120};
    uint32_t magic = 0;
    if (size >= sizeof magic)
        memcpy(&magic, data, sizeof magic);
    if (magic == WRAPPER_MAGIC) /* holds an address, which is believed */
        return 0;
    for (size_t i = 0; i < sizeof architectures / sizeof *architectures; i++) {
        struct sim_image image;
        struct ptx_text errors = {0};
        CUresult result = sim_image_read(data, size, architectures[i], &image, &errors);
        require(result == CUDA_SUCCESS ? image.count > 0 || sim_image_is_binary(data, size)
                                       : image.count == 0 && !image.sources);
        if (result == CUDA_SUCCESS)
            round_trip(&image, architectures[i]);
        sim_image_free(&image);
        ptx_text_free(&errors);
    }
    return 0;
}
