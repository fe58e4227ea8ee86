/* SPDX-License-Identifier: MIT */
#ifndef CUSHIM_SIM_PTX_READ_PARSE_FUNCTION_H
#define CUSHIM_SIM_PTX_READ_PARSE_FUNCTION_H

#include <stdbool.h>
#include <stdint.h>

struct ir_function;
struct ir_parameter;
struct parser;

void parse_function(struct parser *parser, uint8_t linkage, bool entry);
/* (.param .b32 a, ...), at the parenthesis. */
void parse_function_parameters(struct parser *parser, struct ir_parameter **parameters,
                               uint32_t *count, bool *variadic);
bool parse_function_same(const struct ir_function *left, const struct ir_function *right);

#endif
