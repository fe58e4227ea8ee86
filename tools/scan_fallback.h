/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Calls behind whose failure, of any cause, an older entry is called.
 */
#ifndef CUSHIM_TOOLS_SCAN_FALLBACK_H
#define CUSHIM_TOOLS_SCAN_FALLBACK_H

#include "scan_source.h"
#include "scan_text.h"

/** The condition or handler that leads from a call in a part of the text to an older entry's; NULL:
 * there is none. */
const char *scan_fallback_find(const struct scan_source *source, struct scan_part part,
                               const struct scan_source_call *call);

#endif
