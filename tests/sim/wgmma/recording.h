/* SPDX-License-Identifier: MIT */
/* A file of lines that a device wrote: compared line by line with what the driver in use gives, or
 * written anew. For sim-wgmma and sim-mma. */
#ifndef CUSHIM_TEST_RECORDING_H
#define CUSHIM_TEST_RECORDING_H

#include <cuda.h>
#include <stdbool.h>
#include <stdio.h>

struct recording {
    FILE *file;
    bool anew;
    unsigned lines, differing;
};

/* Ends the program with 1 unless the code is 0. */
void recording_check(CUresult code, const char *what);
/* By the program's arguments, FILE or record FILE; false: they are others. */
bool recording_open(struct recording *recording, int count, char **words);
/* Makes the context of a device of compute capability 9.0 current; ends the program with 77 if
 * there is none. */
CUdevice recording_device(void);
void recording_line(struct recording *recording, const char *line);
/* The program's exit code. */
int recording_close(struct recording *recording);

#endif
