/* SPDX-License-Identifier: MIT */
/* Modifiers to fields of struct ir_insn. Most say the same everywhere (the table); what others mean
 * depends on the instruction. */
#include "ptx/read/check.h"

#include <string.h>

#include "ptx/read/ir.h"
#include "ptx/read/read.h"

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

static void apply_flag(uint8_t field, struct ir_insn *insn)
{
    switch (field) {
    case FIELD_SATURATE:
        insn->saturate = true;
        break;
    case FIELD_FTZ:
        insn->ftz = true;
        break;
    case FIELD_APPROX:
        insn->approx = true;
        break;
    case FIELD_FULL:
        insn->full = true;
        break;
    case FIELD_CC:
        insn->cc = true;
        break;
    case FIELD_RELU:
        insn->relu = true;
        break;
    case FIELD_NAN:
        insn->nan = true;
        break;
    case FIELD_XORSIGN:
        insn->xorsign = true;
        break;
    case FIELD_ABS:
        insn->abs = true;
        break;
    case FIELD_SATFINITE:
        insn->satfinite = true;
        break;
    case FIELD_NOFTZ:
        insn->noftz = true;
        break;
    case FIELD_TO:
        insn->to = true;
        break;
    case FIELD_ALIGNED:
        insn->aligned = true;
        break;
    case FIELD_SYNC:
        insn->sync = true;
        break;
    case FIELD_UNIFORM:
        insn->uniform = true;
        break;
    case FIELD_PARITY:
        insn->parity = true;
        break;
    case FIELD_NOINC:
        insn->noinc = true;
        break;
    case FIELD_PO:
        insn->po = true;
        break;
    case FIELD_SPARSE:
        insn->sparse = true;
        break;
    case FIELD_IM2COL:
        insn->im2col = true;
        break;
    default:
        break;
    }
}

static void apply_modifier(const struct reading *reading, uint32_t index, struct ir_insn *insn,
                           uint8_t *mode2)
{
    const struct modifier *modifier = form_modifier(reading->modifiers[index]);
    uint8_t value = modifier->value;
    switch (modifier->field) {
    case FIELD_TYPE:
        if (insn->type_count < 4)
            insn->types[insn->type_count++] = value;
        break;
    case FIELD_ROUNDING:
        insn->rounding = value;
        break;
    case FIELD_HALF:
        insn->half = value;
        break;
    case FIELD_COMPARE:
        insn->compare = value;
        break;
    case FIELD_ATOMIC:
        insn->atomic = value;
        break;
    case FIELD_SPACE:
        apply_space(reading, index, value, insn);
        break;
    case FIELD_ORDER:
        insn->order = value;
        break;
    case FIELD_SCOPE:
        insn->scope = value;
        break;
    case FIELD_VECTOR:
        insn->vector = value;
        break;
    case FIELD_MODE:
        insn->mode = value;
        break;
    case FIELD_MODE2:
        *mode2 = value;
        break;
    case FIELD_GEOMETRY:
        insn->geometry = value;
        break;
    case FIELD_LEVEL:
        insn->level = value;
        break;
    case FIELD_SHAPE:
        insn->shape = value;
        break;
    case FIELD_LAYOUT:
        insn->columns = (uint8_t)((insn->columns << 1 | value) & 3);
        break;
    default:
        apply_flag(modifier->field, insn);
        break;
    }
}

static uint8_t boolean_of(uint8_t atomic)
{
    switch (atomic) {
    case IR_ATOM_AND:
        return IR_BOOL_AND;
    case IR_ATOM_OR:
        return IR_BOOL_OR;
    case IR_ATOM_XOR:
        return IR_BOOL_XOR;
    default:
        return IR_BOOL_NONE;
    }
}

static void settle_compare(struct ir_insn *insn)
{
    insn->boolean = boolean_of(insn->atomic);
    if (insn->half == IR_LO)
        insn->compare = IR_LT;
    if (insn->half == IR_HI)
        insn->compare = IR_GT;
    insn->half = IR_HALF_NONE;
    insn->atomic = IR_ATOM_NONE;
}

