/* SPDX-License-Identifier: MIT */
/*
 * The entries of the fake drivers: ROW(exported symbol, name, release, per-thread). Included
 * several times with another ROW, so no include guard. A fake of release FAKE_ROWS has the rows up
 * to that release, as a real driver of that age would.
 *
 * Chosen for what they can go wrong with: names with several ABIs, whose newer ones appear in
 * different releases, and names with per-thread twins.
 */
ROW(cuDeviceGet, cuDeviceGet, 2000, 0)
ROW(cuDeviceGetCount, cuDeviceGetCount, 2000, 0)
ROW(cuMemAlloc, cuMemAlloc, 2000, 0)
ROW(cuMemAlloc_v2, cuMemAlloc, 3020, 0)
ROW(cuMemcpyHtoD, cuMemcpyHtoD, 2000, 0)
ROW(cuMemcpyHtoD_v2, cuMemcpyHtoD, 3020, 0)
ROW(cuCtxCreate, cuCtxCreate, 2000, 0)
ROW(cuCtxCreate_v2, cuCtxCreate, 3020, 0)
ROW(cuCtxSynchronize, cuCtxSynchronize, 2000, 0)
ROW(cuStreamQuery, cuStreamQuery, 2000, 0)
ROW(cuLaunchKernel, cuLaunchKernel, 4000, 0)
#if FAKE_ROWS >= 7000
ROW(cuMemcpyHtoD_v2_ptds, cuMemcpyHtoD, 7000, 1)
ROW(cuStreamQuery_ptsz, cuStreamQuery, 7000, 1)
ROW(cuLaunchKernel_ptsz, cuLaunchKernel, 7000, 1)
#endif
#if FAKE_ROWS >= 8000
ROW(cuMemPrefetchAsync, cuMemPrefetchAsync, 8000, 0)
ROW(cuMemPrefetchAsync_ptsz, cuMemPrefetchAsync, 8000, 1)
#endif
#if FAKE_ROWS >= 10010
ROW(cuStreamBeginCapture, cuStreamBeginCapture, 10000, 0)
ROW(cuStreamBeginCapture_ptsz, cuStreamBeginCapture, 10000, 1)
ROW(cuStreamBeginCapture_v2, cuStreamBeginCapture, 10010, 0)
ROW(cuStreamBeginCapture_v2_ptsz, cuStreamBeginCapture, 10010, 1)
#endif
#if FAKE_ROWS >= 11040
ROW(cuCtxCreate_v3, cuCtxCreate, 11040, 0)
#endif
#if FAKE_ROWS >= 12020
ROW(cuMemPrefetchAsync_v2, cuMemPrefetchAsync, 12020, 0)
ROW(cuMemPrefetchAsync_v2_ptsz, cuMemPrefetchAsync, 12020, 1)
#endif
#if FAKE_ROWS >= 12050
ROW(cuCtxCreate_v4, cuCtxCreate, 12050, 0)
#endif
#if FAKE_ROWS >= 13000
ROW(cuCtxSynchronize_v2, cuCtxSynchronize, 13000, 0)
#endif
#if FAKE_ROWS >= 99000
/* What no registry knows: a new ABI of an old name, and a new name. */
ROW(cuMemAlloc_v7, cuMemAlloc, 99000, 0)
ROW(cuFutureThing, cuFutureThing, 99000, 0)
#endif
