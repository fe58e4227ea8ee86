/* SPDX-License-Identifier: MIT */
#ifndef CUSHIM_SIM_PTX_READ_PARSE_INITIALIZER_H
#define CUSHIM_SIM_PTX_READ_PARSE_INITIALIZER_H

#include <stdbool.h>
#include <stdint.h>

struct ir_variable;
struct parser;

void parse_initializer(struct parser *parser, struct ir_variable *variable, const uint64_t *dims,
                       uint32_t dim_count, bool open);
void parse_initializer_reference(struct parser *parser);

#endif
