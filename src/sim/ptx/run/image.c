/* SPDX-License-Identifier: MIT */
/* A module in one context's memory: constants with the addresses filled in, initial values. */
#include "ptx/run/run.h"

#include <stdlib.h>

static uint64_t function_address(uint32_t index)
{
    return PTX_CODE_WINDOW + 16 * ((uint64_t)index + 1);
}

static void fill_constants(struct ptx_image *image)
{
    const struct ptx_module *module = image->module;

    for (uint32_t i = 0; i < module->pool_count; i++) {
        const struct pool_entry *entry = &module->pool[i];
        uint64_t value = entry->value;
        void *at = image->constants + entry->offset;

        if (entry->kind == POOL_VARIABLE)
            value += image->addresses[module->variable_of[entry->index]];
        else if (entry->kind == POOL_FUNCTION)
            value += function_address(entry->index);
        if (entry->place == PLACE_FORM) {
            *(struct affine *)at = (struct affine){.base = value};
            continue;
        }
        for (unsigned lane = 0; lane < PTX_LANES; lane++) {
            if (entry->place == PLACE_32) {
                ((reg32 *)at)[lane] = (uint32_t)value;
            } else {
                ((reg64 *)at)[lane] = value;
                if (entry->place == PLACE_128)
                    ((reg64 *)at)[lane + PTX_LANES] = 0;
            }
        }
    }
}

/* An address among the initial values. */
static void relocate(const struct ptx_image *image, const struct ir_relocation *relocation,
                     char *host)
{
    const struct ptx_module *module = image->module;
    uint64_t value = 0;

    if (relocation->function)
        value = function_address(relocation->index);
    else if (module->variable_of[relocation->index] != UINT32_MAX)
        value = image->addresses[module->variable_of[relocation->index]];
    value += (uint64_t)relocation->addend;
    value = relocation->shift < 64 ? value >> relocation->shift : 0;
    memcpy(host + relocation->offset, &value, relocation->size <= 8 ? relocation->size : 8);
}

static void initialise(const struct ptx_image *image)
{
    const struct ptx_module *module = image->module;

    for (uint32_t i = 0; i < module->variable_count; i++) {
        const struct ir_variable *variable = &module->ir->variables[module->variable_ir[i]];
        char *host = image->hosts[i];

        if (!host || module->variables[i].kind != PTX_VARIABLE_MEMORY)
            continue;
        if (variable->init)
            memcpy(host, variable->init, variable->init_size);
        for (uint32_t k = 0; k < variable->relocation_count; k++)
            relocate(image, &variable->relocations[k], host);
    }
}

static void image_free(struct ptx_image *image)
{
    free(image->constants);
    free(image->addresses);
    free(image->hosts);
    free(image->consts);
    free(image);
}

struct ptx_image *ptx_image_create(struct ptx_module *module, const uint64_t *addresses,
                                   char *const *hosts)
{
    struct ptx_image *image = calloc(1, sizeof *image);
    size_t count = module->variable_count;

    if (!image)
        return NULL;
    image->constants = aligned_alloc(64, ((size_t)module->pool_bytes + 127) & ~(size_t)63);
    image->addresses = calloc(count + 1, sizeof *image->addresses);
    image->hosts = calloc(count + 1, sizeof *image->hosts);
    image->consts = calloc(count + 1, sizeof *image->consts);
    if (!image->constants || !image->addresses || !image->hosts || !image->consts) {
        image_free(image);
        return NULL;
    }
    for (uint32_t i = 0; i < count; i++)
        if (module->variables[i].space == PTX_SPACE_CONST)
            image->consts[image->const_count++] = i;
    if (count) {
        memcpy(image->addresses, addresses, count * sizeof *addresses);
        memcpy(image->hosts, hosts, count * sizeof *hosts);
    }
    image->module = ptx_module_retain(module);
    fill_constants(image);
    initialise(image);
    return image;
}

void ptx_image_destroy(struct ptx_image *image)
{
    if (!image)
        return;
    ptx_module_release(image->module);
    image_free(image);
}
