/* SPDX-License-Identifier: MIT */
/* From what was read to an instruction: the form that takes its modifiers and operands, or the
 * reason why there is none. */

#include <stdio.h>

#include "ptx/read/check.h"

enum { MAX_PLACES = IR_MAX_OPERANDS + 1 };

/* Which spec each operand answers; false: the operands are not this form's. */
static bool match(struct parser *parser, struct reading *reading, const struct ir_insn *insn,
                  const struct form_compiled *form, const struct spec **places)
{
    uint32_t at = 0;
    bool hint = check_mode_has(reading, "L2::cache_hint");
    for (uint32_t s = 0; s < form->spec_count; s++) {
        const struct spec *spec = &form->specs[s];
        if (spec->role == 'h' && !hint)
            continue;
        if (at < reading->operand_count && reading->joined[at] == spec->joined &&
            check_place(parser, insn, spec, &reading->operands[at]))
            places[at++] = spec;
        else if (!spec->optional)
            return false;
    }
    return at == reading->operand_count;
}

static bool is_result(char role)
{
    return role == 'd' || role == 'D' || role == 'p' || role == 'v' || role == 'x' || role == 'M' ||
           role == 'z' || role == 'F' || role == 'u';
}

/* The chosen form's operands go into the instruction, in their final shape. */
static void take(struct parser *parser, struct reading *reading, struct ir_insn *insn,
                 const struct spec *const *places)
{
    for (uint32_t i = 0; i < reading->operand_count; i++) {
        struct ir_operand *operand = &reading->operands[i];
        if (places[i]->role == 'h')
            continue;
        if (places[i]->role != 'l' && places[i]->role != 't')
            check_fix(parser, insn, places[i], operand);
        /* A vector as destination of a store's kin stands first without being written. */
        if (is_result(places[i]->role))
            insn->destinations++;
        insn->operands[insn->count++] = *operand;
    }
}

/* --- Versions --- */
static void feature_name(const struct reading *reading, char *text, size_t size)
{
    int used = snprintf(text, size, "%.*s", (int)reading->mnemonic.length, reading->mnemonic.text);
    for (uint32_t i = 0; i < reading->modifier_count; i++) {
        if (used < 0 || (size_t)used >= size)
            return;
        used += snprintf(text + used, size - (size_t)used, ".%.*s", (int)reading->words[i].length,
                         reading->words[i].text);
    }
}

static bool check_level(struct parser *parser, uint32_t line, const char *feature, unsigned version,
                        unsigned target, bool report)
{
    bool good = true;
    if (version > parser->version) {
        good = false;
        if (report)
            parse_error(parser, line, "Feature '%s' requires PTX ISA .version %u.%u or later",
                        feature, version / 100, version % 100);
    }
    bool exact = target >= EXACT_TARGET;
    bool lacks = parser->target_suffix == '\0' ||
                 ((target & OWN_TARGET) != 0 && parser->target_suffix != 'a');
    bool family = (target & FAMILY_TARGET) != 0;
    target &= OWN_TARGET - 1U;
    lacks |= family && parser->target / 10 > target / 10;
    if (exact && lacks) {
        good = false;
        if (report)
            parse_error(parser, line, "Feature '%s' not supported on .target 'sm_%u'", feature,
                        parser->target);
    } else if (target > parser->target) {
        good = false;
        if (report)
            parse_error(parser, line, "Feature '%s' requires .target sm_%u or higher", feature,
                        target);
    }
    return good;
}

static bool check_levels(struct parser *parser, const struct reading *reading,
                         const struct form *form, bool report)
{
    char feature[128] = "";
    if (report)
        feature_name(reading, feature, sizeof feature);
    bool good = check_level(parser, reading->line, feature, form->version, form->target, report);
    /* Types of matrices are younger in other instructions than in wgmma. */
    for (uint32_t i = 0; i < reading->modifier_count && good && form->op != IR_WGMMA; i++) {
        const struct modifier *modifier = form_modifier(reading->modifiers[i]);
        if (modifier->version <= parser->version && modifier->target <= parser->target)
            continue;
        /* That of conversions is younger than that of integer matrices. */
        if (modifier->field == FIELD(satfinite) && (form->op == IR_MMA || form->op == IR_WMMA))
            continue;
        if (report)
            snprintf(feature, sizeof feature, ".%s", modifier->text);
        good = check_level(parser, reading->line, feature, modifier->version, modifier->target,
                           report);
    }
    return good;
}

/* --- Reasons --- */
static bool any_form(struct parser *parser, const struct reading *reading, uint64_t ignored)
{
    const struct form_compiled *form;
    for (int at = NO_INDEX; (form = form_next(parser, reading, &at, ignored));)
        if (!form->form->reason)
            return true;
    return false;
}

