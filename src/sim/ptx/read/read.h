/* SPDX-License-Identifier: MIT */
/* From text to instructions. */
#ifndef CUSHIM_SIM_PTX_READ_READ_H
#define CUSHIM_SIM_PTX_READ_READ_H

#include <string.h>

#include "ptx/ptx.h"
#include "ptx/read/ir.h"

struct parser;
struct reader;
struct reading;

/* --- arena.c --- */
void *arena_alloc(struct ir_arena *arena, size_t size); /* zeroed; NULL: no memory */
struct ir_arena *arena_create(void);
void arena_destroy(struct ir_arena *arena);

/* --- opcodes.c --- */
enum builtin_kind {
#define IR_BUILTIN(kind, ...) BUILTIN_##kind,
#include "ptx/read/builtins.def"
};
struct ptx_builtin {
    const char *name;
    enum builtin_kind kind;
    uint32_t arguments, returns;
    bool heap; /* it needs the context's heap */
};
const struct ptx_builtin *opcodes_builtin(const char *name); /* NULL: there is none */

/* --- form.c --- */
/* The next form that takes the modifiers; *at starts as NO_INDEX. `ignored`: bits of fields. */
const struct form_compiled *form_next(struct parser *parser, const struct reading *reading, int *at,
                                      uint64_t ignored);
bool form_find(const struct parser *parser, struct reading *reading); /* its first_form */
bool form_knows(struct parser *parser, const struct reading *reading, uint16_t modifier);
/* The reason of a form that the engine lacks and that takes the modifiers; NULL: none. */
const char *form_lacking(struct parser *parser, const struct reading *reading);
bool form_table_is_sound(struct reader *reader);
bool form_dictionary(struct reader *reader);
uint16_t form_modifier_find(const struct reader *reader, const char *text, uint32_t length);
const struct modifier *form_modifier(uint16_t index);

/* --- lex.c --- PTX text to tokens. Nothing is copied: a token points into the text. */
enum token_kind {
    TOKEN_END,
    TOKEN_NAME,   /* add, %r1, $L__BB0_1, _ */
    TOKEN_WORD,   /* .reg, .shared::cta, .2d; text is without the dot */
    TOKEN_INT,    /* value */
    TOKEN_F32,    /* 0f3f800000; value: 32 bits */
    TOKEN_F64,    /* 0d..., 1.5; value: 64 bits */
    TOKEN_STRING, /* text is without the quotes */
    TOKEN_PUNCT,  /* value: the character, or first * 256 + second of << >> <= >= == != && || */
    TOKEN_BAD,
};

struct token {
    uint8_t kind;
    bool is_unsigned; /* of TOKEN_INT: 5U, or too large for a signed one */
    bool overflow;    /* of TOKEN_INT: does not fit into 64 bits */
    uint32_t line;
    uint32_t length;
    const char *text;
    uint64_t value;
};

struct lexer {
    const char *at, *end;
    uint32_t line;
};

void lex_start(struct lexer *lexer, const char *text, size_t size);
void lex_next(struct lexer *lexer, struct token *token);

/* --- link.c --- */
void link_sources(struct reader *reader);

/* --- parse.c --- What the files of the reader share. One `reader` per module; one `parser` per
 * source. */
enum {
    MAX_NESTING = 100, /* of expressions, scopes and initialisers */
    MAX_PARTS = 128,   /* of a vector */
    MAX_GROUP = 8,     /* of operands in brackets */
    NO_INDEX = -1,
};
#define MAX_VARIABLE_BYTES (UINT64_C(1) << 40)
#define MAX_INIT_BYTES (UINT64_C(1) << 28) /* of all variables of a module */

/* --- Memory --- */

/* An array that grows; zero it to begin. */
struct list {
    void *data;
    uint32_t count, capacity;
};

/* --- Names --- */
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

