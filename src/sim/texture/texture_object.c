/* SPDX-License-Identifier: MIT */
/* Texture and surface objects. */
#include "texture/texture.h"

struct sampler { /* a texture or surface object; its handle is the view's */
    struct sim_object object;
    uint64_t handle;
    CUDA_RESOURCE_DESC_v1 resource;
    CUDA_TEXTURE_DESC_v1 texture;
    CUDA_RESOURCE_VIEW_DESC_v1 part;
    bool has_part;
};

static struct sampler *find(enum sim_kind kind, uint64_t handle)
{
    struct sim_object *found = sim_table_owner(handle, kind == SIM_SURFACE);
    return found && found->kind == kind ? (struct sampler *)found : NULL; /* else a reference */
}

static CUresult create(enum sim_kind kind, const struct sampler *wanted, CUtexObject_v1 *handle)
{
    bool surface = kind == SIM_SURFACE;
    SIM_FIND(struct sim_context *, context, sim_current(&context));
    SIM_FIND(struct sim_view *, view,
             sim_view_make(&wanted->resource, &wanted->texture,
                           wanted->has_part ? &wanted->part : NULL, surface, &view));
    struct sampler *made = malloc(sizeof *made);
    uint64_t number = made ? sim_table_publish(view, surface, made) : 0;
    if (!number) {
        free(made);
        free(view);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *made = *wanted;
    made->handle = number;
    sim_object_add(&made->object, kind, context);
    *handle = number;
    return CUDA_SUCCESS;
}

void sim_texture_object_end(struct sim_object *object)
{
    sim_table_withdraw(((struct sampler *)object)->handle);
    sim_object_remove(object);
    free(object);
}

static CUresult destroy_handle(enum sim_kind kind, uint64_t handle)
{
    SIM_TRY(sim_current_check());
    struct sampler *found = find(kind, handle);
    if (found) /* of a handle that is none a device says nothing */
        sim_texture_object_end(&found->object);
    return CUDA_SUCCESS;
}

SIM_BEHAVIOUR(cuTexObjectCreate)
{
    struct sampler wanted = {.has_part = pResViewDesc};
    SIM_TRY(sim_current_check());
    SIM_REFUSE(!pTexObject || !pResDesc || !pTexDesc || pResDesc->flags);
    wanted.resource = *pResDesc;
    wanted.texture = *pTexDesc;
    if (pResViewDesc)
        wanted.part = *pResViewDesc;
    return create(SIM_TEXTURE, &wanted, pTexObject);
}

SIM_ENTRY(cuTexObjectDestroy, destroy_handle(SIM_TEXTURE, texObject))

/* A live object for a question that has somewhere to write its answer. */
static CUresult ask(enum sim_kind kind, uint64_t handle, const void *out, struct sampler **found)
{
    SIM_TRY(sim_current_check());
    *found = find(kind, handle);
    return SIM_VALID(*found && out);
}

SIM_TELL_AFTER(cuTexObjectGetResourceDesc, pResDesc, struct sampler *found,
               ask(SIM_TEXTURE, texObject, pResDesc, &found), found->resource)

/* Real drivers do not tell the border's colour. */
SIM_SET(cuTexObjectGetTextureDesc, struct sampler *, found,
        ask(SIM_TEXTURE, texObject, pTexDesc, &found), false,
        memcpy(pTexDesc, &found->texture, offsetof(CUDA_TEXTURE_DESC_v1, borderColor)))

/* All zero, where there is none. */
SIM_TELL_AFTER(cuTexObjectGetResourceViewDesc, pResViewDesc, struct sampler *found,
               ask(SIM_TEXTURE, texObject, pResViewDesc, &found), found->part)

CUresult sim_cuSurfObjectCreate(CUsurfObject_v1 *pSurfObject, const CUDA_RESOURCE_DESC_v1 *pResDesc)
{
    struct sampler wanted = {.has_part = false};
    SIM_TRY(sim_current_check());
    SIM_REFUSE(!pSurfObject || !pResDesc || pResDesc->flags ||
               pResDesc->resType != CU_RESOURCE_TYPE_ARRAY);
    wanted.resource = *pResDesc;
    return create(SIM_SURFACE, &wanted, pSurfObject);
}

SIM_ENTRY(cuSurfObjectDestroy, destroy_handle(SIM_SURFACE, surfObject))

SIM_TELL_AFTER(cuSurfObjectGetResourceDesc, pResDesc, struct sampler *found,
               ask(SIM_SURFACE, surfObject, pResDesc, &found), found->resource)
