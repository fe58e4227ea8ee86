/* SPDX-License-Identifier: MIT */
/* Generated from gen/registry/features.jsonl by gen/emit.py. Do not edit. */

#ifndef CUSHIM_FEATURE_NAMES_H
#define CUSHIM_FEATURE_NAMES_H

/** What a driver can do. Values never change; new ones are added at the end. */
enum cushim_feature {
    /** Device memory. */
    CUSHIM_FEATURE_MEMORY = 0,
    /** Host functions. */
    CUSHIM_FEATURE_HOST_FUNCTIONS = 1,
    /** What the new attribute tells. */
    CUSHIM_FEATURE_THE_NEW_ONE = 2
};

#endif
