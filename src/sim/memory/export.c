/* SPDX-License-Identifier: MIT */
#include "memory/memory.h"

#include <fcntl.h>

#include "ptx/ptx.h"

#define PAGE ((size_t)4096)

struct file {
    int number;
    unsigned parts; /* that live */
    size_t size;
};
/* Bytes of this process that are a file's. */
struct part {
    char *bytes;
    size_t size;
    struct file *file;
    size_t offset; /* in the file */
    struct part *next;
};
static struct part *parts;

/* A piece of a range: bytes that lie together. */
struct span {
    struct sim_allocation *allocation;
    char *bytes;
    size_t size;
};

/* Of those that have some of the bytes, the one with the first of them. */
static struct part *first_part(const char *bytes, size_t size)
{
    struct part *first = NULL;
    for (struct part *part = parts; part; part = part->next)
        if (bytes < part->bytes + part->size && part->bytes < bytes + size &&
            (!first || part->bytes < first->bytes))
            first = part;
    return first;
}

bool sim_export_has(const char *bytes, size_t size)
{
    return first_part(bytes, size);
}

static void leave_file(struct file *file)
{
    if (--file->parts)
        return;
    close(file->number);
    free(file);
}

/* The bytes end: the file stays with those who have it. */
static void unmapped(const char *bytes, size_t size)
{
    for (struct part **link = &parts; *link;) {
        struct part *part = *link;
        if (part->bytes < bytes || part->bytes >= bytes + size) {
            link = &part->next;
            continue;
        }
        *link = part->next;
        leave_file(part->file);
        free(part);
    }
}

/* The bytes at an address, of at most `most`; the range is live. A block may have a last page that
 * is not all its own. */
static struct span span_at(uint64_t address, size_t most)
{
    struct sim_allocation *found = sim_range_find(address);
    size_t at = (size_t)(address - found->address);
    size_t here = (found->usable - at + PAGE - 1) / PAGE * PAGE;
    return (struct span){found, found->host + at, here < most ? here : most};
}

/* The file that processes share the block by, or NULL. */
static const struct sim_shared *shared_of(const struct sim_allocation *allocation)
{
    return allocation->kind == SIM_MEMORY_VIRTUAL ? sim_range_behind(allocation)->shared
                                                  : allocation->shared;
}

static bool has_pages(const struct sim_allocation *allocation)
{
    return allocation->mapped || allocation->kind == SIM_MEMORY_VIRTUAL;
}

/* How much of the range is the beginning of one file already, and which that is. */
static CUresult known_part(uint64_t address, size_t size, struct file **file, size_t *known)
{
    *file = NULL;
    *known = 0;
    for (size_t done = 0; done < size;) {
        struct span span = span_at(address + done, size - done);
        const struct part *part =
            has_pages(span.allocation) ? first_part(span.bytes, span.size) : NULL;
        if (shared_of(span.allocation))
            return SIM_LACK_cuMemGetHandleForAddressRange_overlap;
        if (!part) {
            done += span.size;
            continue;
        }
        size_t inside = (size_t)(span.bytes - part->bytes);
        if (*known != done || (*file && *file != part->file) || span.bytes < part->bytes ||
            part->offset + inside != done)
            return SIM_LACK_cuMemGetHandleForAddressRange_overlap;
        size_t here = part->size - inside < span.size ? part->size - inside : span.size;
        *file = part->file;
        done += here;
        *known = done;
    }
    return *known < size && *file && (*file)->size != *known
               ? SIM_LACK_cuMemGetHandleForAddressRange_overlap
               : CUDA_SUCCESS;
}

/* Where malloc made the bytes, the block's move to pages of their own. */
static bool own_pages(struct span *span)
{
    struct sim_allocation *allocation = span->allocation;
    if (has_pages(allocation))
        return true;
    char *pages = sim_memory_pages_make(allocation->usable);
    if (!pages)
        return false;
    size_t at = (size_t)(span->bytes - allocation->host);
    memcpy(pages, allocation->host, allocation->usable);
    sim_memory_move(allocation, pages);
    span->bytes = pages + at;
    return true;
}

