/* SPDX-License-Identifier: MIT */
/* What the files of fuzz_api share and the generated calls do not need. */
#ifndef CUSHIM_TEST_FUZZ_API_STATE_H
#define CUSHIM_TEST_FUZZ_API_STATE_H

#include "fuzz_api.h"

/* Numbers of the kinds of handles, generated. */
extern const int fuzz_kind_host, fuzz_kind_CUdeviceptr_v2, fuzz_kind_CUtexObject_v1,
    fuzz_kind_CUcontext, fuzz_kind_CUmodule, fuzz_kind_CUfunction, fuzz_kind_CUstream,
    fuzz_kind_CUevent, fuzz_kind_CUtexref, fuzz_kind_CUgraph;

bool sim_address_is_device(uint64_t address); /* the simulator's (memory_address.c) */
void fuzz_remember(int kind, uint64_t value);
/* Any call, then the end of its arguments. */
void fuzz_one(struct fuzz *f);

#endif
