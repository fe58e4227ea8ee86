/* SPDX-License-Identifier: MIT */
/* The line of a program's source that called the driver. */
#ifndef CUSHIM_TOOLS_PLACE_H
#define CUSHIM_TOOLS_PLACE_H

#include <limits.h>
#include <stdbool.h>

enum { PLACE_SIZE = 192 };

/**
 * The first function behind a call that is neither cushim's nor of a C++ library.
 *
 * @param callers  "\t/path/program+0x12\t/path/library+0x34", from the call outwards, as the
 *                 simulated driver writes them if CUSHIM_SIM_CALLERS is 1
 * @param text     "main.cpp:42 (upload)"; "program+0x12 (upload)" or "program+0x12" if its file has
 *                 no lines, or there is no addr2line; empty if `callers` has none, or it is Python
 * @return text
 */
const char *place_of(const char *callers, char text[PLACE_SIZE]);

/** Whether a destructor of cushim.hpp made the call. False: not so, or not known. */
bool place_is_owner(const char *callers);

/** A file's path, relative to the working directory if it is below that. */
void place_source(char text[PATH_MAX], const char *source);

#endif
