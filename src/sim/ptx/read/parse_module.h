/* SPDX-License-Identifier: MIT */
#ifndef CUSHIM_SIM_PTX_READ_PARSE_MODULE_H
#define CUSHIM_SIM_PTX_READ_PARSE_MODULE_H

#include <stdbool.h>

struct parser;

void parse_module_alias(struct parser *parser);
void parse_module_debug(struct parser *parser); /* .file .loc .section .pragma; at the word */
bool parse_module_is_debug(const struct parser *parser);
void parse_module_source(struct parser *parser);

#endif
