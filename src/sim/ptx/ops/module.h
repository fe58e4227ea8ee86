/* SPDX-License-Identifier: MIT */
/* A module, compiled, and its image on a device. */
#ifndef CUSHIM_SIM_PTX_OPS_MODULE_H
#define CUSHIM_SIM_PTX_OPS_MODULE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct ir_module;
struct ir_variable;
struct ptx_code;
struct ptx_variable;

enum pool_kind { POOL_IMMEDIATE, POOL_VARIABLE, POOL_FUNCTION };
struct pool_entry {
    uint8_t kind;   /* enum pool_kind */
    uint8_t place;  /* PLACE_32, PLACE_64, PLACE_128, PLACE_FORM */
    uint32_t index; /* variable or function of the IR */
    uint32_t offset;
    uint64_t low, high; /* the value, or what is added to the address */
};

struct shared_variable {
    const struct ir_variable *ir;
};

struct ptx_module {
    _Atomic unsigned references;
    struct ir_module *ir;
    struct ptx_code *codes;
    uint32_t code_count;
    uint32_t *code_of; /* by function of the IR; UINT32_MAX: no body */
    struct ptx_variable *variables;
    uint32_t variable_count;
    uint32_t *variable_ir; /* IR index of each public variable */
    uint32_t *variable_of; /* public index of each IR variable; UINT32_MAX: shared */
    uint32_t *shared_of;   /* shared number of each IR variable; UINT32_MAX: not shared */
    struct shared_variable *shared;
    uint32_t shared_count;
    struct pool_entry *pool;
    uint32_t pool_count, pool_capacity;
    uint32_t pool_bytes;
    uint32_t *pool_hash;
    uint32_t pool_hash_size;
    bool dynamic_stack, reserved_shared, uses_heap;
    void **blocks; /* memory that lives as long as the module */
    uint32_t block_count, block_capacity;
};

struct ptx_image {
    struct ptx_module *module;
    uint32_t const_count; /* variables in constant memory, which isspacep.const knows */
    uint32_t *consts;
    char *constants;
    uint64_t *addresses; /* by public variable */
    char **hosts;
};

#endif
