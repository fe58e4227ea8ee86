/* SPDX-License-Identifier: MIT */
/* What the files that check instructions share. */
#ifndef CUSHIM_SIM_PTX_READ_CHECK_H
#define CUSHIM_SIM_PTX_READ_CHECK_H

#include "ptx/read/parse.h"

enum modifier_field {
    FIELD_NONE,
    FIELD_TYPE,
    FIELD_ROUNDING,
    FIELD_SATURATE,
    FIELD_FTZ,
    FIELD_APPROX,
    FIELD_FULL,
    FIELD_CC,
    FIELD_RELU,
    FIELD_NAN,
    FIELD_XORSIGN,
    FIELD_ABS,
    FIELD_SATFINITE,
    FIELD_NOFTZ,
    FIELD_TO,
    FIELD_ALIGNED,
    FIELD_SYNC,
    FIELD_UNIFORM,
    FIELD_HALF,
    FIELD_COMPARE,
    FIELD_ATOMIC,
    FIELD_SPACE,
    FIELD_ORDER,
    FIELD_SCOPE,
    FIELD_VECTOR,
    FIELD_MODE,
    FIELD_MODE2, /* changes what a mode of the same instruction says */
    FIELD_GEOMETRY,
    FIELD_LEVEL,
    FIELD_PARITY,
    FIELD_NOINC,
    FIELD_PO,
    FIELD_IM2COL,
    FIELD_SPARSE,
    FIELD_SHAPE,
    FIELD_LAYOUT, /* .row and .col, up to two of them */
};

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
    struct spec specs[MAX_SPECS];
    uint32_t spec_count;
};

#endif