static void explain_modifiers(struct parser *parser, const struct reading *reading)
{
    uint64_t rounding = FIELD_BIT(rounding);
    for (uint32_t i = 0; i < reading->modifier_count; i++) {
        uint16_t modifier = reading->modifiers[i];
        bool type = form_modifier(modifier)->field == FIELD(types);
        if (type || form_knows(parser, reading, modifier))
            continue;
        bool is_rounding = form_modifier(modifier)->field == FIELD(rounding);
        parse_error(parser, reading->line, "Illegal %smodifier '.%.*s' for instruction '%.*s'",
                    is_rounding ? "rounding " : "", (int)reading->words[i].length,
                    reading->words[i].text, (int)reading->mnemonic.length, reading->mnemonic.text);
        return;
    }
    bool rounded = false;
    for (uint32_t i = 0; i < reading->modifier_count; i++)
        rounded |= form_modifier(reading->modifiers[i])->field == FIELD(rounding);
    const char *format = "Illegal combination of modifiers for instruction '%.*s'";
    if (any_form(parser, reading, rounding))
        format = rounded ? "Illegal rounding modifier for instruction '%.*s'"
                         : "Rounding modifier required for instruction '%.*s'";
    else if (!any_form(parser, reading, ~FIELD_BIT(types)))
        format = "Unexpected instruction types specified for '%.*s'";
    else if (any_form(parser, reading, FIELD_BIT(saturate) | FIELD_BIT(ftz)))
        format = check_mode_has(reading, "sat")
                     ? "Modifier '.sat' does not apply to this type of instruction '%.*s'"
                     : "Modifier '.ftz' does not apply to this type of instruction '%.*s'";
    else if (any_form(parser, reading, FIELD_BIT(space)))
        format = "State space incorrect for instruction '%.*s'";
    parse_refuse(parser, reading, format);
}

static void explain_unknown(struct parser *parser, const struct reading *reading,
                            const struct ir_operand *operand)
{
    if (operand->kind == IR_OPERAND_LABEL)
        parse_unknown(parser, reading->line, parse_operand_name(operand));
    if (operand->kind == IR_OPERAND_VECTOR || operand->kind == IR_OPERAND_ADDRESS ||
        operand->kind == IR_OPERAND_GROUP)
        for (unsigned i = 0; i < operand->count; i++)
            explain_unknown(parser, reading, &operand->parts[i]);
}

static void explain_operands(struct parser *parser, const struct reading *reading,
                             const struct ir_insn *insn, const struct form_compiled *form)
{
    const struct ir_operand *first = &reading->operands[0];
    bool result =
        form->spec_count > 0 && reading->operand_count > 0 && is_result(form->specs[0].role);
    const char *format = "Arguments mismatch for instruction '%.*s'";
    if (result && first->kind == IR_OPERAND_IMM)
        format = "Result register required for instruction '%.*s'";
    else if (result && first->kind == IR_OPERAND_SINK && form->specs[0].role == 'd')
        format = "Result discard mode is not allowed for instruction '%.*s'";
    else if (insn->op == IR_BRA && reading->operand_count > 0)
        format = "Label expected for argument 0 of instruction '%.*s'";
    parse_refuse(parser, reading, format);
    for (uint32_t i = 0; i < reading->operand_count && insn->op != IR_BRA; i++)
        explain_unknown(parser, reading, &reading->operands[i]);
}

bool check_insn_known(struct parser *parser, struct reading *reading)
{
    if (form_find(parser, reading))
        return true;
    return parse_error(parser, reading->line, "Not a name of any known instruction: '%.*s'",
                       (int)(reading->mnemonic.length < 64 ? reading->mnemonic.length : 64),
                       reading->mnemonic.text);
}

static bool check_words(struct parser *parser, const struct reading *reading)
{
    bool good = true;
    for (uint32_t i = 0; i < reading->modifier_count; i++) {
        if (reading->modifiers[i] != MODIFIER_UNKNOWN)
            continue;
        parse_error(parser, reading->line, "Unknown modifier '.%.*s'",
                    (int)(reading->words[i].length < 64 ? reading->words[i].length : 64),
                    reading->words[i].text);
        good = false;
    }
    return good;
}

bool check_insn(struct parser *parser, struct reading *reading, struct ir_insn *insn)
{
    const struct form_compiled *form, *first = NULL, *old = NULL;
    const struct spec *places[MAX_PLACES] = {0};
    if (!check_words(parser, reading))
        return false;
    struct ir_insn blank = *insn;
    for (int at = NO_INDEX; (form = form_next(parser, reading, &at, 0));) {
        if (form->form->reason)
            continue;
        if (!first) {
            insn->op = form->form->op;
            check_mode_apply(reading, insn);
            first = form;
        } else if (insn->op != form->form->op) {
            *insn = blank;
            insn->op = form->form->op;
            check_mode_apply(reading, insn);
        }
        if (reading->operand_count > IR_MAX_OPERANDS + 1 ||
            !match(parser, reading, insn, form, places))
            continue;
        if (!check_levels(parser, reading, form->form, false)) {
            old = old ? old : form;
            continue;
        }
        take(parser, reading, insn, places);
        return check_semantics(parser, reading, insn);
    }
    if (old)
        check_levels(parser, reading, old->form, true);
    else if (first)
        explain_operands(parser, reading, insn, first);
    else if (!parser->reader->no_memory)
        explain_modifiers(parser, reading);
    return false;
}
