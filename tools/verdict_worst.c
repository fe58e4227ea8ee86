/* SPDX-License-Identifier: MIT */
#include "verdict.h"

#include <stdio.h>

/* Whether a verdict decides, and not the one that did so far. */
static bool is_worse(const struct verdict *verdict, const struct verdict *than)
{
    if (verdict->answer != than->answer)
        return verdict->answer > than->answer;
    if (verdict->rank != than->rank)
        return verdict->rank < than->rank;
    return verdict->needs > than->needs;
}

size_t verdict_worst(const struct verdict *all, size_t count, struct verdict *worst)
{
    const struct verdict *newest = NULL, *other = NULL;
    size_t deciding = 0;

    for (size_t i = 1; i < count; i++)
        deciding = is_worse(&all[i], &all[deciding]) ? i : deciding;
    *worst = all[deciding];
    if (worst->answer != VERDICT_FAILS)
        return deciding;
    for (size_t i = 0; i < count; i++) {
        if (all[i].answer != VERDICT_FAILS || all[i].fix[0] == '\0')
            continue;
        if (all[i].needs > 0 && (!newest || all[i].needs > newest->needs ||
                                 (all[i].needs == newest->needs && i == deciding)))
            newest = &all[i];
        if (all[i].needs == 0 && (!other || i == deciding))
            other = &all[i];
    }
    if (newest && other)
        snprintf(worst->fix, sizeof worst->fix, "%.150s; and %.150s", newest->fix, other->fix);
    else if (newest && newest->needs > worst->needs)
        snprintf(worst->fix, sizeof worst->fix, "%s", newest->fix);
    return deciding;
}
