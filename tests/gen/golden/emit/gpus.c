/* SPDX-License-Identifier: MIT */
/* Generated from gen/registry/gpus.jsonl, drivers.jsonl by gen/emit.py. Do not edit. */

#include "facts.h"

const struct facts_architecture facts_architectures[] = {
    {10, 340, "old", false},
    {11, 340, "old", false},
    {90, 0, "new", false},
    {53, 0, "tegra", true},
};
const size_t facts_architecture_count = 4;

const struct facts_gpu facts_gpus[] = {
    {"H1", 90},
};
const size_t facts_gpu_count = 1;

const struct facts_runtime facts_runtimes[] = {
    {"libcudart.so.12", 12000},
};
const size_t facts_runtime_count = 1;

const struct facts_branch facts_branches[] = {
    {525, 12000},
};
const size_t facts_branch_count = 1;
