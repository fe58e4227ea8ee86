/* SPDX-License-Identifier: MIT */
/* Which filters a texture object of integers has, and what it reads between two elements. */
#include <stdio.h>
#include <string.h>

#include "questions.h"

enum { WIDTH = 8 };

struct trial {
    CUarray_format format;
    unsigned bytes; /* of an element */
    bool floats;
};

/* 32 reads, four for each element, as bits in the type that the texture gives. */
#define HEAD                                                                                       \
    ".version 6.0\n.target sm_50\n.address_size 64\n"                                              \
    ".visible .entry k(.param .u64 out, .param .u64 texture)\n{\n"                                 \
    " .reg .b64 %d<4>;\n .reg .b32 %r<8>;\n .reg .f32 %x;\n"                                       \
    " ld.param.u64 %d0, [out];\n ld.param.u64 %d1, [texture];\n mov.u32 %r0, %tid.x;\n"            \
    " mul.wide.u32 %d2, %r0, 4;\n add.u64 %d0, %d0, %d2;\n cvt.rn.f32.u32 %x, %r0;\n"
#define TAIL                                                                                       \
    ".f32 {%r1, %r2, %r3, %r4}, [%d1, {%x}];\n"                                                    \
    " st.global.b32 [%d0], %r1;\n ret;\n}\n"

static CUarray make_array(const struct cushim_api *cu, const struct trial *trial)
{
    static const unsigned numbers[WIDTH] = {10, 20, 100, 7, 0, 127, 64, 3};
    static const float floats[WIDTH] = {10, 20, 100, 7, 0, 127, 64, 3};
    static const unsigned short halves[WIDTH] = {0x4900, 0x4d00, 0x5640, 0x4700,
                                                 0,      0x57f0, 0x5400, 0x4200};
    unsigned char bytes[WIDTH * 4];
    CUDA_ARRAY_DESCRIPTOR descriptor = {WIDTH, 0, trial->format, 1};
    CUarray array;

    for (unsigned i = 0; i < WIDTH; i++)
        memcpy(bytes + i * trial->bytes,
               !trial->floats      ? (const void *)&numbers[i]
               : trial->bytes == 2 ? (const void *)&halves[i]
                                   : (const void *)&floats[i],
               trial->bytes); /* the low bytes come first */
    question_need("cuArrayCreate", cu->cuArrayCreate_v2(&array, &descriptor));
    question_need("cuMemcpyHtoA",
                  cu->cuMemcpyHtoA_v2(array, 0, bytes, (size_t)WIDTH * trial->bytes));
    return array;
}

static void ask(const struct cushim_api *cu, const void *data)
{
    const struct trial *trial = data;
    CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_ARRAY};

    question_context(cu, NULL);
    resource.res.array.hArray = make_array(cu, trial);
    for (unsigned i = 0; i < 8; i++) {
        const bool linear = i & 1, as_integer = i & 2, normalized = i & 4;
        CUDA_TEXTURE_DESC texture = {.filterMode = linear ? CU_TR_FILTER_MODE_LINEAR
                                                          : CU_TR_FILTER_MODE_POINT,
                                     .flags = (as_integer ? CU_TRSF_READ_AS_INTEGER : 0U) |
                                              (normalized ? CU_TRSF_NORMALIZED_COORDINATES : 0U)};
        const bool whole = !trial->floats && (as_integer || trial->bytes == 4);
        char kernel[1024], line[64] = "";
        const unsigned *words;
        CUtexObject object;
        CUresult code;

        for (unsigned k = 0; k < 3; k++)
            texture.addressMode[k] = CU_TR_ADDRESS_MODE_CLAMP;
        snprintf(line, sizeof line, "%s%s%s", linear ? "linear" : "point",
                 as_integer ? ", as integer" : "", normalized ? ", normalized" : "");
        code = cu->cuTexObjectCreate(&object, &resource, &texture, NULL);
        question_answer(line, "%d", (int)code);
        if (code != CUDA_SUCCESS)
            continue;
        snprintf(kernel, sizeof kernel, "%s mul.f32 %%x, %%x, %s;\n tex.1d.v4.%s%s", HEAD,
                 normalized ? "0f3D000000" : "0f3E800000", whole ? "u32" : "f32", TAIL);
        words = question_run(cu, kernel, 32, object);
        if (words)
            question_words("reads", words, 32);
    }
}

#define FORMAT(name, format, bytes, floats)                                                        \
    {                                                                                              \
        "texture-" name, ask, &(const struct trial)                                                \
        {                                                                                          \
            format, bytes, floats                                                                  \
        }                                                                                          \
    }
const struct question questions_textures[] = {
    FORMAT("u8", CU_AD_FORMAT_UNSIGNED_INT8, 1, false),
    FORMAT("s8", CU_AD_FORMAT_SIGNED_INT8, 1, false),
    FORMAT("u16", CU_AD_FORMAT_UNSIGNED_INT16, 2, false),
    FORMAT("s16", CU_AD_FORMAT_SIGNED_INT16, 2, false),
    FORMAT("u32", CU_AD_FORMAT_UNSIGNED_INT32, 4, false),
    FORMAT("s32", CU_AD_FORMAT_SIGNED_INT32, 4, false),
    FORMAT("f16", CU_AD_FORMAT_HALF, 2, true),
    FORMAT("f32", CU_AD_FORMAT_FLOAT, 4, true),
    {NULL, NULL, NULL},
};