static uint8_t redux_mode(uint8_t atomic)
{
    static const uint8_t modes[] = {
        [IR_ATOM_ADD] = IR_REDUX_ADD, [IR_ATOM_MIN] = IR_REDUX_MIN, [IR_ATOM_MAX] = IR_REDUX_MAX,
        [IR_ATOM_AND] = IR_REDUX_AND, [IR_ATOM_OR] = IR_REDUX_OR,   [IR_ATOM_XOR] = IR_REDUX_XOR,
    };
    return modes[atomic];
}

static void settle_barrier(const struct reading *reading, struct ir_insn *insn, uint8_t mode2)
{
    if (insn->scope == IR_SCOPE_CLUSTER) {
        insn->mode = insn->mode == IR_BAR_ARRIVE ? IR_BAR_CLUSTER_ARRIVE : IR_BAR_CLUSTER_WAIT;
    } else if (mode2 != 0) {
        insn->mode = mode2;
    } else if (check_mode_has(reading, "red")) {
        insn->mode = insn->atomic == IR_ATOM_AND ? IR_BAR_RED_AND : IR_BAR_RED_OR;
    } else if (insn->mode != IR_BAR_ARRIVE) {
        insn->mode = IR_BAR_SYNC;
    }
    insn->atomic = IR_ATOM_NONE;
    if (insn->op == IR_BAR)
        insn->aligned = true;
}

static void settle_mbarrier(struct ir_insn *insn, uint8_t mode2)
{
    if (insn->mode == IR_BAR_ARRIVE)
        insn->mode = IR_MB_ARRIVE;
    if (mode2 == IR_MB_EXPECT_TX) {
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

static void settle_surface(struct ir_insn *insn, uint8_t mode2)
{
    if (mode2 == IR_CLAMP)
        insn->mode = IR_CLAMP_SURF;
}

static void settle_shift(struct ir_insn *insn, uint8_t mode2)
{
    bool left = insn->mode == IR_SHF_L_CLAMP;
    if (mode2 == IR_WRAP)
        insn->mode = left ? IR_SHF_L_WRAP : IR_SHF_R_WRAP;
}

static void settle(const struct reading *reading, struct ir_insn *insn, uint8_t mode2)
{
    switch (insn->op) {
    case IR_SET:
    case IR_SETP:
    case IR_VSET:
        if (insn->op == IR_VSET) { /* .add .min .max is its second operation */
            uint8_t atomic = insn->atomic;
            settle_compare(insn);
            insn->atomic = atomic;
            insn->boolean = IR_BOOL_NONE;
        } else {
            settle_compare(insn);
        }
        break;
    case IR_LOP3:
        insn->boolean = boolean_of(insn->atomic);
        insn->atomic = IR_ATOM_NONE;
        break;
    case IR_REDUX:
        insn->mode = redux_mode(insn->atomic);
        insn->atomic = IR_ATOM_NONE;
        break;
    case IR_BAR:
    case IR_BARRIER:
        settle_barrier(reading, insn, mode2);
        break;
    case IR_MBARRIER:
        settle_mbarrier(insn, mode2);
        break;
    case IR_VOTE:
    case IR_MATCH:
        settle_vote(insn);
        break;
    case IR_SULD:
    case IR_SUST:
    case IR_SURED:
        settle_surface(insn, mode2);
        insn->formatted = check_mode_has(reading, "p");
        break;
    case IR_SHF:
        settle_shift(insn, mode2);
        break;
    case IR_BRX:
    case IR_FENCE:
    case IR_MEMBAR:
        insn->mode = IR_MODE_NONE;
        break;
    case IR_TLD4: /* the component: r g b a */
        insn->component = (uint8_t)(check_mode_has(reading, "g")   ? 1
                                    : check_mode_has(reading, "b") ? 2
                                    : check_mode_has(reading, "a") ? 3
                                                                   : 0);
        insn->mode = IR_MODE_NONE;
        break;
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
        if (mode2 != 0)
            insn->mode = mode2;
        break;
    }
    if (insn->op == IR_PRMT && insn->mode == IR_MODE_NONE)
        insn->mode = IR_PRMT_DEFAULT;
}

void check_mode_apply(const struct reading *reading, struct ir_insn *insn)
{
    uint8_t mode2 = 0;
    insn->vector = 1;
    for (uint32_t i = 0; i < reading->modifier_count; i++)
        apply_modifier(reading, i, insn, &mode2);
    settle(reading, insn, mode2);
}
