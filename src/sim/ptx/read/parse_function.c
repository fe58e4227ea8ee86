/* SPDX-License-Identifier: MIT */
/* Functions: directives, how a definition meets earlier declarations, and the statements of the
 * body: scopes, declarations, labels and tables, instructions. */
#include "ptx/read/read.h"

/* --- Directives --- */
static bool positive(struct parser *parser, const char *what, uint32_t *value)
{
    uint32_t line = parser->token.line;
    if (!parse_limited(parser, what, INT32_MAX, value))
        return false;
    if (*value == 0)
        parse_error(parser, line, "Value of '%s' must be positive", what);
    return true;
}

static bool dimensions(struct parser *parser, const char *what, uint32_t values[3])
{
    values[0] = values[1] = values[2] = 1;
    for (unsigned i = 0; i < 3; i++) {
        if (!positive(parser, what, &values[i]))
            return false;
        if (!parse_accept(parser, ','))
            break;
    }
    return true;
}

static void cluster_directive(struct parser *parser)
{
    if (parser->target < 90 || parser->version < 708)
        parse_error(parser, parser->token.line,
                    "Clusters require .target sm_90 or higher and PTX version 7.8");
}

static bool skipped_directive(struct parser *parser)
{
    uint64_t value;
    if (parse_accept_word(parser, "explicitcluster") ||
        (parser->version >= 900 && parse_accept_word(parser, "blocksareclusters")) ||
        parse_accept_word(parser, "abi_preserve_control"))
        return parser->token.kind != TOKEN_INT || parse_integer(parser, &value);
    if (parse_accept_word(parser, "abi_preserve"))
        return parse_integer(parser, &value);
    return false;
}

static void directives(struct parser *parser, struct ir_function *function)
{
    while (parser->token.kind == TOKEN_WORD && !parser->fatal) {
        bool unused = false;
        if (parse_is_word(parser, "reqnctapercluster") || parse_is_word(parser, "maxclusterrank") ||
            parse_is_word(parser, "explicitcluster"))
            cluster_directive(parser);
        if (parse_accept_word(parser, "maxntid"))
            dimensions(parser, ".maxntid", function->maxntid);
        else if (parse_accept_word(parser, "reqntid"))
            dimensions(parser, ".reqntid", function->reqntid);
        else if (parse_accept_word(parser, "reqnctapercluster"))
            dimensions(parser, ".reqnctapercluster", function->cluster);
        else if (parse_accept_word(parser, "minnctapersm"))
            positive(parser, ".minnctapersm", &function->minnctapersm);
        else if (parser->version < 201 && parse_accept_word(parser, "maxnctapersm"))
            positive(parser, ".maxnctapersm", &function->minnctapersm);
        else if (parse_accept_word(parser, "maxnreg"))
            positive(parser, ".maxnreg", &function->maxnreg);
        else if (parse_accept_word(parser, "maxclusterrank"))
            parse_limited(parser, ".maxclusterrank", INT32_MAX, &function->max_cluster);
        else if (!function->entry && parse_accept_word(parser, "noreturn"))
            function->noreturn = true;
        else if (parse_is_word(parser, "attribute"))
            parse_variable_attribute(parser, &unused);
        else if (parse_debug_is(parser))
            parse_debug(parser);
        else if (!skipped_directive(parser))
            parse_syntax(parser);
    }
}

/* What does not go together, after a function's head. */
static void check_head(struct parser *parser, const struct ir_function *function)
{
    uint32_t line = function->line, in_memory = 0;
    for (uint32_t i = 0; i < function->return_count; i++)
        in_memory += !function->returns[i].reg;
    for (uint32_t i = 0; function->body && !function->entry && i < function->param_count; i++)
        parse_variable_check_param(parser, line, function->params[i].name,
                                   function->params[i].align);
    for (uint32_t i = 0; function->body && i < function->return_count; i++)
        parse_variable_check_param(parser, line, function->returns[i].name,
                                   function->returns[i].align);
    if (function->return_count > 1 && in_memory > 0)
        parse_error(parser, line, "Several results of '%s' must be registers", function->name);
    if (function->noreturn && function->return_count > 0)
        parse_error(parser, line, "Function '%s' with a result is .noreturn", function->name);
    if (function->maxntid[0] && function->reqntid[0])
        parse_error(parser, line, "Only one of .maxntid and .reqntid can be given");
    if (function->cluster[0] && function->max_cluster)
        parse_error(parser, line,
                    "Only one of .reqnctapercluster and .maxclusterrank can be given");
    if (function->entry && function->variadic)
        parse_error(parser, line, "A parameter of entry '%s' has no size", function->name);
    for (uint32_t i = 0; function->entry && i < function->param_count; i++)
        if (function->params[i].reg && parser->version >= 200)
            parse_error(parser, line, "Parameters of entry '%s' must be in .param space",
                        function->name);
}

