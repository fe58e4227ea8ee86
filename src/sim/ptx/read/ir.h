/* SPDX-License-Identifier: MIT */
/* A PTX module as the reader leaves it and the compiler takes it: names resolved, types checked,
 * nothing lowered. Everything lives in the module's arena. */
#ifndef CUSHIM_SIM_PTX_READ_IR_H
#define CUSHIM_SIM_PTX_READ_IR_H

#include <stdbool.h>
#include <stdint.h>

enum ir_type {
#define IR_TYPE(name, word, bits, kind, is_signed) IR_##name,
#include "ptx/read/opcodes_types.def"
    IR_TYPE_COUNT
};

/* One enumerator per instruction of the ISA that the engine runs: IR_ADD, IR_LD, IR_BRA, ... */
enum ir_op {
#define IR_OP(name, text) IR_##name,
#include "ptx/read/opcodes.def"
    IR_OP_COUNT
};

enum ir_rounding {
    IR_ROUND_NONE,
#define ROUND(text, name, version, target) IR_##name,
#include "ptx/read/opcodes_modifiers.def"
};
enum ir_half { IR_HALF_NONE, IR_LO, IR_HI, IR_WIDE };
enum ir_compare {
    IR_CMP_NONE,
#define COMPARE(text, name, version, target) IR_##name,
#include "ptx/read/opcodes_modifiers.def"
};
enum ir_atomic {
    IR_ATOM_NONE,
#define ATOM(text, name, version, target) IR_ATOM_##name,
#include "ptx/read/opcodes_modifiers.def"
};
enum ir_order {
#define ORDER(text, name, version, target) IR_ORDER_##name,
#include "ptx/read/opcodes_modifiers.def"
};
enum ir_scope { IR_SCOPE_NONE, IR_SCOPE_CTA, IR_SCOPE_CLUSTER, IR_SCOPE_GPU, IR_SCOPE_SYS };
/* What is particular to one instruction: shfl, vote, prmt, shf, testp, bar, tex geometry, ... */
enum ir_mode {
    IR_MODE_NONE,
    IR_VOTE_UNI,
    IR_MATCH_ANY,
    IR_MATCH_ALL,
    IR_SHF_L_WRAP,
    IR_SHF_R_WRAP,
    IR_BAR_SYNC,
    IR_BAR_CLUSTER_ARRIVE,
    IR_CLAMP_SURF,
    IR_MB_ARRIVE,
#define MODE(text, name, version, target) IR_##name,
#define MODE2(text, name, version, target) IR_##name,
#include "ptx/read/opcodes_modifiers.def"
    IR_BAR_RED_AND,
    IR_BAR_RED_OR
};
enum ir_geometry {
    IR_GEOM_NONE,
#define GEOM(text, name, version, target) IR_##name,
#include "ptx/read/opcodes_modifiers.def"
};
/* Of matrices: see opcodes_shapes.def. */
enum ir_shape {
    IR_SHAPE_NONE,
#define IR_SHAPE(m, n, k) IR_M##m##N##n##K##k,
#include "ptx/read/opcodes_shapes.def"
};
/* The level that tex names, as the number of its operands. */
enum ir_level { IR_LEVEL_NONE, IR_LEVEL, IR_GRADIENTS };
enum ir_special {
#define IR_SPECIAL(special, name, type, vector, count) IR_##special,
#include "ptx/read/opcodes_specials.def"
    IR_WARP_SZ,
};

