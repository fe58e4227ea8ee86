/* SPDX-License-Identifier: MIT */
/*
 * images PART.o PART.cubin PART.fatbin PART.a VECADD.cubin VECADD.fatbin
 *
 * What the toolkit's compiler makes of kernels/link_part.cu and vecadd.cu, linked with PTX and
 * loaded on a real device: from files and from memory, and out of the cache. What kind each file is
 * of is checked first, which needs no device.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <math.h>
#include <string.h>

#include <cushim/context.h>
#include <cushim/launch.h>
#include <cushim/memory.h>
#include <cushim/module.h>

#include "device.h"
#include "link_main_ptx.h"

enum { COUNT = 1003, PARTS = 4, FILES = 6 };

static const struct {
    enum cushim_image_kind kind;
    const char *word;
    bool relocatable;
} files[FILES] = {
    {CUSHIM_IMAGE_OBJECT, "object", true},  {CUSHIM_IMAGE_CUBIN, "relocatable cubin", true},
    {CUSHIM_IMAGE_FATBIN, "fatbin", false}, {CUSHIM_IMAGE_LIBRARY, "library", false},
    {CUSHIM_IMAGE_CUBIN, "cubin", false},   {CUSHIM_IMAGE_FATBIN, "fatbin", false},
};

static const struct cushim_api *cu;

static void *read_file(const char *path, size_t *bytes)
{
    FILE *file = fopen(path, "rb");
    CHECK(file && fseek(file, 0, SEEK_END) == 0);
    long size = ftell(file);
    CHECK(size > 0 && fseek(file, 0, SEEK_SET) == 0);
    void *data = malloc((size_t)size);
    CHECK(data && fread(data, 1, (size_t)size, file) == (size_t)size);
    fclose(file);
    *bytes = (size_t)size;
    return data;
}

/* Whole, and cut short: told apart without a driver. */
static void describe(char **paths)
{
    for (int i = 0; i < FILES; i++) {
        struct cushim_image image = {.size = sizeof image};
        size_t bytes = 0;
        void *data = read_file(paths[i], &bytes);
        OK(cushim_image_describe(data, bytes, &image));
        printf("%s: kind %d, sm_%d\n", paths[i], (int)image.kind, image.arch);
        CHECK(image.kind == files[i].kind && image.relocatable == files[i].relocatable);
        if (image.kind != CUSHIM_IMAGE_LIBRARY)
            CHECK(cushim_image_describe(data, bytes / 2, &image) == CUDA_ERROR_INVALID_IMAGE);
        free(data);
    }
}

static void run_linked(CUmodule module)
{
    struct cushim_launch launch = cushim_launch_1d(COUNT, 128, NULL);
    CUfunction function = NULL;
    CUdeviceptr memory = 0;
    float data[COUNT];
    for (int i = 0; i < COUNT; i++)
        data[i] = (float)i / 7;
    OK(cushim_module_function(cu, module, "link_main", &function));
    OK(cushim_memory_alloc(cu, sizeof data, &memory));
    OK(cushim_copy_to_device(cu, memory, data, sizeof data));
    OK(CUSHIM_LAUNCH(cu, function, &launch, memory, (unsigned)COUNT));
    OK(cushim_copy_to_host(cu, data, memory, sizeof data));
    for (int i = 0; i < COUNT; i++)
        CHECK(data[i] == fmaf(3, (float)i / 7, 1));
    OK(cushim_memory_free(cu, memory));
    OK(cushim_module_unload(cu, module));
}

static void link_with(const struct cushim_link_input *part, const char *word)
{
    const struct cushim_link_input inputs[] = {{.size = sizeof inputs[0],
                                                .data = link_main_ptx,
                                                .bytes = sizeof link_main_ptx,
                                                .name = "link_main"},
                                               *part};
    struct cushim_jit_result result = {.size = sizeof result};
    CUmodule module = NULL;
    CUresult code = cushim_module_link(cu, inputs, 2, NULL, &result, &module);
    if (code != CUDA_SUCCESS)
        fprintf(stderr, "%s: %s\n%s\n", word, cushim_last_error(), result.error_log);
    CHECK(code == CUDA_SUCCESS);
    printf("PTX and %s%s: linked in %.3f ms\n", word, part->path ? " from its file" : "",
           (double)result.wall_ms);
    cushim_jit_result_release(&result);
    run_linked(module);
}

static void link_parts(char **paths)
{
    for (int i = 0; i < PARTS; i++) {
        struct cushim_link_input file = {.size = sizeof file, .path = paths[i]};
        struct cushim_link_input memory = {.size = sizeof memory};
        void *data = read_file(paths[i], &memory.bytes);
        memory.data = data;
        link_with(&file, files[i].word);
        link_with(&memory, files[i].word);
        free(data);
    }
}

/* An object of the host is for the linker, and what is not linked has no kernel to run. */
static void load_files(char **paths)
{
    for (int i = 0; i < FILES; i++) {
        CUmodule module = NULL;
        CUfunction function = NULL;
        CUresult code = cushim_module_load_file(cu, paths[i], NULL, NULL, &module);
        printf("%s alone: %d%s%s\n", files[i].word, (int)code, code ? " " : "",
               code ? cushim_last_error() : "");
        if (i < PARTS && code == CUDA_SUCCESS)
            OK(cushim_module_unload(cu, module));
        if (files[i].kind == CUSHIM_IMAGE_OBJECT || files[i].kind == CUSHIM_IMAGE_LIBRARY)
            CHECK(code == CUDA_ERROR_INVALID_IMAGE &&
                  strstr(cushim_last_error(), "cushim_module_link"));
        if (i < PARTS)
            continue;
        CHECK(code == CUDA_SUCCESS);
        OK(cushim_module_function(cu, module, "vecadd", &function));
        CHECK(cushim_module_function(cu, module, "vecad", &function) == CUDA_ERROR_NOT_FOUND);
        CHECK(strstr(cushim_last_error(), "nearest: vecadd"));
        OK(cushim_module_unload(cu, module));
    }
}

/* The compiler was told to compile for the devices that it found: perhaps none, or others. */
static bool suits(const char *path)
{
    CUmodule module = NULL;
    CUresult code = cushim_module_load_file(cu, path, NULL, NULL, &module);
    if (code == CUDA_SUCCESS)
        OK(cushim_module_unload(cu, module));
    else
        printf("skipped: %s\n", cushim_last_error());
    return code == CUDA_SUCCESS;
}

int main(int count, char **arguments)
{
    CUcontext context = NULL;
    CHECK(count == 1 + FILES);
    describe(arguments + 1);
    device_or_skip();
    cu = cushim_load(NULL);
    OK(cushim_primary_retain(cu, 0, &context));
    OK(cu->cuCtxPushCurrent(context));
    bool runs = suits(arguments[5]);
    if (runs) {
        link_parts(arguments + 1);
        load_files(arguments + 1);
    }
    OK(cu->cuCtxPopCurrent(&(CUcontext){NULL}));
    OK(cushim_primary_release(cu, 0));
    return runs ? 0 : 77;
}
