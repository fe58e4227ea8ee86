/* SPDX-License-Identifier: MIT */
/* Text of PTX, bit by bit: for sim-wgmma and sim-mma. */
#ifndef CUSHIM_TEST_PUT_H
#define CUSHIM_TEST_PUT_H

/* At the end of a text that has room for it; the end moves on. */
__attribute__((format(printf, 2, 3))) void put(char **at, const char *format, ...);
/* {%d0, %d1, ...}, for the name d */
void put_list(char **at, char name, unsigned count);

#endif
