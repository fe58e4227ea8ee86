/* SPDX-License-Identifier: MIT */
#ifndef CUSHIM_SIM_PTX_READ_PARSE_VARIABLE_H
#define CUSHIM_SIM_PTX_READ_PARSE_VARIABLE_H

#include <stdbool.h>
#include <stdint.h>

struct parser;

bool parse_variable_type(struct parser *parser, uint8_t *type); /* accept a type, if there is one */
bool parse_variable_vector_word(struct parser *parser, uint8_t *vector);
bool parse_variable_align(struct parser *parser, uint32_t *align);
bool parse_variable_array_size(struct parser *parser, const uint64_t *dims, uint32_t count,
                               uint64_t element, uint64_t *size);
/* [2][3] behind a name; *size starts as one element's. */
bool parse_variable_dimensions(struct parser *parser, uint64_t element, uint64_t *size, bool *open);
void parse_variable_attribute(struct parser *parser, bool *managed);
void parse_variable(struct parser *parser, uint8_t space, uint8_t linkage);
void parse_variable_registers(struct parser *parser);

#endif
