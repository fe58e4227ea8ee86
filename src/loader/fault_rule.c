/* SPDX-License-Identifier: MIT */
#include "loader/fault_rule.h"

#include <stdio.h>

_Atomic(cushim_fault_rule_asker *) cushim_fault_rule_ask;

const char *cushim_fault_rule_words(char text[CUSHIM_FAULT_RULE])
{
    cushim_fault_rule_asker *ask = atomic_load(&cushim_fault_rule_ask);
    const char *rule = ask ? ask() : NULL;
    if (!rule)
        return "";
    snprintf(text, CUSHIM_FAULT_RULE, "; the fault rule \"%s\" did it", rule);
    return text;
}
