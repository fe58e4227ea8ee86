/* SPDX-License-Identifier: MIT */
/* What the files of the reader share. One `reader` per ir_read; one `parser` per source. */
#ifndef CUSHIM_SIM_PTX_PARSE_H
#define CUSHIM_SIM_PTX_PARSE_H

#include "ir.h"
#include "lex.h"

enum {
    MAX_NESTING = 100, /* of expressions, scopes and initialisers */
    MAX_PARTS = 8,     /* of a vector */
    NO_INDEX = -1,
};
#define MAX_VARIABLE_BYTES (UINT64_C(1) << 40)
#define MAX_INIT_BYTES (UINT64_C(1) << 28) /* of all variables of a module */

/* --- Memory (arena.c) --- */
struct ir_arena *ir_arena_create(void);
void ir_arena_destroy(struct ir_arena *arena);

/* An array that grows; zero it to begin. */
struct list {
    void *data;
    uint32_t count, capacity;
};

/* --- Names (parse_symbol.c) --- */
enum symbol_kind {
    SYMBOL_REGISTER, /* index: function->registers */
    SYMBOL_RANGE,    /* %r<n>: index: of the range, count: n; `type` and `vector` */
    SYMBOL_SPECIAL,  /* index: enum ir_special; count: its number (%pm3), type, vector */
    SYMBOL_LOCAL,
    SYMBOL_PARAM,
    SYMBOL_RETURN,
    SYMBOL_VARIABLE,
    SYMBOL_FUNCTION,
    SYMBOL_TABLE,
    SYMBOL_LABEL,
};
struct name {
    const char *text;
    uint32_t length;
};
struct symbol {
    struct symbol *chain;    /* same bucket, newer first */
    struct symbol *previous; /* in order of definition */
    struct name name;
    uint32_t hash;
    uint8_t kind, type, vector;
    uint16_t depth;
    uint32_t index, count;
};
struct symbols {
    struct symbol **buckets;
    uint32_t bucket_count; /* a power of two */
    uint32_t count;
    struct symbol *newest;
    struct symbol *spare;
};

/* --- Modifiers and forms of instructions (check_form.c) --- */
enum { MODIFIER_WORDS = 5, MAX_MODIFIERS = 24, MAX_GROUPS = 20, MAX_SPECS = 8 };
struct modifier { /* one line of opcodes_modifiers.def */
    const char *text;
    uint8_t field; /* enum modifier_field */
    uint8_t value;
    uint16_t version, target;
};
struct spec { /* one operand of a form */
    char role;
    bool joined, optional, relaxed;
    uint8_t type; /* enum ir_type, or SPEC_TYPE0 + n, or SPEC_WIDE */
};
enum { SPEC_TYPE0 = 100, SPEC_WIDE = 110, SPEC_ANY_ADDRESS = 111 };
struct group {
    uint64_t bits[MODIFIER_WORDS];
    bool optional, is_type, any;
};
struct form;          /* one line of opcodes_forms.def */
struct form_compiled; /* ready for use */
struct dictionary;    /* modifiers and mnemonics by text */

/* One instruction while it is read. */
struct reading {
    struct name mnemonic;
    uint32_t line;
    uint16_t modifiers[MAX_MODIFIERS]; /* index in the table of modifiers */
    struct name words[MAX_MODIFIERS];
    uint32_t modifier_count;
    struct ir_operand operands[IR_MAX_OPERANDS + 1];
    bool joined[IR_MAX_OPERANDS + 1]; /* stands behind a | */
    uint32_t operand_count;
    bool guarded, guard_negate;
    uint32_t guard;
};

