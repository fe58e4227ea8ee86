/* SPDX-License-Identifier: MIT */
#ifndef CUSHIM_SIM_PTX_READ_LINK_H
#define CUSHIM_SIM_PTX_READ_LINK_H

struct reader;

void link_sources(struct reader *reader);

#endif
