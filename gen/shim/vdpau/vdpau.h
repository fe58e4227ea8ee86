/* SPDX-License-Identifier: MIT */
/* Stand-in for the system header of this name: just the types that the CUDA headers use. */
#ifndef SHIM_VDPAU_H
#define SHIM_VDPAU_H
typedef unsigned int VdpDevice;
typedef unsigned int VdpVideoSurface;
typedef unsigned int VdpOutputSurface;
typedef unsigned int VdpGetProcAddress(unsigned int device, unsigned int function, void **pointer);
#endif
