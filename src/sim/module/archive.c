/* SPDX-License-Identifier: MIT */
#include "module/archive.h"

#include <string.h>

#include "fatbin_format.h"
#include "module/image.h"
#include "ptx/ptx.h"

#define MAGIC "!<arch>\n"
#define DEVICE_RUNTIME "cuda_device_runtime" /* the object in libcudadevrt of every release */

/* Of the device runtime, what waits for a whole grid. The handle and the codes are a device's. The
 * barrier is that of cooperative groups: its top bit changes when the last block has come, because
 * the first block adds what is missing to it. */
static char device_runtime[] =
    ".version 3.2\n.target sm_20\n.address_size 64\n"
    ".visible .func (.param .b64 handle) cudaCGGetIntrinsicHandle(.param .b32 scope)\n{\n"
    ".reg .b32 %scope, %high;\n.reg .b64 %handle;\n.reg .pred %valid;\n"
    "ld.param.b32 %scope, [scope];\n"
    "mov.b32 %high, %envreg1;\n"
    "setp.ne.u32 %valid, %high, 0;\n"
    "setp.eq.and.u32 %valid, %scope, 1, %valid;\n"
    "selp.b64 %handle, 0x7ffffffffffff, 0, %valid;\n"
    "st.param.b64 [handle], %handle;\n"
    "ret;\n}\n"
    ".visible .func (.param .b32 result) cudaCGSynchronize(.param .b64 handle,\n"
    "                                                      .param .b32 flags)\n{\n"
    ".reg .b32 %flags, %high, %low, %x, %y, %z, %mine, %before, %now, %blocks;\n"
    ".reg .b64 %handle, %workspace;\n.reg .pred %is;\n"
    "ld.param.b64 %handle, [handle];\n"
    "ld.param.b32 %flags, [flags];\n"
    "mov.b32 %high, %envreg1;\n"
    "mov.b32 %low, %envreg2;\n"
    "setp.ne.u64 %is, %handle, 0x7ffffffffffff;\n"
    "setp.gt.or.u32 %is, %flags, 1, %is;\n"
    "setp.eq.or.u32 %is, %high, 0, %is;\n"
    "@%is bra refuse;\n"
    "mov.b64 %workspace, {%low, %high};\n"
    "bar.sync 0;\n"
    "mov.u32 %x, %tid.x;\nmov.u32 %y, %tid.y;\nmov.u32 %z, %tid.z;\n"
    "or.b32 %x, %x, %y;\nor.b32 %x, %x, %z;\n"
    "setp.ne.u32 %is, %x, 0;\n"
    "@%is bra meet;\n"
    "mov.u32 %x, %nctaid.x;\nmov.u32 %y, %nctaid.y;\nmov.u32 %z, %nctaid.z;\n"
    "mul.lo.u32 %blocks, %x, %y;\nmul.lo.u32 %blocks, %blocks, %z;\n"
    "sub.u32 %mine, 0x80000001, %blocks;\n"
    "mov.u32 %x, %ctaid.x;\nmov.u32 %y, %ctaid.y;\nmov.u32 %z, %ctaid.z;\n"
    "or.b32 %x, %x, %y;\nor.b32 %x, %x, %z;\n"
    "setp.eq.u32 %is, %x, 0;\n"
    "selp.b32 %mine, %mine, 1, %is;\n"
    "membar.gl;\n"
    "atom.add.u32 %before, [%workspace+4], %mine;\n"
    "wait:\n"
    "ld.volatile.u32 %now, [%workspace+4];\n"
    "xor.b32 %now, %now, %before;\n"
    "setp.ge.s32 %is, %now, 0;\n"
    "@%is bra wait;\n"
    "membar.gl;\n"
    "meet:\n"
    "bar.sync 0;\n"
    "st.param.b32 [result], 0;\n"
    "ret;\n"
    "refuse:\n"
    "st.param.b32 [result], 999;\n"
    "ret;\n}\n";

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
    struct ptx_source runtime = {.text = device_runtime, .size = sizeof device_runtime};
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