/* --- Declarations meet --- */
static bool same_parameters(const struct ir_parameter *left, uint32_t left_count,
                            const struct ir_parameter *right, uint32_t right_count)
{
    if (left_count != right_count)
        return false;
    for (uint32_t i = 0; i < left_count; i++)
        if (left[i].size != right[i].size || left[i].reg != right[i].reg)
            return false;
    return true;
}

bool parse_function_same(const struct ir_function *left, const struct ir_function *right)
{
    return left->entry == right->entry &&
           same_parameters(left->params, left->param_count, right->params, right->param_count) &&
           same_parameters(left->returns, left->return_count, right->returns, right->return_count);
}

/* The function's place in the module; UINT32_MAX: reported. */
static uint32_t function_place(struct parser *parser, struct name name,
                               const struct ir_function *function)
{
    struct reader *reader = parser->reader;
    struct symbol *symbol = symbol_find_module(parser, name);
    if (!symbol) {
        struct ir_function *added = parse_list_add(reader, &reader->functions, sizeof *added);
        struct link_entry *link = parse_list_add(reader, &reader->function_links, sizeof *link);
        if (!added || !link)
            return UINT32_MAX;
        *added = *function;
        link->source = parser->source;
        uint32_t index = reader->functions.count - 1;
        return symbol_add(parser, name, SYMBOL_FUNCTION, index) ? index : UINT32_MAX;
    }
    struct ir_function *functions = reader->functions.data, *before = NULL;
    const char *wrong = NULL;
    if (symbol->kind == SYMBOL_FUNCTION)
        before = functions + symbol->index;
    if (!before)
        wrong = "Duplicate definition of variable '%s'";
    else if (!parse_function_same(before, function))
        wrong = "Declarations of function '%s' do not match";
    else if (before->body && function->body)
        wrong = "Duplicate definition of function '%s'";
    if (wrong) {
        parse_error(parser, function->line, wrong, function->name);
        return UINT32_MAX;
    }
    if (function->body)
        *before = *function;
    return symbol->index;
}

/* --- Tables: what stands behind a label and is no code --- */
/* The labels or functions of one. Lists may grow while pending labels are added, so that the table
 * goes by its index. */
static void targets(struct parser *parser, uint32_t table, bool functions)
{
    parser->indices.count = 0;
    uint32_t first = parser->pending.count;
    do {
        struct name name;
        uint32_t line = parser->token.line;
        if (!parse_name(parser, &name))
            break;
        const struct symbol *symbol = functions ? symbol_find(parser, name) : NULL;
        if (functions && (!symbol || symbol->kind != SYMBOL_FUNCTION)) {
            parse_unknown(parser, line, name);
            continue;
        }
        uint32_t *index = parse_list_add(parser->reader, &parser->indices, sizeof *index);
        struct pending *pending = functions ? NULL : parse_insn_pending_add(parser, name, line);
        if (!index || (!functions && !pending))
            break;
        if (functions) {
            ((struct link_entry *)parser->reader->function_links.data)[symbol->index].used = true;
            *index = symbol->index;
        } else {
            pending->table = table;
            pending->operand = parser->indices.count - 1;
        }
    } while (parse_accept(parser, ','));
    uint32_t count = parser->indices.count;
    uint32_t *indices = parse_move(parser->reader, &parser->indices, sizeof *indices);
    struct ir_table *made = (struct ir_table *)parser->tables.data + table;
    made->indices = indices;
    made->count = indices ? count : 0;
    made->functions = functions;
    if (parser->fatal || parser->reader->no_memory)
        parser->pending.count = first; /* of a table that has none */
}

