/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The names of what holds an answer: variables, members, functions and macros.
 */
#ifndef CUSHIM_TOOLS_SCAN_ANSWER_H
#define CUSHIM_TOOLS_SCAN_ANSWER_H

#include "scan_flow.h"

/** What a value may be, of its first token and the last one. */
struct scan_value scan_answer_value(const struct flow *flow, const struct scan_token *first);

/** Whether a word is a literal that is true, or false. */
bool scan_answer_literal(struct scan_word word, bool value);

/** Whether a value, from `at` up to the token, is another one's of this name, as in a constructor
 * that moves: "other.name", "std::exchange(other.name, nullptr)"; or the name && another value,
 * or what is behind "&=". */
bool scan_answer_is_own(const struct flow *flow, struct scan_word name, const char *at);

/** The name is true only if the facts hold, or false. */
void scan_answer_name(struct flow *flow, struct scan_name name, const struct flow_facts *facts);

/** The name has another value, too. */
void scan_answer_void(struct flow *flow, struct scan_word word, size_t function);

/** A value without facts, that the name is given: where no guard holds, the name is no answer. */
void scan_answer_other(struct flow *flow, struct scan_name name, struct scan_value value);

/** `return` with its value. */
void scan_answer_return(struct flow *flow, const struct flow_facts *facts,
                        const struct scan_token *first);

/** The value that a macro is. */
void scan_answer_macro(struct flow *flow, const struct flow_facts *facts,
                       const struct scan_token *first);

/** A function or a lambda ended: what its name answers. */
void scan_answer_end(struct flow *flow, const struct flow_owner *owner);

/** It is known where the guards of the function hold. */
void scan_answer_settle(struct flow *flow);

#endif