/* --- State --- */
struct link_entry { /* beside module->variables and ->functions */
    uint32_t source;
    bool used;
};
struct alias {
    uint32_t from, to; /* functions */
};
struct reader {
    const struct ptx_options *options;
    struct ptx_text *errors, *info;
    struct ir_module *module;
    struct ir_arena *scratch; /* freed when the module is read */
    struct dictionary *dictionary;
    struct list variables, functions;           /* struct ir_variable, struct ir_function */
    struct list variable_links, function_links; /* struct link_entry */
    struct list aliases;
    uint64_t init_bytes; /* of initial values */
    unsigned error_count, unsupported_count;
    bool no_memory, stop, failed;
    enum ptx_status status;
};

struct pending { /* a label or table that is used before it is defined */
    struct name name;
    uint32_t line;
    uint32_t insn, operand; /* insn UINT32_MAX: entry `operand` of table `table` */
    uint32_t table;
};

struct parser {
    struct reader *reader;
    struct ir_arena *arena; /* of the module */
    const char *file;
    uint32_t source;
    struct lexer lexer;
    struct token token;
    struct symbols symbols;
    struct symbol found; /* symbol_find's answer for a register of a range */
    unsigned depth;      /* of scopes; 0: module */
    unsigned nesting;
    unsigned version, target, address_size;
    char target_suffix; /* sm_90a or sm_100f; NUL: none */
    bool fatal;         /* a syntax error: the rest of this source is not read */
    /* The function that is read now. */
    const char *lacks;   /* why it cannot run; NULL: it can */
    uint32_t used_bytes; /* by a pragma, of the next instruction */
    struct list registers, locals, insns, tables, pending;
    uint64_t *numbers; /* registers of ranges by range and number: open addressing */
    uint32_t number_count, number_capacity;
    uint32_t range_count;
    uint32_t last_label;    /* index that the newest label names */
    struct list arguments;  /* of a call */
    struct list parameters; /* of a function */
    struct list relocations;
    struct list indices; /* of a table */
};

