/* SPDX-License-Identifier: MIT */
/* Generated from gen/registry/sentences.jsonl by gen/emit.py. Do not edit. */

#include "sentences.h"

const struct sentences_row sentences_rows[] = {
    {"truncated: … bytes",
     "reinstall it (how)"},
    {"no `end`",
     "reinstall it (how)"},
    {"Predicate expected",
     "Correct the line."},
    {"number … is \"bad\"",
     "give another"},
};
const size_t sentences_count = 4;
