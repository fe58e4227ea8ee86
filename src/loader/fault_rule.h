/* SPDX-License-Identifier: MIT */
/* The fault rule of a simulated driver that made the thread's last call fail. */
#ifndef CUSHIM_LOADER_FAULT_RULE_H
#define CUSHIM_LOADER_FAULT_RULE_H

#include <stdatomic.h>

/* Returns the rule; NULL: none did. The driver sets it. */
typedef const char *cushim_fault_rule_asker(void);
extern _Atomic(cushim_fault_rule_asker *) cushim_fault_rule_ask;

/* "; the fault rule \"RULE\" did it" of that rule, written to the buffer; "" if there is none. */
enum { CUSHIM_FAULT_RULE = 320 };
const char *cushim_fault_rule_words(char text[CUSHIM_FAULT_RULE]);

#endif