enum ir_operand_kind {
    IR_OPERAND_NONE,
    IR_OPERAND_SINK,     /* _ */
    IR_OPERAND_REG,      /* index: function->registers; negate for !p of a predicate */
    IR_OPERAND_IMM,      /* bits: the value in the instruction's own type (f32: its 32 bits, ...) */
    IR_OPERAND_SPECIAL,  /* index: enum ir_special, component: 0 x, 1 y, 2 z; or the number */
    IR_OPERAND_VARIABLE, /* index: module->variables; address of it, plus offset */
    IR_OPERAND_LOCAL,    /* index: function->variables (.local .shared .param), plus offset */
    IR_OPERAND_PARAM,    /* index: function->params, plus offset */
    IR_OPERAND_RETURN,   /* index: function->returns, plus offset */
    IR_OPERAND_FUNCTION, /* index: module->functions; its address, or the callee */
    IR_OPERAND_LABEL,    /* index: instruction of this function */
    IR_OPERAND_TABLE,   /* index: function->tables (.branchtargets, .calltargets, .callprototype) */
    IR_OPERAND_VECTOR,  /* parts[0..count): {a, b, c, d} */
    IR_OPERAND_ADDRESS, /* [parts[0] + offset]; parts[0]: REG, IMM, VARIABLE, LOCAL, PARAM, RETURN
                         */
    IR_OPERAND_GROUP,   /* [a, b, ...] of tex and suld, (a, b) of call: parts */
};
struct ir_operand {
    uint8_t kind;
    uint8_t negate;    /* !p; -a of immediates is folded */
    uint8_t component; /* of a vector register or special register; also .b0-.b3 .h0 .h1 of video */
    uint8_t count;     /* of parts */
    uint32_t index;
    int64_t offset;
    uint64_t bits;
    struct ir_operand *parts;
};

/* operand.component of video instructions (vadd, ...): .b0 .. .b3, .h0, .h1; of the SIMD ones a
 * selection or a write mask in operand.offset: four bits per part from the lowest (.b7210: 0x7210;
 * .h10: 0x10), or one bit per written part. 0..3 are .x .y .z .w of a vector or special register.
 */
enum ir_component {
    IR_COMPONENT_B0 = 8,
    IR_COMPONENT_B1,
    IR_COMPONENT_B2,
    IR_COMPONENT_B3,
    IR_COMPONENT_H0,
    IR_COMPONENT_H1,
    IR_COMPONENT_SELECT,
    IR_COMPONENT_MASK,
};

/* Operands are in the order written, with these conventions:
 * - call: GROUP of return values (may be empty), callee (FUNCTION or REG), GROUP of arguments (may
 *   be empty), and of an indirect call the TABLE. A part is a REG, an IMM or a LOCAL .param
 * variable.
 * - tex, tld4: d, (d|p: the predicate), GROUP [texture, (sampler), coordinates], then what follows.
 *   suld, sust, sured: GROUP [surface, coordinates]. txq, suq: ADDRESS.
 *   Coordinates are a VECTOR, or a REG or IMM where one suffices.
 * - A vector register used as a whole becomes a VECTOR of its components.
 * - A cache policy (.L2::cache_hint) is checked and left out.
 * - A body's last instruction is always one that does not fall through: a ret is added if needed.
 */
#define IR_MAX_OPERANDS 10 /* of wgmma.mma_async.sp */
struct ir_insn {
    uint16_t op;      /* enum ir_op */
    uint8_t types[4]; /* enum ir_type, in the order written; cvt: [0] destination, [1] source */
    uint8_t type_count;
    uint8_t vector; /* 1, 2, 4, 8: .v2 .v4 .v8 */
    uint8_t rounding, half, compare, atomic, order, scope, mode, geometry;
    uint8_t boolean;       /* enum ir_atomic: what combines a predicate with another */
    uint8_t mode2;         /* changes what the mode says: check_mode.c */
    uint8_t space, space2; /* enum ptx_space; space2: source of cp.async */
    bool to;               /* cvta.to */
    bool saturate, ftz, approx, full, cc, relu, uniform, sync, array, noftz, nan, xorsign, abs,
        aligned, satfinite, parity, noinc, po, cluster, im2col, sparse;
    uint8_t level;     /* enum ir_level, of tex */
    uint8_t component; /* of tld4: 0 to 3; of wmma.load: 0 a, 1 b, 2 c */
    uint8_t shape;     /* enum ir_shape */
    uint8_t columns;   /* bit 0: .col or .trans, of the last layout named; bit 1: of the one before
                        */
    /* parity: mbarrier.*_wait.parity; noinc: cp.async.mbarrier.arrive.noinc; po: vmad.po; cluster:
     * the space is .shared::cluster; im2col: of cp.async.bulk.tensor; sparse: of mma and wgmma;
     * expect_tx: mbarrier.arrive.expect_tx */
    bool expect_tx;
    bool formatted; /* sust.p, sured.p */
    bool guarded, guard_negate;
    uint32_t guard;       /* register index of the predicate */
    uint8_t count;        /* of operands; destinations first, exactly in the order written; `d|p`
                             is two operands */
    uint8_t destinations; /* how many of them are written */
    struct ir_operand operands[IR_MAX_OPERANDS];
    uint32_t line;        /* of the PTX text */
    uint32_t source_line; /* of the newest .loc; 0: none */
    uint32_t source_file; /* module->files */
    uint32_t used_bytes;  /* of a load: a bit for each byte that counts; 0: all */
};

