/* SPDX-License-Identifier: MIT */
/* The folder that `cushim sim` puts in front of a program's library search. */
#ifndef CUSHIM_TOOLS_SIM_FOLDER_H
#define CUSHIM_TOOLS_SIM_FOLDER_H

#include <stdbool.h>
#include <sys/types.h>

#define SIM_FOLDER_USAGE "usage"   /* a file in it, for what the processes use of the devices */
#define SIM_FOLDER_REPORT "report" /* a file in it, where the processes add what they report */

struct sim_folder {
    char *path;
    pid_t guard; /* removes the folder when this process ends, however it does */
    int alive;   /* closed then, which the guard sees */
};

/**
 * Make a private folder with libcuda.so.1 and libcuda.so, for sim_folder_remove.
 *
 * @param library  what they are links to
 * @param faults   rules; each missing:SYMBOL takes the symbol out of the library's exports
 * @return false after saying why on stderr
 */
bool sim_folder_make(const char *library, const char *faults, struct sim_folder *folder);

/** When it returns the folder is gone. */
void sim_folder_remove(struct sim_folder *folder);

#endif
