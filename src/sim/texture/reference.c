/* SPDX-License-Identifier: MIT */
/* Texture and surface references: made, and bound to memory. */
#include "texture/texture.h"

struct sim_reference *sim_reference_make(struct sim_context *context, bool surface)
{
    struct sim_reference *made = calloc(1, sizeof *made);
    if (!made)
        return NULL;
    made->format = CU_AD_FORMAT_FLOAT;
    made->channels = 1;
    for (int i = 0; i < 3; i++)
        made->texture.addressMode[i] = CU_TR_ADDRESS_MODE_CLAMP;
    made->object.pinned = true; /* kernels read it, and a module that goes waits for them */
    made->handle = sim_table_publish(NULL, surface, made);
    if (!made->handle) {
        free(made);
        return NULL;
    }
    sim_object_add(&made->object, surface ? SIM_SURFREF : SIM_TEXREF, context);
    return made;
}

void sim_reference_destroy(struct sim_reference *reference)
{
    sim_table_withdraw(reference->handle);
    sim_object_remove(&reference->object);
    free(reference);
}

void sim_reference_end(struct sim_object *object)
{
    if (((struct sim_reference *)object)->own) /* others end with their module */
        sim_reference_destroy((struct sim_reference *)object);
}

/* No context is needed. */
CUresult sim_reference_of(CUtexref handle, struct sim_reference **reference)
{
    *reference = sim_object(SIM_TEXREF, handle);
    SIM_FAIL(INVALID_HANDLE, !handle);
    return SIM_VALID(*reference);
}

CUresult sim_reference_update(struct sim_reference *reference)
{
    struct sim_view *view = NULL;
    CUresult result = CUDA_SUCCESS;
    if (reference->bound)
        result = sim_view_make(&reference->resource, &reference->texture, NULL,
                               reference->object.kind == SIM_SURFREF, &view);
    sim_table_change(reference->handle, view);
    return result;
}

/* Bind to the resource, or leave all as it was. */
static CUresult bind(struct sim_reference *reference, const CUDA_RESOURCE_DESC_v1 *resource)
{
    CUDA_RESOURCE_DESC_v1 before = reference->resource;
    bool was_bound = reference->bound;
    reference->resource = *resource;
    reference->bound = true;
    CUresult result = sim_reference_update(reference);
    if (result != CUDA_SUCCESS) {
        reference->resource = before;
        reference->bound = was_bound;
        (void)sim_reference_update(reference);
    }
    return result;
}

CUresult sim_cuTexRefCreate(CUtexref *pTexRef)
{
    SIM_FIND(struct sim_context *, context, sim_current(&context));
    SIM_REFUSE(!pTexRef);
    SIM_MADE(struct sim_reference *, made, sim_reference_make(context, false));
    made->own = true;
    *pTexRef = (CUtexref)made;
    return CUDA_SUCCESS;
}

/* A module's goes with the module. */
SIM_SET(cuTexRefDestroy, struct sim_reference *, reference, sim_reference_of(hTexRef, &reference),
        !reference->own, sim_reference_destroy(reference))

/* The same to what has a shape (NULL: the handle is none), whose format the reference takes over.
 */
static CUresult bind_shape(struct sim_reference *reference, const CUDA_RESOURCE_DESC_v1 *resource,
                           const CUDA_ARRAY3D_DESCRIPTOR_v2 *shape, unsigned flags)
{
    SIM_REFUSE(!shape || (flags & ~(unsigned)CU_TRSA_OVERRIDE_FORMAT));
    SIM_TRY(bind(reference, resource));
    reference->format = shape->Format;
    reference->channels = (int)shape->NumChannels;
    return CUDA_SUCCESS;
}

CUresult sim_cuTexRefSetArray(CUtexref hTexRef, CUarray hArray, unsigned int Flags)
{
    CUDA_RESOURCE_DESC_v1 resource = {.resType = CU_RESOURCE_TYPE_ARRAY,
                                      .res.array.hArray = hArray};
    const struct sim_array *array = sim_object(SIM_ARRAY, hArray);
    SIM_FIND(struct sim_reference *, reference, sim_reference_of(hTexRef, &reference));
    SIM_FAIL(INVALID_HANDLE, !hArray);
    return bind_shape(reference, &resource, array ? &array->shape : NULL, Flags);
}

