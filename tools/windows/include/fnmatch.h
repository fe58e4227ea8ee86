/* SPDX-License-Identifier: MIT */
#ifndef CUSHIM_WINDOWS_FNMATCH_H
#define CUSHIM_WINDOWS_FNMATCH_H

/* Of flags only 0. Patterns have *, ? and [...]. */
int fnmatch(const char *pattern, const char *text, int flags);

#endif
