/* SPDX-License-Identifier: MIT */
/* What the files that check instructions share. */
#ifndef CUSHIM_SIM_PTX_READ_CHECK_H
#define CUSHIM_SIM_PTX_READ_CHECK_H

#include "ptx/read/read.h"

/* What a modifier sets: the place of a member of struct ir_insn. */
#define FIELD(member) offsetof(struct ir_insn, member)
#define FIELD_BIT(member) (UINT64_C(1) << FIELD(member))

/* In a form's target: only the architecture's own target (sm_90a) or family (sm_100f) has it; with
 * FAMILY those of its family alone, sm_100 to sm_109; with OWN their own targets alone. */
#define EXACT_TARGET 0x8000
#define FAMILY_TARGET 0x4000
#define OWN_TARGET 0x2000
#define EXACT(target) ((target) | EXACT_TARGET)
#define FAMILY(target) (EXACT(target) | FAMILY_TARGET)
#define OWN(target) (FAMILY(target) | OWN_TARGET)

struct form {
    const char *mnemonic, *modifiers, *operands;
    const char *reason; /* of one that the engine lacks */
    uint16_t op, version, target;
};
struct form_compiled {
    const struct form *form;
    uint64_t bits[MODIFIER_WORDS]; /* of all groups together */
    bool any;
    struct form_group groups[MAX_GROUPS];
    uint32_t group_count;
    uint32_t leading; /* of them: words of the name */
    struct spec specs[MAX_SPECS];
    uint32_t spec_count;
};

/* --- check_address.c --- */
/* The space of what an operand names; PTX_SPACE_GENERIC: it names nothing. */
uint8_t check_address_space(const struct parser *parser, const struct ir_operand *operand);
/* All addresses of an instruction; and of cvta, the type of its pointers. */
bool check_address(struct parser *parser, const struct reading *reading,
                   const struct ir_insn *insn);
bool check_address_pointer(struct parser *parser, const struct reading *reading,
                           const struct ir_insn *insn);

/* --- check_fix.c --- */
/* An operand in its final shape, for the place that it suits (check_fix.c). */
void check_fix(struct parser *parser, const struct ir_insn *insn, const struct spec *spec,
               struct ir_operand *operand);

void check_fix_immediate(struct ir_operand *operand, uint8_t want); /* in the type `want` */

/* --- check_insn.c --- */
/* Turn what was read into an instruction; false: reported. */
bool check_insn(struct parser *parser, struct reading *reading, struct ir_insn *insn);
bool check_insn_known(struct parser *parser, struct reading *reading);

/* --- check_mode.c --- */
/* Fields of the instruction from its modifiers, and what they mean for this one (check_mode.c). */
void check_mode_apply(const struct reading *reading, struct ir_insn *insn);
bool check_mode_has(const struct reading *reading, const char *text);

/* --- check_operand.c --- */
const struct ir_register *check_operand_register(const struct parser *parser,
                                                 const struct ir_operand *operand);
/* The variable that the operand names, or NULL. */
const struct ir_variable *check_operand_variable(const struct parser *parser,
                                                 const struct ir_operand *operand);
bool check_operand_is_symbol(const struct ir_operand *operand);
/* The type that the place wants, and whether {a} stands there instead of a. */
uint8_t check_operand_type(const struct ir_insn *insn, const struct spec *spec);
bool check_operand_is_single(const struct ir_insn *insn, const struct spec *spec,
                             const struct ir_operand *operand);
/* Does the operand suit the role g, G, I or o of opcodes_forms.def? */
bool check_operand_group(const struct parser *parser, const struct ir_insn *insn,
                         const struct ir_operand *operand, char role);
/* May a register of type `have` stand where `want` is wanted? */
bool check_operand_suits(uint8_t want, uint8_t have, bool relaxed);
/* Is the operand a register, an immediate number, or either, for a place of type `want`? `relaxed`:
 * a register may be wider. */
bool check_operand_is_register(const struct parser *parser, const struct ir_operand *operand,
                               uint8_t want, bool relaxed);
bool check_operand_is_immediate(const struct ir_operand *operand, uint8_t want);
bool check_operand_is_source(const struct parser *parser, const struct ir_operand *operand,
                             uint8_t want, bool relaxed);
/* Is it a vector of `count` such registers, or what else is allowed as a part? */
enum operand_parts { PARTS_ALONE, PARTS_OR_SINKS, PARTS_OR_VALUES, PARTS_OR_NUMBERS };
bool check_operand_parts(const struct parser *parser, const struct ir_operand *operand,
                         unsigned count, uint8_t want, enum operand_parts also);

/* --- check_place.c --- */
/* Does the operand suit its place in a form? */
bool check_place(struct parser *parser, const struct ir_insn *insn, const struct spec *spec,
                 struct ir_operand *operand);

/* --- check_semantics.c --- */
bool check_semantics(struct parser *parser, const struct reading *reading, struct ir_insn *insn);

#endif
