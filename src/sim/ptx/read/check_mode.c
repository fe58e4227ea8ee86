/* SPDX-License-Identifier: MIT */
/* Modifiers to fields of struct ir_insn. Most say the same everywhere (the table); what others mean
 * depends on the instruction. */
#include "ptx/read/check.h"

bool check_mode_has(const struct reading *reading, const char *text)
{
    for (uint32_t i = 0; i < reading->modifier_count; i++)
        if (parse_name_is(reading->words[i], text))
            return true;
    return false;
}

static void apply_space(const struct reading *reading, uint32_t index, uint8_t value,
                        struct ir_insn *insn)
{
    if (insn->space == PTX_SPACE_GENERIC)
        insn->space = value;
    else
        insn->space2 = value;
    if (parse_name_is(reading->words[index], "shared::cluster"))
        insn->cluster = true;
}

static void apply_modifier(const struct reading *reading, uint32_t index, struct ir_insn *insn)
{
    const struct modifier *modifier = form_modifier(reading->modifiers[index]);

    switch (modifier->field) {
    case FIELD(op):
        break;
    case FIELD(types):
        if (insn->type_count < 4)
            insn->types[insn->type_count++] = modifier->value;
        break;
    case FIELD(space):
        apply_space(reading, index, modifier->value, insn);
        break;
    case FIELD(columns): /* .row and .col, up to two of them */
        insn->columns = (uint8_t)((insn->columns << 1 | modifier->value) & 3);
        break;
    default: /* of one byte */
        ((uint8_t *)insn)[modifier->field] = modifier->value;
    }
}

static void settle_compare(struct ir_insn *insn)
{
    insn->boolean = insn->atomic;
    if (insn->half == IR_LO)
        insn->compare = IR_LT;
    if (insn->half == IR_HI)
        insn->compare = IR_GT;
    insn->half = IR_HALF_NONE;
    insn->atomic = IR_ATOM_NONE;
}

static void settle_barrier(const struct reading *reading, struct ir_insn *insn)
{
    if (insn->scope == IR_SCOPE_CLUSTER) {
        insn->mode = insn->mode == IR_BAR_ARRIVE ? IR_BAR_CLUSTER_ARRIVE : IR_BAR_CLUSTER_WAIT;
    } else if (insn->mode2 != 0) {
        insn->mode = insn->mode2;
    } else if (check_mode_has(reading, "red")) {
        insn->mode = insn->atomic == IR_ATOM_AND ? IR_BAR_RED_AND : IR_BAR_RED_OR;
    } else if (insn->mode != IR_BAR_ARRIVE) {
        insn->mode = IR_BAR_SYNC;
    }
    insn->atomic = IR_ATOM_NONE;
    if (insn->op == IR_BAR)
        insn->aligned = true;
}

static void settle_mbarrier(struct ir_insn *insn)
{
    if (insn->mode == IR_BAR_ARRIVE)
        insn->mode = IR_MB_ARRIVE;
    if (insn->mode2 == IR_MB_EXPECT_TX) {
        insn->expect_tx = insn->mode != IR_MODE_NONE;
        if (!insn->expect_tx)
            insn->mode = IR_MB_EXPECT_TX;
    }
}

static void settle_vote(struct ir_insn *insn)
{
    if (insn->op == IR_MATCH)
        insn->mode = insn->mode == IR_VOTE_ALL ? IR_MATCH_ALL : IR_MATCH_ANY;
    else if (insn->mode == IR_MODE_NONE)
        insn->mode = IR_VOTE_UNI;
    insn->uniform = false;
}

static void settle(const struct reading *reading, struct ir_insn *insn)
{
    const uint8_t atomic = insn->atomic;

    switch (insn->op) {
    case IR_SET:
    case IR_SETP:
        settle_compare(insn);
        break;
    case IR_VSET: /* .add .min .max is its second operation */
        settle_compare(insn);
        insn->atomic = atomic;
        insn->boolean = IR_ATOM_NONE;
        break;
    case IR_LOP3:
        insn->boolean = atomic;
        insn->atomic = IR_ATOM_NONE;
        break;
    case IR_BAR:
    case IR_BARRIER:
        settle_barrier(reading, insn);
        break;
    case IR_MBARRIER:
        settle_mbarrier(insn);
        break;
    case IR_VOTE:
    case IR_MATCH:
        settle_vote(insn);
        break;
    case IR_SULD:
    case IR_SUST:
    case IR_SURED:
        if (insn->mode2 == IR_CLAMP)
            insn->mode = IR_CLAMP_SURF;
        insn->formatted = check_mode_has(reading, "p");
        break;
    case IR_SHF:
        if (insn->mode2 == IR_WRAP)
            insn->mode = insn->mode == IR_SHF_L_CLAMP ? IR_SHF_L_WRAP : IR_SHF_R_WRAP;
        break;
    case IR_TLD4: /* the component: r g b a */
        insn->component = (uint8_t)(check_mode_has(reading, "g")   ? 1
                                    : check_mode_has(reading, "b") ? 2
                                    : check_mode_has(reading, "a") ? 3
                                                                   : 0);
        insn->mode = IR_MODE_NONE;
        break;
    case IR_BRX:
    case IR_FENCE:
    case IR_MEMBAR:
    case IR_MMA:
    case IR_WMMA:
        insn->mode = IR_MODE_NONE;
        break;
    case IR_WMMA_LOAD: /* the matrix: a b c */
        insn->component = (uint8_t)(check_mode_has(reading, "a")   ? 0
                                    : check_mode_has(reading, "b") ? 1
                                                                   : 2);
        break;
    case IR_WMMA_STORE:
        insn->component = 2;
        break;
    default:
        if (insn->mode2)
            insn->mode = insn->mode2;
        break;
    }
}

void check_mode_apply(const struct reading *reading, struct ir_insn *insn)
{
    insn->vector = 1;
    for (uint32_t i = 0; i < reading->modifier_count; i++)
        apply_modifier(reading, i, insn);
    settle(reading, insn);
}
