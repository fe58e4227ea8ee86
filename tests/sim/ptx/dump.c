/* SPDX-License-Identifier: MIT */
/* A module as text, for people who look for a mistake and for tests of the reader: near to PTX, but
 * with every name resolved and every field that is set. */
#include "dump.h"

static const char *const type_names[] = {
    [IR_NONE] = "none",       [IR_B8] = "b8",         [IR_B16] = "b16",
    [IR_B32] = "b32",         [IR_B64] = "b64",       [IR_B128] = "b128",
    [IR_U8] = "u8",           [IR_U16] = "u16",       [IR_U32] = "u32",
    [IR_U64] = "u64",         [IR_S8] = "s8",         [IR_S16] = "s16",
    [IR_S32] = "s32",         [IR_S64] = "s64",       [IR_F16] = "f16",
    [IR_F16X2] = "f16x2",     [IR_BF16] = "bf16",     [IR_BF16X2] = "bf16x2",
    [IR_TF32] = "tf32",       [IR_F32] = "f32",       [IR_F64] = "f64",
    [IR_E4M3X2] = "e4m3x2",   [IR_E5M2X2] = "e5m2x2", [IR_U16X2] = "u16x2",
    [IR_S16X2] = "s16x2",     [IR_F32X2] = "f32x2",   [IR_E2M1X2] = "e2m1x2",
    [IR_E2M3X2] = "e2m3x2",   [IR_E3M2X2] = "e3m2x2", [IR_U4] = "u4",
    [IR_S4] = "s4",           [IR_U2] = "u2",         [IR_S2] = "s2",
    [IR_PRED] = "pred",       [IR_TEXREF] = "texref", [IR_SAMPLERREF] = "samplerref",
    [IR_SURFREF] = "surfref", [IR_E4M3] = "e4m3",     [IR_E5M2] = "e5m2",
    [IR_B1] = "b1",
};
static const char *const space_names[] = {"",       ".reg",   ".const",  ".global",
                                          ".local", ".param", ".shared", ".tex"};

static void dump_name(const struct ir_module *module, const struct ir_function *function,
                      const struct ir_operand *operand, struct ptx_text *text)
{
    switch (operand->kind) {
    case IR_OPERAND_REG:
        ptx_text_add(text, "%s%s", operand->negate ? "!" : "",
                     function->registers[operand->index].name);
        if (function->registers[operand->index].vector > 1 || operand->component != 0)
            ptx_text_add(text, ".%u", operand->component);
        break;
    case IR_OPERAND_VARIABLE:
        ptx_text_add(text, "%s", module->variables[operand->index].name);
        break;
    case IR_OPERAND_LOCAL:
        ptx_text_add(text, "%s", function->variables[operand->index].name);
        break;
    case IR_OPERAND_PARAM:
        ptx_text_add(text, "%s", function->params[operand->index].name);
        break;
    case IR_OPERAND_RETURN:
        ptx_text_add(text, "%s", function->returns[operand->index].name);
        break;
    default:
        ptx_text_add(text, "%s", module->functions[operand->index].name);
        break;
    }
    if (operand->offset != 0)
        ptx_text_add(text, "+%lld", (long long)operand->offset);
}

static void dump_operand(const struct ir_module *module, const struct ir_function *function,
                         const struct ir_operand *operand, struct ptx_text *text)
{
    static const char brackets[][3] = {
        [IR_OPERAND_VECTOR] = "{}", [IR_OPERAND_ADDRESS] = "[]", [IR_OPERAND_GROUP] = "()"};
    switch (operand->kind) {
    case IR_OPERAND_NONE:
        ptx_text_add(text, "none");
        break;
    case IR_OPERAND_SINK:
        ptx_text_add(text, "_");
        break;
    case IR_OPERAND_IMM:
        ptx_text_add(text, "0x%llx", (unsigned long long)operand->bits);
        break;
    case IR_OPERAND_SPECIAL:
        ptx_text_add(text, "special%u.%u", operand->index, operand->component);
        break;
    case IR_OPERAND_LABEL:
        ptx_text_add(text, "@%u", operand->index);
        break;
    case IR_OPERAND_TABLE:
        ptx_text_add(text, "table%u", operand->index);
        break;
    case IR_OPERAND_VECTOR:
    case IR_OPERAND_ADDRESS:
    case IR_OPERAND_GROUP:
        ptx_text_add(text, "%c", brackets[operand->kind][0]);
        for (unsigned i = 0; i < operand->count; i++) {
            if (i > 0)
                ptx_text_add(text, ", ");
            dump_operand(module, function, &operand->parts[i], text);
        }
        if (operand->offset != 0)
            ptx_text_add(text, "+%lld", (long long)operand->offset);
        ptx_text_add(text, "%c", brackets[operand->kind][1]);
        break;
    default:
        dump_name(module, function, operand, text);
        break;
    }
}

static void dump_number(const char *name, unsigned value, struct ptx_text *text)
{
    if (value != 0)
        ptx_text_add(text, " %s=%u", name, value);
}

