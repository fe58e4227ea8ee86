/* SPDX-License-Identifier: MIT */
/* Generated from gen/registry/entries.jsonl by gen/emit.py. Do not edit. */

#ifndef CUSHIM_SIM_BEHAVIOURS_H
#define CUSHIM_SIM_BEHAVIOURS_H


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

#endif
