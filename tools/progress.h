/* SPDX-License-Identifier: MIT */
/**
 * @file
 * A bar on the terminal for what takes longer than a moment; nothing where stderr is no terminal.
 */
#ifndef CUSHIM_TOOLS_PROGRESS_H
#define CUSHIM_TOOLS_PROGRESS_H

#include <stdbool.h>

/** Whether there is a terminal for a bar. */
bool progress_has_bar(void);

/** Begin a piece of work of this name, which is kept until progress_end. */
void progress_begin(const char *name);

/** So much is done; the signature is that of check_run.progress, `user` is not used. */
void progress_set(void *user, unsigned done, unsigned of);

/** Take the bar away, if there is one. */
void progress_end(void);

#endif