static bool append(struct file *file, const struct span *span)
{
    struct part *made = malloc(sizeof *made);
    ptx_memory_end(span->allocation->host); /* others may write it now */
    if (!made || !sim_shared_plain_append(file->number, file->size, span->bytes, span->size)) {
        free(made);
        return false;
    }
    *made = (struct part){span->bytes, span->size, file, file->size, parts};
    parts = made;
    sim_memory_hooks.unmapped = unmapped;
    file->parts++;
    file->size += span->size;
    return true;
}

static struct file *new_file(void)
{
    struct file *made = malloc(sizeof *made);
    int number = made ? sim_shared_plain_make() : -1;
    if (number < 0) {
        free(made);
        return NULL;
    }
    *made = (struct file){.number = number, .parts = 1}; /* the caller's */
    return made;
}

/* A file that has the range, of which `file` has the beginning (NULL: none does). It is the
 * program's. */
static CUresult export(uint64_t address, size_t size, struct file *file, size_t known, int *number)
{
    CUresult result = CUDA_SUCCESS;
    bool fresh = !file;
    SIM_FAIL(OPERATING_SYSTEM, fresh && !(file = new_file()));
    while (known < size && result == CUDA_SUCCESS) {
        struct span span = span_at(address + known, size - known);
        if (!own_pages(&span))
            result = CUDA_ERROR_OUT_OF_MEMORY;
        else if (sim_export_has(span.bytes, span.size)) /* mapped twice in the range */
            result = SIM_LACK_cuMemGetHandleForAddressRange_overlap;
        else if (!append(file, &span))
            result = CUDA_ERROR_OUT_OF_MEMORY;
        known += span.size;
    }
    if (result == CUDA_SUCCESS && (*number = fcntl(file->number, F_DUPFD_CLOEXEC, 0)) < 0)
        result = CUDA_ERROR_OPERATING_SYSTEM;
    if (fresh)
        leave_file(file);
    return result;
}

/* Whether all of it is live memory of a device, that the program allocated. */
static bool is_device_memory(uint64_t address, size_t size)
{
    for (size_t done = 0; done < size;) {
        const struct sim_allocation *found = sim_range_find(address + done);
        if (!found || found->ending || (done && found->kind != SIM_MEMORY_VIRTUAL))
            return false;
        bool on_device = found->kind == SIM_MEMORY_VIRTUAL
                             ? !!sim_range_behind(found)->device
                             : found->kind == SIM_MEMORY_DEVICE || found->kind == SIM_MEMORY_POOL;
        if (!on_device)
            return false;
        done += span_at(address + done, size - done).size;
    }
    return true;
}

/* In the order of a driver's own checks. */
static CUresult check(CUdeviceptr address, size_t size, unsigned long long flags)
{
    SIM_FAIL(NOT_PERMITTED, sim_current_in_callback);
    SIM_FAIL(NOT_SUPPORTED, !sim_device_initialized()); /* by none of no devices */
    SIM_TRY(sim_current_check());
    SIM_REFUSE(!is_device_memory(address, size));
    return flags ? CUDA_ERROR_NOT_SUPPORTED : CUDA_SUCCESS; /* a mapping by PCIe */
}

SIM_BEHAVIOUR(cuMemGetHandleForAddressRange)
{
    size_t known;
    SIM_REFUSE(!handle || handleType != CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD || size == 0 ||
               dptr % PAGE || size % PAGE ||
               (flags && !(flags & CU_MEM_RANGE_FLAG_DMA_BUF_MAPPING_TYPE_PCIE)));
    SIM_TRY(check(dptr, size, flags));
    SIM_FIND(struct file *, file, known_part(dptr, size, &file, &known));
    if (known < size) { /* bytes that work may write are not moved */
        sim_ticket_wait_all(NULL);
        SIM_TRY(check(dptr, size, flags));
        SIM_TRY(known_part(dptr, size, &file, &known));
    }
    int number = -1; /* gcc does not see that it is set */
    SIM_TRY(export(dptr, size, file, known, &number));
    memcpy(handle, &number, sizeof number);
    return CUDA_SUCCESS;
}
