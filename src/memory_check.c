/* SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "instance.h"
#include "memory_internal.h"

CUresult cushim_require(const void *pointer, const char *helper, const char *argument)
{
    if (pointer)
        return CUDA_SUCCESS;
    return cushim_refuse(CUDA_ERROR_INVALID_VALUE, helper, "%s: NULL", argument);
}

bool cushim_multiply(size_t a, size_t b, size_t *product)
{
    *product = a * b;
    return !a || b <= SIZE_MAX / a;
}

bool cushim_add(size_t a, size_t b, size_t *sum)
{
    *sum = a + b;
    return b <= SIZE_MAX - a;
}

/* ---- whether what cushim remembers is so still */

enum memory_answer {
    MEMORY_OURS,  /* the address is in the allocation that cushim remembers, or nobody can tell */
    MEMORY_GONE,  /* it is in none */
    MEMORY_OTHERS /* it is in another */
};

/* Asked only where cushim is about to refuse: the caller may have used the driver's own calls. */
static enum memory_answer memory_ask(const struct cushim_api *cu, const struct cushim_range *range,
                                     uintptr_t address)
{
    unsigned long long id = 0;
    CUresult code = cu->cuPointerGetAttribute(&id, CU_POINTER_ATTRIBUTE_BUFFER_ID, address);
    if (code == CUDA_ERROR_INVALID_VALUE)
        return MEMORY_GONE;
    return code != CUDA_SUCCESS || id == range->id || !range->id ? MEMORY_OURS : MEMORY_OTHERS;
}

/* Whether a live allocation is as cushim remembers it; forgets it where it is not. */
static bool memory_is_live(const struct cushim_api *cu, const struct cushim_range *range)
{
    /* Driver 580 dies of SIGSEGV when asked about an array that was destroyed. */
    if (range->kind == CUSHIM_MEMORY_ARRAY || memory_ask(cu, range, range->base) == MEMORY_OURS)
        return true;
    cushim_track_drop(cu, range->base);
    return false;
}

/* Whether an address that was freed here is nobody else's by now; forgets it where it is. */
static bool memory_is_freed(const struct cushim_api *cu, const struct cushim_range *range,
                            uintptr_t address)
{
    if (range->kind == CUSHIM_MEMORY_ARRAY)
        return true; /* a driver that is asked about it dies */
    enum memory_answer answer = memory_ask(cu, range, address);
    /* A piece of a pool answers as before when it was handed out anew. */
    bool again = range->kind == CUSHIM_MEMORY_POOLED;
    if (answer == MEMORY_GONE || (answer == MEMORY_OURS && !again))
        return true;
    cushim_track_drop(cu, range->base);
    return false;
}

static CUresult memory_refuse_freed(const char *helper, const char *argument, uintptr_t address,
                                    const struct cushim_range *range)
{
    if (range->kind == CUSHIM_MEMORY_ARRAY)
        return cushim_refuse(CUDA_ERROR_INVALID_HANDLE, helper, "%s: %#zx was destroyed already",
                             argument, (size_t)address);
    return cushim_refuse(CUDA_ERROR_INVALID_VALUE, helper,
                         "%s: %#zx is in the %zu bytes at %#zx that were %s already", argument,
                         (size_t)address, range->size, (size_t)range->base,
                         range->kind == CUSHIM_MEMORY_REGISTERED ? "unregistered" : "freed");
}

/* ---- use */

static CUresult memory_check_found(const struct cushim_api *cu, const char *helper,
                                   const char *argument, uintptr_t address, size_t bytes,
                                   enum cushim_known known, const struct cushim_range *range)
{
    if (range->kind & (CUSHIM_MEMORY_ARRAY | CUSHIM_MEMORY_REGISTERED))
        return CUDA_SUCCESS; /* a handle is no memory; more than was registered may be there */
    if (known == CUSHIM_RANGE_FREED) {
        if (range->kind == CUSHIM_MEMORY_HOST || !memory_is_freed(cu, range, address))
            return CUDA_SUCCESS;
        return memory_refuse_freed(helper, argument, address, range);
    }
    if (!memory_is_live(cu, range))
        return CUDA_SUCCESS;
    size_t left = range->size - (address - range->base);
    return cushim_refuse(CUDA_ERROR_INVALID_VALUE, helper,
                         "%s: %zu bytes from %#zx pass the end of the allocation of %zu bytes at "
                         "%#zx by %zu",
                         argument, bytes, (size_t)address, range->size, (size_t)range->base,
                         bytes - left);
}

CUresult cushim_check_range(const struct cushim_api *cu, const char *helper, const char *argument,
                            uintptr_t address, size_t bytes)
{
    struct cushim_range range;
    if (!bytes)
        return CUDA_SUCCESS;
    if (!address)
        return cushim_refuse(CUDA_ERROR_INVALID_VALUE, helper, "%s: 0 is no address", argument);
    if (bytes - 1 > UINTPTR_MAX - address)
        return cushim_refuse(CUDA_ERROR_INVALID_VALUE, helper,
                             "%s: %zu bytes from %#zx pass the end of all addresses", argument,
                             bytes, (size_t)address);
    enum cushim_known known = cushim_track_find(cu, address, &range);
    if (known == CUSHIM_RANGE_UNKNOWN ||
        (known == CUSHIM_RANGE_LIVE && bytes <= range.size - (address - range.base)))
        return CUDA_SUCCESS;
    return memory_check_found(cu, helper, argument, address, bytes, known, &range);
}

/* Whether count elements from an offset fit into a size. */
static bool memory_fits(size_t offset, size_t count, size_t size)
{
    return offset <= size && count <= size - offset;
}

