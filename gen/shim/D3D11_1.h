/* SPDX-License-Identifier: MIT */
/* Stand-in for the system header of this name: just the types that the CUDA headers use. */
#ifndef SHIM_D3D11_H
#define SHIM_D3D11_H
typedef struct IDXGIAdapter IDXGIAdapter;
typedef struct ID3D11Device ID3D11Device;
typedef struct ID3D11Resource ID3D11Resource;
#endif
