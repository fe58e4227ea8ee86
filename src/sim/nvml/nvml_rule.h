/* SPDX-License-Identifier: MIT */
/* Fault rules that name NVML's entries, as the command and the library read them. */
#ifndef CUSHIM_SIM_NVML_NVML_RULE_H
#define CUSHIM_SIM_NVML_NVML_RULE_H

#include <stdbool.h>
#include <stddef.h>

extern const struct sim_rule_family sim_nvml_rule_family;

/* Whether a rule's text is for NVML alone: its name, or what it says is missing, is NVML's. */
bool sim_nvml_rule_is(const char *text);
/* Whether a rule for NVML can be used; if not, *error is a sentence. */
bool sim_nvml_rule_check(const char *text, char *error, size_t size);

#endif
