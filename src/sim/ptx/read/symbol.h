/* SPDX-License-Identifier: MIT */
#ifndef CUSHIM_SIM_PTX_READ_SYMBOL_H
#define CUSHIM_SIM_PTX_READ_SYMBOL_H

#include "ptx/read/parse.h"

bool symbol_start(struct parser *parser);
void symbol_stop(struct parser *parser);
/* NULL: no memory, or the scope has one of that name (an error is reported). */
struct symbol *symbol_add(struct parser *parser, struct name name, enum symbol_kind kind,
                          uint32_t index);
struct symbol *symbol_find(struct parser *parser, struct name name);
struct symbol *symbol_find_label(struct parser *parser, struct name name);
struct symbol *symbol_find_module(struct parser *parser, struct name name);
void symbol_leave(struct parser *parser, unsigned depth); /* forget what is deeper or as deep */
/* Register `number` of a range, made on first use; UINT32_MAX: no memory. */
uint32_t symbol_range_register(struct parser *parser, const struct symbol *range, uint32_t number,
                               struct name name);
unsigned symbol_special_parts(uint32_t special); /* 4: .x to .w; else 1 */
uint32_t symbol_register_add(struct parser *parser, struct name name, uint8_t type, uint8_t vector);

#endif
