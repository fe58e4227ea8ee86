/* SPDX-License-Identifier: MIT */
/* Generated from gen/registry/entries.jsonl by gen/emit.py. Do not edit. */

#ifndef CUSHIM_SIM_BEHAVIOURS_H
#define CUSHIM_SIM_BEHAVIOURS_H

#include <cushim/cuda.h>


CUresult sim_cuDriverGetVersion(int *driverVersion);
CUresult sim_cuInit(unsigned int Flags);
CUresult sim_cuMemAlloc(CUdeviceptr_v1 *dptr, unsigned int bytesize);
CUresult sim_cuMemAlloc_v2(CUdeviceptr *dptr, size_t bytesize);
CUresult sim_cuGetErrorName(CUresult error, const char **pStr);
CUresult sim_cuGetErrorString(CUresult error, const char **pStr);
CUresult sim_cuMemcpy(CUdeviceptr dst, const void *src, size_t bytes);
CUresult sim_cuLaunchHostFunc(CUstream hStream, CUhostFn fn, void *userData);
CUresult sim_cuGetProcAddress(const char *symbol, void **pfn, int cudaVersion, cuuint64_t flags);
CUresult sim_cuGetProcAddress_v2(const char *symbol, void **pfn, int cudaVersion, cuuint64_t flags,
    CUdriverProcAddressQueryResult *symbolStatus);
CUresult sim_cuNodeSet(const CUnode *node, CUtable table);
CUresult sim_cuPass(CUpassing *passing);

#define SIM_ENTRY_COUNT 14
#define SIM_ENTRIES_ID 0x74f0347e03f5319bU /* of their order */
#define SIM_NEWEST 12010

enum sim_number { /* in sim_entries */
    SIM_NUMBER_cuDriverGetVersion,
    SIM_NUMBER_cuInit,
    SIM_NUMBER_cuMemAlloc,
    SIM_NUMBER_cuMemAlloc_v2,
    SIM_NUMBER_cuGetErrorName,
    SIM_NUMBER_cuGetErrorString,
    SIM_NUMBER_cuMemcpy,
    SIM_NUMBER_cuMemcpy_ptds,
    SIM_NUMBER_cuLaunchHostFunc,
    SIM_NUMBER_cuLaunchHostFunc_ptsz,
    SIM_NUMBER_cuGetProcAddress,
    SIM_NUMBER_cuGetProcAddress_v2,
    SIM_NUMBER_cuNodeSet,
    SIM_NUMBER_cuPass,
};

#endif
