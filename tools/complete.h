/* SPDX-License-Identifier: MIT */
/**
 * @file
 * What a shell offers behind `cushim`: from the tables of the subcommands.
 */
#ifndef CUSHIM_TOOLS_COMPLETE_H
#define CUSHIM_TOOLS_COMPLETE_H

/**
 * Print what the last word may become, a line each, with a tab and a description where there is
 * one. The line ":files" stands for names of files, ":program" for a program's own command line.
 *
 * @param words  behind "cushim"
 * @return an exit code
 */
int complete(int count, char **words);

#endif
