/* SPDX-License-Identifier: MIT */
/**
 * @file
 * What `cushim symbols` and its --audit share.
 */
#ifndef CUSHIM_TOOLS_SYMBOLS_H
#define CUSHIM_TOOLS_SYMBOLS_H

#include <cushim/cushim.h>

#include <jansson.h>

struct symbols_options {
    const char *driver; /* NULL: search */
    const char *glob;   /* NULL: all names */
    int since;          /* 0: all releases */
    bool missing;
    bool audit;
    bool json;
};

/** Whether the entry's release and name are among those asked for; --missing is not looked at. */
bool symbols_wanted(const struct symbols_options *options, const struct cushim_entry *entry);

/** {"symbol", "name", "since", "stream", "header"} of an entry. */
json_t *symbols_entry_json(const struct cushim_entry *entry);

/** Add "state", "via" and "offset" of a slot to an object. */
void symbols_slot_json(json_t *object, const struct cushim_api *cu, const struct cushim_slot *slot);

/** Compare the two routes to each entry and print where they disagree. Returns an exit code. */
int symbols_audit(const struct symbols_options *options);

#endif
