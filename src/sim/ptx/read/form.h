/* SPDX-License-Identifier: MIT */
#ifndef CUSHIM_SIM_PTX_READ_FORM_H
#define CUSHIM_SIM_PTX_READ_FORM_H

#include <stdbool.h>
#include <stdint.h>

struct form_compiled;
struct modifier;
struct parser;
struct reader;
struct reading;

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

#endif