/* --- Modifiers and forms of instructions --- */
enum { MODIFIER_WORDS = 8, MAX_MODIFIERS = 24, MAX_GROUPS = 20, MAX_SPECS = IR_MAX_OPERANDS };
struct modifier { /* one line of opcodes_modifiers.def */
    const char *text;
    uint8_t field; /* enum modifier_field */
    uint8_t value;
    uint16_t version, target;
};
struct spec { /* one operand of a form */
    char role;
    bool joined, optional, relaxed;
    uint8_t type;  /* enum ir_type, or SPEC_TYPE0 + n, or SPEC_WIDE */
    uint8_t count; /* registers of a fragment */
};
enum { SPEC_TYPE0 = 100, SPEC_WIDE = 110 };
struct form_group {
    uint64_t bits[MODIFIER_WORDS];
    bool optional, is_type, any;
};
struct form;          /* one line of opcodes_forms.def */
struct form_compiled; /* ready for use */
struct dictionary;    /* modifiers and mnemonics by text */

/* One instruction while it is read. */
struct reading {
    struct name mnemonic;
    int first_form; /* of the mnemonic */
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
    struct list files;                          /* struct ir_file */
    struct list aliases;
    struct list inputs;    /* char *, a linker's names of the sources; of parse_module_add */
    uint64_t init_bytes;   /* of initial values */
    uint32_t source_count; /* of parse_module_add */
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
    bool texmode_independent;
    bool fatal; /* a syntax error: the rest of this source is not read */
    /* The function that is read now. */
    const char *lacks;                 /* why it cannot run; NULL: it can */
    uint32_t used_bytes;               /* by a pragma, of the next instruction */
    uint32_t source_line, source_file; /* by .loc */
    uint32_t first_file;               /* of this source, in the reader's */
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

/* --- Errors and small steps --- Those that report are always false. --- */
void *parse_alloc(struct parser *parser, size_t size);
char *parse_copy(struct parser *parser, struct name name);
/* Room for one more; NULL: no memory. The new element is zero. */
void *parse_list_add(struct reader *reader, struct list *list, size_t size);
void *parse_move(struct reader *reader, struct list *list, size_t size);
bool parse_no_memory(struct reader *reader);
bool parse_error(struct parser *parser, uint32_t line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Report what is wrong with an instruction, whose name the format takes. */
bool parse_refuse(struct parser *parser, const struct reading *reading, const char *format);
bool parse_unknown(struct parser *parser, uint32_t line, struct name name); /* a symbol */
void parse_unsupported(struct parser *parser, uint32_t line, const char *message);
/* The function that is read now cannot run; the first reason is kept, and all else goes on. */
void parse_lacking(struct parser *parser, uint32_t line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
bool parse_syntax(struct parser *parser); /* at the current token */
void parse_next(struct parser *parser);
static inline bool parse_is(const struct parser *parser, unsigned punctuation)
{
    return parser->token.kind == TOKEN_PUNCT && parser->token.value == punctuation;
}
bool parse_is_word(const struct parser *parser, const char *word);
bool parse_accept(struct parser *parser, unsigned punctuation);
bool parse_accept_word(struct parser *parser, const char *word);
bool parse_expect(struct parser *parser, unsigned punctuation);
bool parse_name(struct parser *parser, struct name *name);
bool parse_integer(struct parser *parser, uint64_t *value); /* a literal */
bool parse_limited(struct parser *parser, const char *what, uint64_t most, uint32_t *value);
static inline bool parse_name_is(struct name name, const char *text)
{
    return strlen(text) == name.length && memcmp(name.text, text, name.length) == 0;
}
static inline uint32_t parse_hash(const char *text, uint32_t length)
{
    uint32_t hash = UINT32_C(2166136261);

    for (uint32_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)text[i]) * UINT32_C(16777619);
    return hash ^ hash >> 15;
}

/* --- Expressions --- */
enum literal { LITERAL_INT, LITERAL_UNSIGNED, LITERAL_F32, LITERAL_F64 };
struct value {
    enum literal kind;
    uint64_t bits;
    bool failed; /* reported */
};

/* --- Declarations --- */
struct declaration {
    uint8_t space, type, vector, linkage;
    bool managed, parameter;
    uint32_t align;
    uint32_t line;
};

/* --- Checks --- */
enum { MODIFIER_UNKNOWN = 0 };

/* --- parse_debug.c --- */
void parse_debug(struct parser *parser); /* .file .loc .section .pragma; at the word */
bool parse_debug_is(const struct parser *parser);

/* --- parse_expr.c --- */
bool parse_expr_constant(struct parser *parser, struct value *value);
/* An integer between the limits of size_t-like uses; reports what is not one. */
bool parse_expr_size(struct parser *parser, uint64_t *value);
bool parse_expr_offset(struct parser *parser, uint64_t *bits); /* an integer of either sign */

/* --- parse_function.c --- */
void parse_function(struct parser *parser, uint8_t linkage, bool entry);
bool parse_function_same(const struct ir_function *left, const struct ir_function *right);

/* --- parse_initializer.c --- */
void parse_initializer(struct parser *parser, struct ir_variable *variable, const uint64_t *dims,
                       uint32_t dim_count, bool open);
void parse_initializer_reference(struct parser *parser);

/* --- parse_insn.c --- */
void parse_insn(struct parser *parser);
void parse_insn_pending(struct parser *parser, uint32_t from);
struct pending *parse_insn_pending_add(struct parser *parser, struct name name, uint32_t line);

/* --- parse_module.c --- */
/* A module of sources. NULL: *status and the error log say why. */
struct ir_module *parse_module_read(const struct ptx_options *options,
                                    const struct ptx_source *sources, size_t count,
                                    struct ptx_text *errors, struct ptx_text *info,
                                    enum ptx_status *status);
void parse_module_free(struct ir_module *module);
/* The same in steps, for sources that come one by one. `options` stay the caller's until the end.
 * NULL: no memory. After a failure nothing may follow but parse_module_cancel. */
struct reader *parse_module_open(const struct ptx_options *options);
enum ptx_status parse_module_add(struct reader *reader, const struct ptx_source *source,
                                 struct ptx_text *errors, struct ptx_text *info);
struct ir_module *parse_module_close(struct reader *reader, struct ptx_text *errors,
                                     struct ptx_text *info, enum ptx_status *status);
void parse_module_cancel(struct reader *reader);
size_t parse_module_count(void); /* sources read in this process */

/* --- parse_operand.c --- */
bool parse_operand_list(struct parser *parser, struct reading *reading, bool label);
bool parse_operand(struct parser *parser, struct ir_operand *operand, bool label);
/* An unknown name waits in an operand of kind LABEL until its form is known. */
struct name parse_operand_name(const struct ir_operand *operand);
/* Compute the addresses of elements by a register, in front of an instruction that is checked. */
void parse_operand_compute(struct parser *parser, struct ir_insn *insn);

/* --- parse_parameter.c --- */
/* (.param .b32 a, ...), at the parenthesis. */
void parse_parameter_list(struct parser *parser, struct ir_parameter **parameters, uint32_t *count,
                          bool *variadic);
/* The names become symbols, once the function's own is one. */
void parse_parameter_declare(struct parser *parser, struct ir_parameter *parameters, uint32_t count,
                             bool result);

/* --- parse_variable.c --- */
/* .align 8 .v2 .f32, and of a parameter .ptr; false: reported. */
bool parse_variable_words(struct parser *parser, struct declaration *declaration);
void parse_variable_check_param(struct parser *parser, uint32_t line, const char *name,
                                uint32_t align);
/* [2][3] behind a name; *size starts as one element's. */
bool parse_variable_dimensions(struct parser *parser, uint64_t element, uint64_t *size, bool *open);
void parse_variable_attribute(struct parser *parser, bool *managed);
void parse_variable(struct parser *parser, unsigned spaces, uint8_t linkage);
void parse_variable_registers(struct parser *parser);

/* --- symbol.c --- */
bool symbol_start(struct parser *parser);
void symbol_stop(struct parser *parser);
/* NULL: no memory, or the scope has one of that name (an error is reported). */
struct symbol *symbol_add(struct parser *parser, struct name name, enum symbol_kind kind,
                          uint32_t index);
struct symbol *symbol_find(struct parser *parser, struct name name);
struct symbol *symbol_find_label(struct parser *parser, struct name name);
struct symbol *symbol_find_module(struct parser *parser, struct name name);
void symbol_leave(struct parser *parser, unsigned depth); /* forget what is deeper or as deep */
/* Register `number` of a range, made on first use; UINT32_MAX: no memory. */
unsigned symbol_special_parts(uint32_t special); /* 4: .x to .w; else 1 */
uint32_t symbol_register_add(struct parser *parser, struct name name, uint8_t type, uint8_t vector);

#endif
