/* SPDX-License-Identifier: MIT */
/* Stand-in for the system header of this name: just the types that the CUDA headers use. */
#ifndef SHIM_D3D9_H
#define SHIM_D3D9_H
typedef struct IDirect3DDevice9 IDirect3DDevice9;
typedef struct IDirect3DResource9 IDirect3DResource9;
typedef struct IDirect3DVertexBuffer9 IDirect3DVertexBuffer9;
#endif
