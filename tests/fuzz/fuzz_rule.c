/* SPDX-License-Identifier: MIT */
/* Fuzzing the reader of fault rules: CUSHIM_SIM_FAULT, --fault and cushim_sim_fault take them from
 * whoever starts the program. A rule is refused with a sentence, or holds together. */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "call/call.h"
#include "call/fault.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1), error[64] = "";
    struct rule rule, again;
    if (!text)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    if (!sim_rule_parse(&sim_fault_rules, text, &rule, error, sizeof error)) {
        if (!*error || !memchr(error, '\0', sizeof error))
            abort();
    } else if (!memchr(rule.name, '\0', sizeof rule.name) ||
               !memchr(rule.text, '\0', sizeof rule.text) || rule.probability < 0 ||
               rule.probability > 1 || (rule.kind == RULE_CALL && !*rule.name) ||
               !sim_rule_parse(&sim_fault_rules, rule.text, &again, error, sizeof error) ||
               again.kind != rule.kind || again.error != rule.error ||
               strcmp(again.name, rule.name) != 0) { /* its own text is the same rule */
        abort();
    }
    free(text);
    return 0;
}
