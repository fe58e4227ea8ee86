/* SPDX-License-Identifier: MIT */
/* Generated from gen/registry/entries.jsonl by gen/emit.py. Do not edit. */

#include "thin/thin.h"

/* Here a name is the exported symbol itself. */
#undef cuDriverGetVersion
#undef cuInit
#undef cuMemAlloc
#undef cuMemAlloc_v2
#undef cuGetErrorName
#undef cuGetErrorString
#undef cuMemcpy
#undef cuMemcpy_ptds
#undef cuLaunchHostFunc
#undef cuLaunchHostFunc_ptsz
#undef cuGetProcAddress
#undef cuGetProcAddress_v2
#undef cuNodeSet
#undef cuPass

SIM_STUBS_BEGIN

SIM_STUB(cuDriverGetVersion, 0, (int *driverVersion), (driverVersion))
SIM_STUB(cuInit, 1, (unsigned int Flags), (Flags))
SIM_STUB(cuMemAlloc, 2, (CUdeviceptr_v1 *dptr, unsigned int bytesize), (dptr, bytesize))
SIM_STUB(cuMemAlloc_v2, 3, (CUdeviceptr *dptr, size_t bytesize), (dptr, bytesize))
SIM_STUB(cuGetErrorName, 4, (CUresult error, const char **pStr), (error, pStr))
SIM_STUB(cuGetErrorString, 5, (CUresult error, const char **pStr), (error, pStr))
SIM_STUB(cuMemcpy, 6, (CUdeviceptr dst, const void *src, size_t bytes), (dst, src, bytes))
SIM_STUB(cuMemcpy_ptds, 7, (CUdeviceptr dst, const void *src, size_t bytes), (dst, src, bytes))
SIM_STUB(cuLaunchHostFunc, 8, (CUstream hStream, CUhostFn fn, void *userData), (hStream, fn,
    userData))
SIM_STUB(cuLaunchHostFunc_ptsz, 9, (CUstream hStream, CUhostFn fn, void *userData), (hStream, fn,
    userData))
SIM_STUB(cuGetProcAddress, 10, (const char *symbol, void **pfn, int cudaVersion, cuuint64_t flags),
    (symbol, pfn, cudaVersion, flags))
SIM_STUB(cuGetProcAddress_v2, 11, (const char *symbol, void **pfn, int cudaVersion, cuuint64_t
    flags, CUdriverProcAddressQueryResult *symbolStatus), (symbol, pfn, cudaVersion, flags,
    symbolStatus))
SIM_STUB(cuNodeSet, 12, (const CUnode *node, CUtable table), (node, table))
SIM_STUB(cuPass, 13, (CUpassing *passing), (passing))

#ifdef SIM_STUB_ADDRESS
static void *const addresses[] = {
    SIM_STUB_ADDRESS(cuDriverGetVersion),
    SIM_STUB_ADDRESS(cuInit),
    SIM_STUB_ADDRESS(cuMemAlloc),
    SIM_STUB_ADDRESS(cuMemAlloc_v2),
    SIM_STUB_ADDRESS(cuGetErrorName),
    SIM_STUB_ADDRESS(cuGetErrorString),
    SIM_STUB_ADDRESS(cuMemcpy),
    SIM_STUB_ADDRESS(cuMemcpy_ptds),
    SIM_STUB_ADDRESS(cuLaunchHostFunc),
    SIM_STUB_ADDRESS(cuLaunchHostFunc_ptsz),
    SIM_STUB_ADDRESS(cuGetProcAddress),
    SIM_STUB_ADDRESS(cuGetProcAddress_v2),
    SIM_STUB_ADDRESS(cuNodeSet),
    SIM_STUB_ADDRESS(cuPass),
};
#endif
SIM_STUBS_END