/* .callprototype (.param .b32 _) _ (.param .b64 _) .noreturn */
static void prototype(struct parser *parser, uint32_t index)
{
    struct ir_table table = {0};
    struct name name;
    bool variadic = false;
    uint64_t ignored;
    if (parse_is(parser, '('))
        parse_parameter_list(parser, &table.returns, &table.return_count, &variadic);
    if (!parse_name(parser, &name))
        return;
    if (parse_is(parser, '('))
        parse_parameter_list(parser, &table.params, &table.param_count, &variadic);
    while (parser->token.kind == TOKEN_WORD) {
        if (!parse_accept_word(parser, "noreturn") && !parse_accept_word(parser, "abi_preserve") &&
            !parse_accept_word(parser, "abi_preserve_control")) {
            parse_syntax(parser);
            return;
        }
        if (parser->token.kind == TOKEN_INT)
            parse_integer(parser, &ignored);
    }
    table.prototype = true;
    ((struct ir_table *)parser->tables.data)[index] = table;
}

static void table_statement(struct parser *parser, struct name name)
{
    bool branches = parse_is_word(parser, "branchtargets");
    bool calls = parse_is_word(parser, "calltargets");
    if (!parse_list_add(parser->reader, &parser->tables, sizeof(struct ir_table)))
        return;
    uint32_t index = parser->tables.count - 1;
    symbol_add(parser, name, SYMBOL_TABLE, index); /* one of a name that is taken is read, too */
    if (parser->reader->no_memory)
        return;
    parse_next(parser);
    if (branches || calls)
        targets(parser, index, calls);
    else
        prototype(parser, index);
    parse_expect(parser, ';');
}

static void label(struct parser *parser)
{
    struct name name;
    parse_name(parser, &name);
    parse_expect(parser, ':');
    if (parse_is_word(parser, "branchtargets") || parse_is_word(parser, "calltargets") ||
        parse_is_word(parser, "callprototype")) {
        table_statement(parser, name);
        return;
    }
    symbol_add(parser, name, SYMBOL_LABEL, parser->insns.count);
    parser->last_label = parser->insns.count;
}

static bool at_label(const struct parser *parser)
{
    struct lexer ahead = parser->lexer;
    struct token token;
    if (parser->token.kind != TOKEN_NAME)
        return false;
    if (ahead.at < ahead.end && *ahead.at == '.') /* nearly every instruction */
        return false;
    lex_next(&ahead, &token);
    return token.kind == TOKEN_PUNCT && token.value == ':';
}

static void declaration(struct parser *parser)
{
    if (parse_accept_word(parser, "reg")) {
        parse_variable_registers(parser);
        return;
    }
    if (parse_is_word(parser, "loc") || parse_is_word(parser, "pragma")) {
        parse_debug(parser);
        return;
    }
    if (parse_is_word(parser, "extern") || parse_is_word(parser, "visible") ||
        parse_is_word(parser, "weak")) {
        parse_error(parser, parser->token.line, "Linkage directives are for module scope");
        parse_next(parser);
    }
    parse_variable(parser,
                   1 << PTX_SPACE_PARAM | 1 << PTX_SPACE_LOCAL | 1 << PTX_SPACE_SHARED |
                       1 << PTX_SPACE_GLOBAL | 1 << PTX_SPACE_CONST,
                   IR_STATIC);
}

static void statement(struct parser *parser)
{
    if (parser->token.kind == TOKEN_WORD)
        declaration(parser);
    else if (at_label(parser))
        label(parser);
    else if (parser->token.kind == TOKEN_NAME || parse_is(parser, '@'))
        parse_insn(parser);
    else
        parse_syntax(parser);
}

/* To the closing brace of the function; scopes are kept in an array, not on the stack. */
static void statements(struct parser *parser)
{
    uint32_t first[MAX_NESTING];
    unsigned outer = parser->depth;
    while (parser->token.kind != TOKEN_END) {
        if (parse_is(parser, '{')) {
            if (parser->depth - outer == MAX_NESTING) {
                parse_error(parser, parser->token.line, "Scopes are nested too deeply");
                parse_syntax(parser);
                return;
            }
            first[parser->depth - outer] = parser->pending.count;
            parser->depth++;
            parse_next(parser);
        } else if (parse_is(parser, '}')) {
            bool last = parser->depth == outer;
            if (!last) {
                parse_insn_pending(parser, first[parser->depth - outer - 1]);
                symbol_leave(parser, parser->depth);
                parser->depth--;
            }
            parse_next(parser);
            if (last)
                return;
        } else {
            statement(parser);
        }
    }
    parse_syntax(parser);
    symbol_leave(parser, outer + 1);
    parser->depth = outer;
}

