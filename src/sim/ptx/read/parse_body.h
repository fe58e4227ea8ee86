/* SPDX-License-Identifier: MIT */
#ifndef CUSHIM_SIM_PTX_READ_PARSE_BODY_H
#define CUSHIM_SIM_PTX_READ_PARSE_BODY_H

struct parser;

void parse_body(struct parser *parser); /* behind the opening brace, to the closing one */

#endif
