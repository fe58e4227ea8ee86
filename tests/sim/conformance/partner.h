/* SPDX-License-Identifier: MIT */
/* Sequences of two processes: the second, the partner, is a child from before cuInit. They take
 * turns, and both record: a line of the partner's begins with a >. */
#ifndef TESTS_SIM_CONFORM_PARTNER_H
#define TESTS_SIM_CONFORM_PARTNER_H

#include "conform.h"

/* Both get the primary context of device 0. Here it returns; the partner does `work` and ends. */
void partner_begin(void (*work)(void));
/* Something for the other process, whose turn it is then. */
void partner_give(const void *bytes, size_t size);
void partner_give_file(int file);
void partner_take(void *bytes, size_t size);
int partner_take_file(void);
void partner_turn(void); /* the other goes on, until it says the same */
void partner_end(void);  /* until the partner has ended */
void partner_kill(void); /* the partner ends by a signal, whatever it does */

#endif
