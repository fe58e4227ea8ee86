/* SPDX-License-Identifier: MIT */
/* Generated from gen/registry/entries.jsonl by gen/emit.py. Do not edit. */
/* A slot is never NULL, so a test for NULL does not do what it did. In this mode a slot can be
 * called, and CUSHIM_HAS(cu, name) finds out whether the driver has it. All else does not compile:
 * a comparison, a condition, an assignment. The layout is the true table's, struct cushim_slots. */
#ifndef CUSHIM_CALLS_ONLY_H
#define CUSHIM_CALLS_ONLY_H

#ifndef CUSHIM_API_H
#error "include cushim/cushim.h, with CUSHIM_CALLS_ONLY defined"
#endif

#ifdef __cplusplus
#define CUSHIM_CALL(name) struct { decltype(cushim_slots::name) call; } name;
#else
#define CUSHIM_CALL(name) struct { __typeof__(((struct cushim_slots *)0)->name) call; } name;
#endif

struct cushim_api {
    size_t size;
    struct cushim_instance *instance;
    CUSHIM_CALL(cuDriverGetVersion)
    CUSHIM_CALL(cuInit)
    CUSHIM_CALL(cuMemAlloc_v1)
    CUSHIM_CALL(cuMemAlloc_v2)
    CUSHIM_CALL(cuD3D9CtxCreate)
    CUSHIM_CALL(cuGetErrorName)
    CUSHIM_CALL(cuGetErrorString)
    CUSHIM_CALL(cuMemcpy)
    CUSHIM_CALL(cuMemcpy_ptds)
    CUSHIM_CALL(cuLaunchHostFunc)
    CUSHIM_CALL(cuLaunchHostFunc_ptsz)
    CUSHIM_CALL(cuGetProcAddress_v1)
    CUSHIM_CALL(cuGetProcAddress_v2)
    CUSHIM_CALL(cuNodeSet)
    CUSHIM_CALL(cuPass)
};

#undef CUSHIM_CALL

#endif