SIM_BEHAVIOUR(cuTexRefSetMipmappedArray)
{
    CUDA_RESOURCE_DESC_v1 resource = {.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY,
                                      .res.mipmap.hMipmappedArray = hMipmappedArray};
    const struct sim_mipmap *mipmap = sim_object(SIM_MIPMAP, hMipmappedArray);
    SIM_FIND(struct sim_reference *, reference, sim_reference_of(hTexRef, &reference));
    SIM_FAIL(INVALID_HANDLE, !hMipmappedArray);
    return bind_shape(reference, &resource, mipmap ? &mipmap->shape : NULL, Flags);
}

SIM_BEHAVIOUR(cuTexRefSetAddress_v2)
{
    CUDA_RESOURCE_DESC_v1 resource = {.resType = CU_RESOURCE_TYPE_LINEAR};
    size_t offset = dptr % 512;
    SIM_FIND(struct sim_reference *, reference, sim_reference_of(hTexRef, &reference));
    if (dptr == 0) { /* unbinds, and is told as the address */
        reference->bound = false;
        reference->resource.resType = CU_RESOURCE_TYPE_LINEAR;
        reference->address = 0;
        SIM_PUT(ByteOffset, 0);
        return sim_reference_update(reference);
    }
    SIM_REFUSE(offset && !ByteOffset);
    resource.res.linear.devPtr = dptr - offset;
    resource.res.linear.format = reference->format;
    resource.res.linear.numChannels = (unsigned)reference->channels;
    resource.res.linear.sizeInBytes = bytes + offset;
    SIM_TRY(bind(reference, &resource));
    reference->address = dptr - offset;
    SIM_PUT(ByteOffset, offset);
    return CUDA_SUCCESS;
}

SIM_BEHAVIOUR(cuTexRefSetAddress2D_v3)
{
    CUDA_RESOURCE_DESC_v1 resource = {.resType = CU_RESOURCE_TYPE_PITCH2D};
    SIM_FIND(struct sim_reference *, reference, sim_reference_of(hTexRef, &reference));
    SIM_REFUSE(!desc);
    resource.res.pitch2D.devPtr = dptr;
    resource.res.pitch2D.format = desc->Format;
    resource.res.pitch2D.numChannels = desc->NumChannels;
    resource.res.pitch2D.width = desc->Width;
    resource.res.pitch2D.height = desc->Height;
    resource.res.pitch2D.pitchInBytes = Pitch;
    SIM_TRY(bind(reference, &resource));
    reference->address = dptr;
    reference->format = desc->Format;
    reference->channels = (int)desc->NumChannels;
    return CUDA_SUCCESS;
}

/* Written where it is refused, too. */
CUresult sim_cuTexRefGetAddress_v2(CUdeviceptr_v2 *pdptr, CUtexref hTexRef)
{
    SIM_FIND(struct sim_reference *, reference, sim_reference_of(hTexRef, &reference));
    bool memory = reference->resource.resType == CU_RESOURCE_TYPE_LINEAR ||
                  reference->resource.resType == CU_RESOURCE_TYPE_PITCH2D;
    SIM_PUT(pdptr, memory ? reference->address : 0);
    return SIM_VALID(pdptr && memory);
}

/* A reference that is bound to such a resource. */
static CUresult bound(CUtexref handle, CUresourcetype type, struct sim_reference **reference)
{
    SIM_TRY(sim_reference_of(handle, reference));
    return SIM_VALID((*reference)->bound && (*reference)->resource.resType == type);
}

SIM_TELL_AFTER(cuTexRefGetArray, phArray, struct sim_reference *reference,
               bound(hTexRef, CU_RESOURCE_TYPE_ARRAY, &reference),
               reference->resource.res.array.hArray)
