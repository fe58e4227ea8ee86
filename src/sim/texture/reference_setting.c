/* SPDX-License-Identifier: MIT */
/* What texture references say about sampling: set and told. */
#include "texture/texture.h"

#define FLAGS                                                                                      \
    (CU_TRSF_READ_AS_INTEGER | CU_TRSF_NORMALIZED_COORDINATES | CU_TRSF_SRGB |                     \
     CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION | CU_TRSF_SEAMLESS_CUBEMAP)

/* Set something of a reference, and show it to kernels. What does not go with what is bound counts
 * when something else is bound. */
#define SET(symbol, refused, ...)                                                                  \
    SIM_SET(symbol, struct sim_reference *, reference, sim_reference_of(hTexRef, &reference),      \
            refused, __VA_ARGS__, (void)sim_reference_update(reference))
/* Tell one thing, or with ASK several, if there is somewhere to write it. */
#define TELL(symbol, out, ...)                                                                     \
    SIM_TELL_AFTER(symbol, out, struct sim_reference *reference,                                   \
                   sim_reference_of(hTexRef, &reference), __VA_ARGS__)
#define ASK(symbol, out, ...)                                                                      \
    SIM_SET(symbol, struct sim_reference *, reference, sim_reference_of(hTexRef, &reference),      \
            !(out), __VA_ARGS__)

CUresult sim_cuTexRefSetFormat(CUtexref hTexRef, CUarray_format fmt, int NumPackedComponents)
{
    SIM_FIND(struct sim_reference *, reference, sim_reference_of(hTexRef, &reference));
    bool known = fmt == CU_AD_FORMAT_HALF || fmt == CU_AD_FORMAT_FLOAT ||
                 (fmt >= CU_AD_FORMAT_UNSIGNED_INT8 && fmt <= CU_AD_FORMAT_UNSIGNED_INT32) ||
                 (fmt >= CU_AD_FORMAT_SIGNED_INT8 && fmt <= CU_AD_FORMAT_SIGNED_INT32);
    SIM_REFUSE(!known ||
               (NumPackedComponents != 1 && NumPackedComponents != 2 && NumPackedComponents != 4));
    reference->format = fmt;
    reference->channels = NumPackedComponents;
    if (reference->bound && reference->resource.resType == CU_RESOURCE_TYPE_LINEAR) {
        reference->resource.res.linear.format = fmt;
        reference->resource.res.linear.numChannels = (unsigned)NumPackedComponents;
    }
    (void)sim_reference_update(reference);
    return CUDA_SUCCESS;
}

/* Drivers take anything. */
static CUfilter_mode filter(CUfilter_mode mode)
{
    return mode == CU_TR_FILTER_MODE_LINEAR ? mode : CU_TR_FILTER_MODE_POINT;
}

SET(cuTexRefSetAddressMode, dim<0 || dim> 2 || am > CU_TR_ADDRESS_MODE_BORDER,
    reference->texture.addressMode[dim] = am)
SET(cuTexRefSetBorderColor, !pBorderColor,
    memcpy(reference->texture.borderColor, pBorderColor, sizeof reference->texture.borderColor))
SET(cuTexRefSetFilterMode, false, reference->texture.filterMode = filter(fm))
SET(cuTexRefSetFlags, Flags & ~(unsigned)FLAGS, reference->texture.flags = Flags)
SET(cuTexRefSetMaxAnisotropy, false, reference->texture.maxAnisotropy = maxAniso)
SET(cuTexRefSetMipmapFilterMode, false, reference->texture.mipmapFilterMode = filter(fm))
SET(cuTexRefSetMipmapLevelBias, false, reference->texture.mipmapLevelBias = bias)
SET(cuTexRefSetMipmapLevelClamp, false,
    reference->texture.minMipmapLevelClamp = minMipmapLevelClamp,
    reference->texture.maxMipmapLevelClamp = maxMipmapLevelClamp)

TELL(cuTexRefGetFilterMode, pfm, reference->texture.filterMode)
TELL(cuTexRefGetFlags, pFlags, reference->texture.flags)
TELL(cuTexRefGetMaxAnisotropy, pmaxAniso, (int)reference->texture.maxAnisotropy)
TELL(cuTexRefGetMipmapFilterMode, pfm, reference->texture.mipmapFilterMode)
TELL(cuTexRefGetMipmapLevelBias, pbias, reference->texture.mipmapLevelBias)
ASK(cuTexRefGetAddressMode, (pam && dim >= 0 && dim <= 2),
    *pam = reference->texture.addressMode[dim])
ASK(cuTexRefGetBorderColor, pBorderColor,
    memcpy(pBorderColor, reference->texture.borderColor, sizeof reference->texture.borderColor))
ASK(cuTexRefGetFormat, (pFormat && pNumChannels), *pFormat = reference->format,
    *pNumChannels = reference->channels)
ASK(cuTexRefGetMipmapLevelClamp, (pminMipmapLevelClamp && pmaxMipmapLevelClamp),
    *pminMipmapLevelClamp = reference->texture.minMipmapLevelClamp,
    *pmaxMipmapLevelClamp = reference->texture.maxMipmapLevelClamp)