struct ir_register {
    const char *name; /* "%r12" */
    uint8_t type;
    uint8_t vector; /* 1, 2, 4 */
};

struct ir_relocation { /* an initial value that is an address */
    uint64_t offset;
    uint32_t index; /* module->variables or module->functions */
    bool function;
    bool generic;  /* generic(symbol) */
    uint8_t size;  /* bytes: 4 or 8, or 1 with mask */
    uint8_t shift; /* 0xFF(symbol) style masks: bits shifted right, then truncated to size */
    int64_t addend;
};

enum ir_linkage { IR_STATIC, IR_EXTERN, IR_VISIBLE, IR_WEAK, IR_COMMON };

struct ir_variable { /* module scope, or .local .shared .param in a function */
    const char *name;
    uint8_t space, type, vector, linkage;
    bool managed, unsized; /* unsized: extern .shared a[] (dynamic shared memory) */
    uint32_t align;
    uint64_t size;       /* bytes */
    const uint8_t *init; /* the first init_size bytes; the rest is zero */
    uint64_t init_size;
    struct ir_relocation *relocations;
    uint32_t relocation_count;
    uint32_t line;
};

static inline bool ir_is_reference(const struct ir_variable *variable)
{
    return variable->type >= IR_TEXREF;
}

struct ir_parameter { /* of a function: entry parameter, argument or return value */
    const char *name;
    uint8_t type; /* element type */
    bool reg;     /* declared .reg (an ABI-less function); then `index` is its register */
    uint32_t index;
    uint32_t size, align, offset; /* bytes; offset in the packed buffer */
};

struct ir_table {      /* .branchtargets, .calltargets, .callprototype */
    uint32_t *indices; /* instructions, or functions */
    uint32_t count;
    bool prototype; /* .callprototype: params and returns */
    bool functions; /* .calltargets: indices are of functions */
    struct ir_parameter *params, *returns;
    uint32_t param_count, return_count;
};

struct ir_function {
    const char *name;
    bool entry, body, noreturn, variadic;
    uint8_t linkage;
    struct ir_parameter *params, *returns;
    uint32_t param_count, return_count;
    struct ir_register *registers;
    uint32_t register_count;
    struct ir_variable *variables;
    uint32_t variable_count;
    struct ir_insn *insns;
    uint32_t insn_count;
    struct ir_table *tables;
    uint32_t table_count;
    uint32_t maxntid[3], reqntid[3], minnctapersm, maxnreg, cluster[3], max_cluster;
    uint32_t line;
    const char *lacks; /* why it cannot run: its body is a trap then. NULL: it can */
};

struct ir_file { /* that .loc names */
    uint32_t source, number;
    const char *name; /* NULL: no .file has it */
};

struct ir_module {
    struct ir_arena *arena;
    unsigned version, target; /* 804, 90 */
    unsigned address_size;
    struct ir_variable *variables;
    uint32_t variable_count;
    struct ir_function *functions;
    uint32_t function_count;
    struct ir_file *files;
    uint32_t file_count;
};

/* --- opcodes.c --- */
enum type_class {
    CLASS_BITS,
    CLASS_INTEGER,
    CLASS_PAIR, /* of integers, in a register of bits */
    CLASS_FLOAT,
    CLASS_PREDICATE,
    CLASS_OTHER
};

struct opcodes_type {
    const char *word; /* of declarations; NULL: a register or variable has no such type */
    unsigned bits;    /* predicates 8 */
    uint8_t kind;     /* enum type_class */
    bool is_signed;
};

extern const struct opcodes_type opcodes_types[IR_TYPE_COUNT];

static inline unsigned opcodes_type_size(unsigned type) /* bytes */
{
    return (opcodes_types[type].bits + 7U) / 8;
}

static inline enum type_class opcodes_class(unsigned type)
{
    return (enum type_class)opcodes_types[type].kind;
}

unsigned opcodes_rank(enum ir_geometry geometry); /* dimensions of a tensor; 0: of none */
extern const char *const opcodes_text[];          /* "add" */

#endif
