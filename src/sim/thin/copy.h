/* SPDX-License-Identifier: MIT */
#ifndef CUSHIM_SIM_THIN_COPY_H
#define CUSHIM_SIM_THIN_COPY_H

/* Open a copy of a library, with variables of its own, although the library is open already; NULL:
 * dlerror() says why, if it has words. */
void *sim_copy_open(const char *path);

#endif
