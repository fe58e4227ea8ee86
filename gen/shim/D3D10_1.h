/* SPDX-License-Identifier: MIT */
/* Stand-in for the system header of this name: just the types that the CUDA headers use. */
#ifndef SHIM_D3D10_H
#define SHIM_D3D10_H
typedef struct IDXGIAdapter IDXGIAdapter;
typedef struct ID3D10Device ID3D10Device;
typedef struct ID3D10Resource ID3D10Resource;
#endif
