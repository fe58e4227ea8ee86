/* SPDX-License-Identifier: MIT */
/* What texture references say about sampling: set and told. */
#include <string.h>

#include "texture/texture.h"

#define FLAGS                                                                                      \
    (CU_TRSF_READ_AS_INTEGER | CU_TRSF_NORMALIZED_COORDINATES | CU_TRSF_SRGB |                     \
     CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION | CU_TRSF_SEAMLESS_CUBEMAP)

/* Show the kernels a changed setting. One that does not go with what is bound counts when
 * something else is bound. */
static CUresult changed(struct sim_reference *reference)
{
    (void)sim_reference_update(reference);
    return CUDA_SUCCESS;
}

/* A live reference for a question that has somewhere to write its answer. */
static CUresult ask(CUtexref handle, const void *out, struct sim_reference **reference)
{
    CUresult result = sim_reference_of(handle, reference);
    return result == CUDA_SUCCESS && !out ? CUDA_ERROR_INVALID_VALUE : result;
}

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
    return changed(reference);
}

CUresult sim_cuTexRefGetFormat(CUarray_format *pFormat, int *pNumChannels, CUtexref hTexRef)
{
    struct sim_reference *reference;
    SIM_TRY(ask(hTexRef, pNumChannels ? pFormat : NULL, &reference));
    *pFormat = reference->format;
    *pNumChannels = reference->channels;
    return CUDA_SUCCESS;
}

CUresult sim_cuTexRefSetAddressMode(CUtexref hTexRef, int dim, CUaddress_mode am)
{
    SIM_FIND(struct sim_reference *, reference, sim_reference_of(hTexRef, &reference));
    SIM_REFUSE(dim < 0 || dim > 2 || am > CU_TR_ADDRESS_MODE_BORDER);
    reference->texture.addressMode[dim] = am;
    return changed(reference);
}

CUresult sim_cuTexRefGetAddressMode(CUaddress_mode *pam, CUtexref hTexRef, int dim)
{
    struct sim_reference *reference;
    SIM_TRY(ask(hTexRef, dim >= 0 && dim <= 2 ? pam : NULL, &reference));
    *pam = reference->texture.addressMode[dim];
    return CUDA_SUCCESS;
}

static CUresult set_filter(CUtexref handle, CUfilter_mode mode, bool mipmap)
{
    SIM_FIND(struct sim_reference *, reference, sim_reference_of(handle, &reference));
    if (mode != CU_TR_FILTER_MODE_LINEAR) /* drivers take anything */
        mode = CU_TR_FILTER_MODE_POINT;
    if (mipmap)
        reference->texture.mipmapFilterMode = mode;
    else
        reference->texture.filterMode = mode;
    return changed(reference);
}

SIM_ENTRY(cuTexRefSetFilterMode, set_filter(hTexRef, fm, false))
SIM_ENTRY(cuTexRefSetMipmapFilterMode, set_filter(hTexRef, fm, true))

SIM_TELL_AFTER(cuTexRefGetFilterMode, pfm, struct sim_reference *reference,
               sim_reference_of(hTexRef, &reference), reference->texture.filterMode)
SIM_TELL_AFTER(cuTexRefGetMipmapFilterMode, pfm, struct sim_reference *reference,
               sim_reference_of(hTexRef, &reference), reference->texture.mipmapFilterMode)
SIM_TELL_AFTER(cuTexRefGetFlags, pFlags, struct sim_reference *reference,
               sim_reference_of(hTexRef, &reference), reference->texture.flags)
SIM_TELL_AFTER(cuTexRefGetMaxAnisotropy, pmaxAniso, struct sim_reference *reference,
               sim_reference_of(hTexRef, &reference), (int)reference->texture.maxAnisotropy)
SIM_TELL_AFTER(cuTexRefGetMipmapLevelBias, pbias, struct sim_reference *reference,
               sim_reference_of(hTexRef, &reference), reference->texture.mipmapLevelBias)

CUresult sim_cuTexRefSetFlags(CUtexref hTexRef, unsigned int Flags)
{
    SIM_FIND(struct sim_reference *, reference, sim_reference_of(hTexRef, &reference));
    SIM_REFUSE(Flags & ~(unsigned)FLAGS);
    reference->texture.flags = Flags;
    return changed(reference);
}

CUresult sim_cuTexRefSetMaxAnisotropy(CUtexref hTexRef, unsigned int maxAniso)
{
    SIM_FIND(struct sim_reference *, reference, sim_reference_of(hTexRef, &reference));
    reference->texture.maxAnisotropy = maxAniso;
    return CUDA_SUCCESS;
}

CUresult sim_cuTexRefSetMipmapLevelBias(CUtexref hTexRef, float bias)
{
    SIM_FIND(struct sim_reference *, reference, sim_reference_of(hTexRef, &reference));
    reference->texture.mipmapLevelBias = bias;
    return changed(reference);
}

SIM_BEHAVIOUR(cuTexRefSetMipmapLevelClamp)
{
    SIM_FIND(struct sim_reference *, reference, sim_reference_of(hTexRef, &reference));
    reference->texture.minMipmapLevelClamp = minMipmapLevelClamp;
    reference->texture.maxMipmapLevelClamp = maxMipmapLevelClamp;
    return changed(reference);
}

SIM_BEHAVIOUR(cuTexRefGetMipmapLevelClamp)
{
    struct sim_reference *reference;
    SIM_TRY(ask(hTexRef, pmaxMipmapLevelClamp ? pminMipmapLevelClamp : NULL, &reference));
    *pminMipmapLevelClamp = reference->texture.minMipmapLevelClamp;
    *pmaxMipmapLevelClamp = reference->texture.maxMipmapLevelClamp;
    return CUDA_SUCCESS;
}

CUresult sim_cuTexRefSetBorderColor(CUtexref hTexRef, float *pBorderColor)
{
    SIM_FIND(struct sim_reference *, reference, ask(hTexRef, pBorderColor, &reference));
    memcpy(reference->texture.borderColor, pBorderColor, sizeof reference->texture.borderColor);
    return changed(reference);
}

CUresult sim_cuTexRefGetBorderColor(float *pBorderColor, CUtexref hTexRef)
{
    SIM_FIND(struct sim_reference *, reference, ask(hTexRef, pBorderColor, &reference));
    memcpy(pBorderColor, reference->texture.borderColor, sizeof reference->texture.borderColor);
    return CUDA_SUCCESS;
}
