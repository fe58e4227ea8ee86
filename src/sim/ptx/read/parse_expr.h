/* SPDX-License-Identifier: MIT */
#ifndef CUSHIM_SIM_PTX_READ_PARSE_EXPR_H
#define CUSHIM_SIM_PTX_READ_PARSE_EXPR_H

#include <stdbool.h>
#include <stdint.h>

struct parser;
struct value;

bool parse_expr_constant(struct parser *parser, struct value *value);
/* An integer between the limits of size_t-like uses; reports what is not one. */
bool parse_expr_size(struct parser *parser, uint64_t *value);

#endif
