/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Words for which driver serves which toolkit.
 */
#ifndef CUSHIM_TOOLS_COMPAT_H
#define CUSHIM_TOOLS_COMPAT_H

#include <cushim/compat.h>

enum { COMPAT_PTX_SIZE = 16, COMPAT_SUMMARY_SIZE = 256 };

/** The newest PTX version of a release: "8.4"; NULL where it is not known. */
const char *compat_ptx(char text[COMPAT_PTX_SIZE], int release);

/** One line: what a driver of a release runs. Returns `text`. */
const char *compat_summary(char text[COMPAT_SUMMARY_SIZE], int release);

#endif