SIM_TELL_AFTER(cuTexRefGetMipmappedArray, phMipmappedArray, struct sim_reference *reference,
               bound(hTexRef, CU_RESOURCE_TYPE_MIPMAPPED_ARRAY, &reference),
               reference->resource.res.mipmap.hMipmappedArray)

/* --- Surface references --- */

CUresult sim_cuSurfRefSetArray(CUsurfref hSurfRef, CUarray hArray, unsigned int Flags)
{
    CUDA_RESOURCE_DESC_v1 resource = {.resType = CU_RESOURCE_TYPE_ARRAY};
    SIM_TRY(sim_current_check());
    struct sim_reference *reference = sim_object(SIM_SURFREF, hSurfRef);
    const struct sim_array *array = sim_object(SIM_ARRAY, hArray);
    SIM_REFUSE(!reference || !array || Flags || !(array->shape.Flags & CUDA_ARRAY3D_SURFACE_LDST));
    resource.res.array.hArray = hArray;
    return bind(reference, &resource);
}

CUresult sim_cuSurfRefGetArray(CUarray *phArray, CUsurfref hSurfRef)
{
    const struct sim_reference *reference = sim_object(SIM_SURFREF, hSurfRef);
    SIM_FAIL(INVALID_HANDLE, !hSurfRef);
    SIM_REFUSE(!phArray || !reference || !reference->bound);
    *phArray = reference->resource.res.array.hArray;
    return CUDA_SUCCESS;
}

/* --- What texture references say about sampling: set and told --- */

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

/* A format that does not exist is told like others; nothing can be bound with it. */
CUresult sim_cuTexRefSetFormat(CUtexref hTexRef, CUarray_format fmt, int NumPackedComponents)
{
    SIM_FIND(struct sim_reference *, reference, sim_reference_of(hTexRef, &reference));
    SIM_REFUSE(NumPackedComponents == 3 || NumPackedComponents > 4);
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
SET(cuTexRefSetFilterMode, false, reference->filter = fm,
    reference->texture.filterMode = filter(fm))
SET(cuTexRefSetFlags, Flags & ~(unsigned)FLAGS, reference->texture.flags = Flags)
SET(cuTexRefSetMaxAnisotropy, false, reference->texture.maxAnisotropy = maxAniso)
SET(cuTexRefSetMipmapFilterMode, (unsigned)fm > CU_TR_FILTER_MODE_LINEAR,
    reference->texture.mipmapFilterMode = fm)
SET(cuTexRefSetMipmapLevelBias, false, reference->texture.mipmapLevelBias = bias)
SET(cuTexRefSetMipmapLevelClamp, false,
    reference->texture.minMipmapLevelClamp = minMipmapLevelClamp,
    reference->texture.maxMipmapLevelClamp = maxMipmapLevelClamp)

TELL(cuTexRefGetFilterMode, pfm, reference->filter)
TELL(cuTexRefGetFlags, pFlags, reference->texture.flags)
TELL(cuTexRefGetMaxAnisotropy, pmaxAniso, (int)reference->texture.maxAnisotropy)
TELL(cuTexRefGetMipmapFilterMode, pfm, reference->texture.mipmapFilterMode)
TELL(cuTexRefGetMipmapLevelBias, pbias, reference->texture.mipmapLevelBias)
ASK(cuTexRefGetAddressMode, (pam && dim >= 0 && dim <= 2),
    *pam = reference->texture.addressMode[dim])
ASK(cuTexRefGetBorderColor, pBorderColor,
    memcpy(pBorderColor, reference->texture.borderColor, sizeof reference->texture.borderColor))
SIM_BEHAVIOUR(cuTexRefGetFormat)
{
    SIM_FIND(struct sim_reference *, reference, sim_reference_of(hTexRef, &reference));
    SIM_PUT(pFormat, reference->format);
    SIM_PUT(pNumChannels, reference->channels);
    return CUDA_SUCCESS;
}
ASK(cuTexRefGetMipmapLevelClamp, (pminMipmapLevelClamp && pmaxMipmapLevelClamp),
    *pminMipmapLevelClamp = reference->texture.minMipmapLevelClamp,
    *pmaxMipmapLevelClamp = reference->texture.maxMipmapLevelClamp)
