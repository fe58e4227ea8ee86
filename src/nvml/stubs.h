/* SPDX-License-Identifier: MIT */
/* What a slot of NVML's table does that no library fills. */
#ifndef CUSHIM_NVML_STUBS_H
#define CUSHIM_NVML_STUBS_H

#include "loader/stubs.h"
#include "nvml/entries.h"

/* Fill a slot with a stub: without NVML at all, or where a library lacks the entry. */
void cushim_nvml_stubs_set(struct cushim_nvml *table, size_t index, bool without);

bool cushim_nvml_stubs_is_stub(const struct cushim_nvml *table, size_t index);

/* What the stubs jump to. */
CUSHIM_KEPT int cushim_stubs_nvml_without(unsigned index);
CUSHIM_KEPT int cushim_stubs_nvml_lacking(unsigned index);

/* For the sentences: why there is no NVML, and the library that lacks an entry. NULL: not known. */
void cushim_nvml_stubs_explain(const char *why, const char *path);

#endif
