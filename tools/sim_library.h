/* SPDX-License-Identifier: MIT */
/* What `cushim sim` can simulate: the libraries beside the command, and the settings. */
#ifndef CUSHIM_TOOLS_SIM_LIBRARY_H
#define CUSHIM_TOOLS_SIM_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

/* The versions that there are, ascending: 12040 is 12.4. How many. */
int sim_versions(int *versions, int most);

/* Versions and profiles to stdout; an exit code. */
int sim_list(void);

/* An option's value, or its variable's where the option is not given; NULL: neither is. */
const char *sim_setting(const char *option, const char *variable);

/* Whether the settings can be used; NULL stands for the default. Says on stderr what cannot, as the
 * subcommand `command`. */
bool sim_settings_good(const char *command, const char *cuda, const char *devices,
                       const char *profile, const char *memory, const char *workers,
                       const char *time_limit, const char *grain, const char *checks);
/* Of rules; or of entries that a program survives. */
bool sim_faults_good(const char *command, bool survived, const char *faults);

/* The version of a library by its file's name; 0 for any other file. */
int sim_library_version(const char *path);

/* Path of the library of a version, e.g. 12.4; NULL: the newest. An exit code other than
 * COMMAND_OK where there is none, after saying so. */
int sim_library_find(const char *cuda, char *path, size_t size);

#endif
