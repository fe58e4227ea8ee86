/* SPDX-License-Identifier: MIT */
/* Made by hand for tests/gen. */
#ifndef TOY_VDPAU_H
#define TOY_VDPAU_H

#include <cuda.h>
#include <vdpau/vdpau.h>

CUresult CUDAAPI cuVDPAUGetDevice(CUdevice *pDevice, VdpDevice vdpDevice,
                                  VdpGetProcAddress *vdpGetProcAddress);

#endif
