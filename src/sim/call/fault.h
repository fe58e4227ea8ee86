/* SPDX-License-Identifier: MIT */
/* Faults on demand: rules that answer, delay or forbid calls. */
#ifndef CUSHIM_SIM_CALL_FAULT_H
#define CUSHIM_SIM_CALL_FAULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SIM_RULE_SENTENCE 640 /* bytes of one about a rule or a setting */

struct rule;
struct sim_call;
struct sim_entry;

extern const struct sim_rule_family sim_fault_rules; /* of rules that name the driver's entries */

/* Add the rules of one text, "RULE;RULE;...", as include/cushim/sim.h has them. False: *error is a
 * sentence about the first that cannot be used; the others are added. */
bool sim_fault_add(const char *text, char *error, size_t size);
/* The same without adding any. */
bool sim_fault_check(const char *text, char *error, size_t size);
/* Whether a word names an entry; if not, *error is a sentence about it. */
bool sim_fault_entry(const char *name, char *error, size_t size);
void sim_fault_clear(void);
/* The rule that made this thread's last call fail; NULL: none did. */
const char *sim_fault_last(void);
const struct rule *sim_fault_at(size_t i); /* of those in force; NULL: after the last */
/* Whether it is known how often the rule had an effect: what is missing from the library's exports
 * is asked for at the system's loader. */
bool sim_fault_can_be_seen(const struct rule *rule);

/* Whether an entry of this name ends an object. */
bool sim_fault_is_release(const char *name);

/* For call.c: whether the call is answered now, with call->result. May sleep without the lock. */
bool sim_fault_before(struct sim_call *call);
/* For proc.c and the resolver. */
bool sim_fault_missing(const struct sim_entry *entry);
bool sim_fault_traps(void);
/* For sim_exports.c: aborts, after saying what a trap is for. */
_Noreturn void sim_fault_trap(size_t entry);
/* Remember what a trap would say: `entry` was given for a request that meant a newer ABI. */
void sim_fault_wrong(const struct sim_entry *entry, const char *meant, int version);

#endif
