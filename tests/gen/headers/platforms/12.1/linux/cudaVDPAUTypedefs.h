/* SPDX-License-Identifier: MIT */
/* Made by hand for tests/gen. */
#ifndef TOY_VDPAUTYPEDEFS_H
#define TOY_VDPAUTYPEDEFS_H

#include <cudaVDPAU.h>

typedef CUresult(CUDAAPI *PFN_cuVDPAUGetDevice_v3010)(CUdevice *pDevice, VdpDevice vdpDevice,
                                                      VdpGetProcAddress *vdpGetProcAddress);

#endif
