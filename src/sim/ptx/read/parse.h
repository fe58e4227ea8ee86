/* SPDX-License-Identifier: MIT */
/* What the files of the reader share. One `reader` per module; one `parser` per source. */
#ifndef CUSHIM_SIM_PTX_READ_PARSE_H
#define CUSHIM_SIM_PTX_READ_PARSE_H

#include <string.h>

#include "ptx/ptx.h"
#include "ptx/read/ir.h"
#include "ptx/read/lex.h"

struct dictionary;
struct form;
struct form_compiled;
struct ir_arena;

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
    struct list inputs;    /* char *, a linker's names of the sources; of parse_add */
    uint64_t init_bytes;   /* of initial values */
    uint32_t source_count; /* of parse_add */
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

/* --- Errors and small steps --- */
void *parse_alloc(struct parser *parser, size_t size);
char *parse_copy(struct parser *parser, struct name name);
/* Room for one more; NULL: no memory. The new element is zero. */
void *parse_list_add(struct reader *reader, struct list *list, size_t size);
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
#define PAIR(first, second) ((unsigned)(first) << 8 | (unsigned)(second))

/* --- Expressions --- */
enum literal { LITERAL_INT, LITERAL_UNSIGNED, LITERAL_F32, LITERAL_F64 };
struct value {
    enum literal kind;
    uint64_t bits;
};

/* --- Declarations --- */
struct declaration {
    uint8_t space, type, vector, linkage;
    bool managed;
    uint32_t align;
    uint32_t line;
};

/* --- Checks --- */
enum { MODIFIER_UNKNOWN = 0 };

/* --- After all sources --- */
/* Reader (lex.c, parse*.c, check*.c, link.c). NULL: *status and the error log say why. */
struct ir_module *parse_read(const struct ptx_options *options, const struct ptx_source *sources,
                             size_t count, struct ptx_text *errors, struct ptx_text *info,
                             enum ptx_status *status);
void parse_free(struct ir_module *module);
/* The same in steps, for sources that come one by one. `options` stay the caller's until the end.
 * NULL: no memory. After a failure nothing may follow but parse_cancel. */
struct reader *parse_open(const struct ptx_options *options);
enum ptx_status parse_add(struct reader *reader, const struct ptx_source *source,
                          struct ptx_text *errors, struct ptx_text *info);
struct ir_module *parse_close(struct reader *reader, struct ptx_text *errors, struct ptx_text *info,
                              enum ptx_status *status);
void parse_cancel(struct reader *reader);
size_t parse_count(void); /* sources read in this process */

#endif