static void dump_flags(const struct ir_insn *insn, struct ptx_text *text)
{
    const struct {
        const char *name;
        bool value;
    } flags[] = {
        {"to", insn->to},
        {"sat", insn->saturate},
        {"ftz", insn->ftz},
        {"approx", insn->approx},
        {"full", insn->full},
        {"cc", insn->cc},
        {"relu", insn->relu},
        {"uni", insn->uniform},
        {"sync", insn->sync},
        {"noftz", insn->noftz},
        {"nan", insn->nan},
        {"xorsign", insn->xorsign},
        {"abs", insn->abs},
        {"aligned", insn->aligned},
        {"satfinite", insn->satfinite},
        {"parity", insn->parity},
        {"noinc", insn->noinc},
        {"po", insn->po},
        {"cluster", insn->cluster},
        {"expect_tx", insn->expect_tx},
        {"sparse", insn->sparse},
        {"array", insn->array},
    };
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        if (flags[i].value)
            ptx_text_add(text, " %s", flags[i].name);
    dump_number("rounding", insn->rounding, text);
    dump_number("half", insn->half, text);
    dump_number("compare", insn->compare, text);
    dump_number("boolean", insn->boolean, text);
    dump_number("atomic", insn->atomic, text);
    dump_number("order", insn->order, text);
    dump_number("scope", insn->scope, text);
    dump_number("mode", insn->mode, text);
    dump_number("geometry", insn->geometry, text);
    dump_number("level", insn->level, text);
    dump_number("component", insn->component, text);
    dump_number("shape", insn->shape, text);
    dump_number("columns", insn->columns, text);
}

static void dump_insn(const struct ir_module *module, const struct ir_function *function,
                      uint32_t index, struct ptx_text *text)
{
    const struct ir_insn *insn = &function->insns[index];
    ptx_text_add(text, "  %u: ", index);
    if (insn->guarded)
        ptx_text_add(text, "@%s%s ", insn->guard_negate ? "!" : "",
                     function->registers[insn->guard].name);
    ptx_text_add(text, "%s", opcodes_text[insn->op]);
    ptx_text_add(text, "%s%s", space_names[insn->space], space_names[insn->space2]);
    if (insn->vector > 1)
        ptx_text_add(text, ".v%u", insn->vector);
    for (unsigned i = 0; i < insn->type_count; i++)
        ptx_text_add(text, ".%s", type_names[insn->types[i]]);
    for (unsigned i = 0; i < insn->count; i++) {
        ptx_text_add(text, "%s", i == 0 ? " " : i == insn->destinations ? " <- " : ", ");
        dump_operand(module, function, &insn->operands[i], text);
    }
    dump_flags(insn, text);
    ptx_text_add(text, "  // line %u\n", insn->line);
}

static void dump_variable(const struct ir_variable *variable, struct ptx_text *text)
{
    ptx_text_add(text, "%s.%s %s: size %llu align %u linkage %u%s%s", space_names[variable->space],
                 type_names[variable->type], variable->name, (unsigned long long)variable->size,
                 variable->align, variable->linkage, variable->managed ? " managed" : "",
                 variable->unsized ? " unsized" : "");
    for (uint64_t i = 0; variable->init && i < variable->init_size && i < 64; i++)
        ptx_text_add(text, "%s%02x", i == 0 ? " = " : "", variable->init[i]);
    for (uint32_t i = 0; i < variable->relocation_count; i++) {
        const struct ir_relocation *relocation = &variable->relocations[i];
        ptx_text_add(text, " at %llu: %s%s%u+%lld size %u shift %u",
                     (unsigned long long)relocation->offset, relocation->generic ? "generic " : "",
                     relocation->function ? "function" : "variable", relocation->index,
                     (long long)relocation->addend, relocation->size, relocation->shift);
    }
    ptx_text_add(text, "\n");
}

static void dump_parameters(const char *what, const struct ir_parameter *parameters, uint32_t count,
                            struct ptx_text *text)
{
    for (uint32_t i = 0; i < count; i++)
        ptx_text_add(text, "  %s %s.%s %s: offset %u size %u align %u\n", what,
                     parameters[i].reg ? ".reg" : ".param", type_names[parameters[i].type],
                     parameters[i].name, parameters[i].offset, parameters[i].size,
                     parameters[i].align);
}

static void dump_table(const struct ir_table *table, uint32_t index, struct ptx_text *text)
{
    ptx_text_add(text, "  table%u:%s", index,
                 table->prototype   ? " prototype\n"
                 : table->functions ? " functions"
                                    : " labels");
    for (uint32_t i = 0; i < table->count; i++)
        ptx_text_add(text, " %u", table->indices[i]);
    if (!table->prototype)
        ptx_text_add(text, "\n");
    dump_parameters("  return", table->returns, table->return_count, text);
    dump_parameters("  param", table->params, table->param_count, text);
}

static void dump_function(const struct ir_module *module, const struct ir_function *function,
                          struct ptx_text *text)
{
    ptx_text_add(text, "%s %s linkage %u%s\n", function->entry ? ".entry" : ".func", function->name,
                 function->linkage, function->body ? "" : " without body");
    dump_parameters("return", function->returns, function->return_count, text);
    dump_parameters("param", function->params, function->param_count, text);
    if (function->maxntid[0] != 0)
        ptx_text_add(text, "  .maxntid %u %u %u\n", function->maxntid[0], function->maxntid[1],
                     function->maxntid[2]);
    if (function->reqntid[0] != 0)
        ptx_text_add(text, "  .reqntid %u %u %u\n", function->reqntid[0], function->reqntid[1],
                     function->reqntid[2]);
    for (uint32_t i = 0; i < function->variable_count; i++) {
        ptx_text_add(text, "  ");
        dump_variable(&function->variables[i], text);
    }
    for (uint32_t i = 0; i < function->table_count; i++)
        dump_table(&function->tables[i], i, text);
    for (uint32_t i = 0; i < function->insn_count; i++)
        dump_insn(module, function, i, text);
}

void dump_module(const struct ir_module *module, struct ptx_text *text)
{
    ptx_text_add(text, ".version %u .target sm_%u\n", module->version, module->target);
    for (uint32_t i = 0; i < module->variable_count; i++)
        dump_variable(&module->variables[i], text);
    for (uint32_t i = 0; i < module->function_count; i++)
        dump_function(module, &module->functions[i], text);
}