CUresult cushim_check_array(const struct cushim_api *cu, const char *helper, const char *argument,
                            CUarray array, const struct cushim_box *box)
{
    struct cushim_range range;
    CUresult code = cushim_require(array, helper, argument);
    if (code != CUDA_SUCCESS)
        return code;
    enum cushim_known known = cushim_track_find(cu, (uintptr_t)array, &range);
    if (known == CUSHIM_RANGE_UNKNOWN || range.kind != CUSHIM_MEMORY_ARRAY)
        return CUDA_SUCCESS;
    if (known == CUSHIM_RANGE_FREED && memory_is_freed(cu, &range, range.base))
        return memory_refuse_freed(helper, argument, range.base, &range);
    CUDA_ARRAY3D_DESCRIPTOR shape;
    struct cushim_extent extent;
    if (known == CUSHIM_RANGE_FREED ||
        cu->cuArray3DGetDescriptor_v2(&shape, array) != CUDA_SUCCESS ||
        !cushim_array_measure(&shape, &extent) || !extent.known ||
        (memory_fits(box->x, box->width, extent.row) &&
         memory_fits(box->y, box->height, extent.rows) &&
         memory_fits(box->z, box->depth, extent.planes)))
        return CUDA_SUCCESS;
    return cushim_refuse(CUDA_ERROR_INVALID_VALUE, helper,
                         "%s: %zu bytes by %zu by %zu from (%zu, %zu, %zu) pass the end of array "
                         "%p of %zu bytes by %zu by %zu",
                         argument, box->width, box->height, box->depth, box->x, box->y, box->z,
                         (void *)array, extent.row, extent.rows, extent.planes);
}

/* ---- allocation */

void cushim_note_memory(const struct cushim_api *cu, uintptr_t address, size_t bytes,
                        enum cushim_memory_kind kind)
{
    struct cushim_range range = {.base = address, .size = bytes, .kind = kind};
    if (cu->cuPointerGetAttribute(&range.id, CU_POINTER_ATTRIBUTE_BUFFER_ID, address) !=
        CUDA_SUCCESS)
        range.id = 0;
    cushim_track_add(cu, &range);
}

CUresult cushim_not_allocated(const struct cushim_api *cu, CUresult code, size_t bytes)
{
    char text[1024];
    size_t free_bytes = 0, total_bytes = 0;
    snprintf(text, sizeof text, "%s", cushim_last_error());
    if (code == CUDA_ERROR_OUT_OF_MEMORY &&
        cu->cuMemGetInfo_v2(&free_bytes, &total_bytes) == CUDA_SUCCESS)
        cushim_set_last_error("%s; bytes: %zu, and %zu of %zu are free", text, bytes, free_bytes,
                              total_bytes);
    else
        cushim_set_last_error("%s; bytes: %zu", text, bytes);
    return code;
}

/* ---- freeing */

static const char *memory_freer(enum cushim_memory_kind kind)
{
    switch (kind) {
    case CUSHIM_MEMORY_GROWING:
        return "cushim_growing_release";
    case CUSHIM_MEMORY_HOST:
        return "cushim_host_free";
    case CUSHIM_MEMORY_REGISTERED:
        return "cushim_host_unregister";
    case CUSHIM_MEMORY_ARRAY:
        return "cushim_array_destroy";
    default:
        return "cushim_memory_free";
    }
}

static CUresult memory_refuse_to_free(const char *helper, const char *argument, uintptr_t address,
                                      const struct cushim_range *range)
{
    if (range->base != address)
        return cushim_refuse(CUDA_ERROR_INVALID_VALUE, helper,
                             "%s: %#zx is %zu bytes into the allocation at %#zx: free that",
                             argument, (size_t)address, (size_t)(address - range->base),
                             (size_t)range->base);
    return cushim_refuse(CUDA_ERROR_INVALID_VALUE, helper, "%s: %#zx is for %s", argument,
                         (size_t)address, memory_freer(range->kind));
}

CUresult cushim_take(const struct cushim_api *cu, const char *helper, const char *argument,
                     uintptr_t address, unsigned int kinds, struct cushim_range *taken)
{
    struct cushim_range range;
    enum cushim_known known = cushim_track_find(cu, address, &range);
    /* Handles of arrays and addresses are apart. */
    bool array = kinds == CUSHIM_MEMORY_ARRAY;
    taken->kind = (enum cushim_memory_kind)0;
    if (known == CUSHIM_RANGE_UNKNOWN || array != (range.kind == CUSHIM_MEMORY_ARRAY))
        return CUDA_SUCCESS;
    if (known == CUSHIM_RANGE_FREED) {
        if (!(range.kind & kinds) || !memory_is_freed(cu, &range, address))
            return CUDA_SUCCESS;
        return memory_refuse_freed(helper, argument, address, &range);
    }
    if (range.base != address || !(range.kind & kinds)) {
        if (!memory_is_live(cu, &range))
            return CUDA_SUCCESS;
        return memory_refuse_to_free(helper, argument, address, &range);
    }
    if (!cushim_track_free(cu, address))
        return memory_refuse_freed(helper, argument, address, &range);
    *taken = range;
    return CUDA_SUCCESS;
}

CUresult cushim_taken(const struct cushim_api *cu, const struct cushim_range *taken, CUresult code)
{
    code = cushim_gone_is_done(code);
    /* These say that it was not there to be freed: somebody else did, or its context is gone. */
    bool gone = code == CUDA_SUCCESS || code == CUDA_ERROR_INVALID_VALUE ||
                code == CUDA_ERROR_INVALID_HANDLE || code == CUDA_ERROR_CONTEXT_IS_DESTROYED ||
                code == CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
    if (taken->kind && !gone)
        cushim_track_restore(cu, taken->base);
    return code;
}