/* --- A whole function --- */
static void start_function(struct parser *parser)
{
    parser->registers.count = parser->locals.count = parser->insns.count = 0;
    parser->tables.count = parser->pending.count = 0;
    parser->range_count = 0;
    parser->lacks = NULL;
    parser->used_bytes = 0;
    parser->last_label = UINT32_MAX;
    parser->source_line = 0;
    if (parser->number_count > 0)
        memset(parser->numbers, 0, parser->number_capacity * 2 * sizeof *parser->numbers);
    parser->number_count = 0;
}

static bool falls_through(const struct ir_insn *insn)
{
    return insn->guarded ||
           (insn->op != IR_RET && insn->op != IR_EXIT && insn->op != IR_BRA && insn->op != IR_BRX);
}

/* Running off the end of a body means return. */
static void add_return(struct parser *parser)
{
    uint32_t count = parser->insns.count;
    const struct ir_insn *insns = parser->insns.data;
    if (count > 0 && parser->last_label != count && !falls_through(&insns[count - 1]))
        return;
    struct ir_insn *insn = parse_list_add(parser->reader, &parser->insns, sizeof *insn);
    if (insn)
        *insn = (struct ir_insn){.op = IR_RET, .vector = 1, .line = parser->token.line};
}

static void body(struct parser *parser, uint32_t index)
{
    parse_next(parser);
    statements(parser);
    add_return(parser);
    parse_insn_pending(parser, 0);
    if (parser->fatal || parser->reader->stop || index == UINT32_MAX)
        return;
    struct ir_function *function = (struct ir_function *)parser->reader->functions.data + index;
    function->register_count = parser->registers.count;
    function->registers =
        parse_move(parser->reader, &parser->registers, sizeof *function->registers);
    function->variable_count = parser->locals.count;
    function->variables = parse_move(parser->reader, &parser->locals, sizeof *function->variables);
    function->insn_count = parser->insns.count;
    function->insns = parse_move(parser->reader, &parser->insns, sizeof *function->insns);
    function->lacks = parser->lacks;
    if (function->lacks && function->insns && function->insn_count > 0) {
        /* Never run as if the instruction were not there. */
        function->insns[0] = (struct ir_insn){.op = IR_TRAP, .line = function->line};
        function->insn_count = 1;
    }
    function->table_count = parser->tables.count;
    function->tables = parse_move(parser->reader, &parser->tables, sizeof *function->tables);
}

/* Behind .func or .entry. */
void parse_function(struct parser *parser, uint8_t linkage, bool entry)
{
    struct ir_function function = {.entry = entry, .linkage = linkage};
    struct name name;
    bool unused = false;
    start_function(parser);
    if (parse_is_word(parser, "attribute"))
        parse_variable_attribute(parser, &unused);
    if (!entry && parse_is(parser, '('))
        parse_parameter_list(parser, &function.returns, &function.return_count, &unused);
    function.line = parser->token.line;
    if (parse_name(parser, &name)) {
        function.name = parse_copy(parser, name);
        if (parse_is(parser, '('))
            parse_parameter_list(parser, &function.params, &function.param_count,
                                 &function.variadic);
        directives(parser, &function);
        function.body = parse_is(parser, '{');
        if (function.name)
            check_head(parser, &function);
        if (function.body && entry && linkage == IR_EXTERN)
            parse_error(parser, function.line, "Entry '%s' is .extern and has a body",
                        function.name ? function.name : "");
        uint32_t index = UINT32_MAX;
        if (function.name && !parser->fatal)
            index = function_place(parser, name, &function);
        parser->depth = 1;
        parse_parameter_declare(parser, function.returns, function.return_count, true);
        parse_parameter_declare(parser, function.params, function.param_count, false);
        if (function.body)
            body(parser, index);
        else
            parse_accept(parser, ';'); /* may be left out */
    }
    symbol_leave(parser, 1);
    parser->depth = 0;
}