/* --- Errors and small steps (parse.c) --- */
void *parse_alloc(struct parser *parser, size_t size);
char *parse_copy(struct parser *parser, struct name name);
/* Room for one more; NULL: no memory. The new element is zero. */
void *list_add(struct reader *reader, struct list *list, size_t size);
void *parse_move(struct parser *parser, struct list *list, size_t size);
void parse_no_memory(struct reader *reader);
void parse_error(struct parser *parser, uint32_t line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void parse_unsupported(struct parser *parser, uint32_t line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The function that is read now cannot run; the first reason is kept, and all else goes on. */
void parse_lacking(struct parser *parser, uint32_t line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void parse_syntax(struct parser *parser); /* at the current token */
void parse_next(struct parser *parser);
bool parse_is(const struct parser *parser, unsigned punctuation);
bool parse_is_word(const struct parser *parser, const char *word);
bool parse_accept(struct parser *parser, unsigned punctuation);
bool parse_accept_word(struct parser *parser, const char *word);
bool parse_expect(struct parser *parser, unsigned punctuation);
bool parse_name(struct parser *parser, struct name *name);
bool parse_integer(struct parser *parser, uint64_t *value); /* a literal */
bool parse_limited(struct parser *parser, const char *what, uint64_t most, uint32_t *value);
bool name_is(struct name name, const char *text);
#define PAIR(first, second) ((unsigned)(first) << 8 | (unsigned)(second))

/* --- Names (parse_symbol.c) --- */
bool symbols_start(struct parser *parser);
void symbols_stop(struct parser *parser);
/* NULL: no memory, or the scope has one of that name (an error is reported). */
struct symbol *symbol_add(struct parser *parser, struct name name, enum symbol_kind kind,
                          uint32_t index);
struct symbol *symbol_find(struct parser *parser, struct name name);
struct symbol *symbol_find_label(struct parser *parser, struct name name);
struct symbol *symbol_find_module(struct parser *parser, struct name name);
void symbols_leave(struct parser *parser, unsigned depth); /* forget what is deeper or as deep */
/* Register `number` of a range, made on first use; UINT32_MAX: no memory. */
uint32_t range_register(struct parser *parser, const struct symbol *range, uint32_t number,
                        struct name name);
uint32_t register_add(struct parser *parser, struct name name, uint8_t type, uint8_t vector);

/* --- Expressions (parse_expr.c) --- */
enum literal { LITERAL_INT, LITERAL_UNSIGNED, LITERAL_F32, LITERAL_F64 };
struct value {
    enum literal kind;
    uint64_t bits;
};
bool parse_constant(struct parser *parser, struct value *value);
/* An integer between the limits of size_t-like uses; reports what is not one. */
bool parse_size(struct parser *parser, uint64_t *value);

/* --- Declarations (parse_variable.c, parse_function.c) --- */
bool parse_type(struct parser *parser, uint8_t *type); /* accept a type, if there is one */
bool parse_vector_word(struct parser *parser, uint8_t *vector);
bool parse_align(struct parser *parser, uint32_t *align);
bool parse_array_size(struct parser *parser, const uint64_t *dims, uint32_t count, uint64_t element,
                      uint64_t *size);
/* [2][3] behind a name; *size starts as one element's. */
bool parse_dimensions(struct parser *parser, uint64_t element, uint64_t *size, bool *open);
struct declaration {
    uint8_t space, type, vector, linkage;
    bool managed;
    uint32_t align;
    uint32_t line;
};
void parse_attribute(struct parser *parser, bool *managed);
void parse_variable(struct parser *parser, uint8_t space, uint8_t linkage);
void parse_registers(struct parser *parser);
void parse_initializer(struct parser *parser, struct ir_variable *variable, const uint64_t *dims,
                       uint32_t dim_count, bool open);
void parse_reference_initializer(struct parser *parser);
void parse_function(struct parser *parser, uint8_t linkage, bool entry);
void parse_body(struct parser *parser); /* behind the opening brace, to the closing one */
/* (.param .b32 a, ...), at the parenthesis. */
void parse_parameters(struct parser *parser, struct ir_parameter **parameters, uint32_t *count,
                      bool *variadic);
bool same_signature(const struct ir_function *left, const struct ir_function *right);
void parse_alias(struct parser *parser);
void parse_debug(struct parser *parser); /* .file .loc .section .pragma; at the word */
bool parse_is_debug(const struct parser *parser);
void parse_source(struct parser *parser);

/* --- Instructions (parse_insn.c, parse_operand.c) --- */
void parse_insn(struct parser *parser);
bool parse_operands(struct parser *parser, struct reading *reading, bool label);
bool parse_operand(struct parser *parser, struct ir_operand *operand, bool label);
/* An unknown name waits in an operand of kind LABEL until its form is known. */
struct name operand_name(const struct ir_operand *operand);
void parse_pending(struct parser *parser, uint32_t from);
struct pending *pending_add(struct parser *parser, struct name name, uint32_t line);

/* --- Checks (check_form.c, check_insn.c, check_operand.c) --- */
bool dictionary_create(struct reader *reader);
uint16_t modifier_find(const struct reader *reader, const char *text, uint32_t length);
enum { MODIFIER_UNKNOWN = 0 };
const struct modifier *modifier_get(uint16_t index);
/* Turn what was read into an instruction; false: reported. */
bool check_insn(struct parser *parser, struct reading *reading, struct ir_insn *insn);
bool check_known(struct parser *parser, const struct reading *reading);
/* The reason why an instruction is not run by the engine; NULL: it is. */
const char *check_unsupported(struct parser *parser, const struct reading *reading);
bool check_operand(struct parser *parser, const struct ir_insn *insn, const struct spec *spec,
                   struct ir_operand *operand, bool fix);
bool check_semantics(struct parser *parser, const struct reading *reading, struct ir_insn *insn);
uint8_t spec_type(const struct ir_insn *insn, const struct spec *spec);

/* --- After all sources (link.c) --- */
void link_sources(struct reader *reader);

#endif
