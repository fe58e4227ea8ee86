/* SPDX-License-Identifier: MIT */
/* Made by hand for tests/gen. */
#ifndef TOY_CUDA_H
#define TOY_CUDA_H

#include <stdint.h>
#include <stdlib.h>

#define CUDA_VERSION 12000

#ifdef _WIN32
#define CUDAAPI __stdcall
#define CUDA_CB __stdcall
#else
#define CUDAAPI
#define CUDA_CB
#endif

#define CU_LIMIT 0x10
#define CU_LIMIT_CAST ((CUstream) 0x1)
#define CU_LIMIT_SUM (CU_LIMIT + 1)
#define CU_SQUARE(x) ((x) * (x))
#define CU_EMPTY
#define TOY_LIMIT 3

typedef enum cudaError_enum {
    CUDA_SUCCESS = 0,
    CUDA_ERROR_INVALID_VALUE = 1
} CUresult;

typedef enum CUcolor_enum {
    CU_COLOR_RED = 1,
    CU_COLOR_GREEN = 2,
    CU_COLOR_BLUE = 3,
    CU_COLOR_BACK = 4,
    CU_COLOR_MAX = 0x7fffffff
} CUcolor;

typedef enum CUshade_enum {
    CU_SHADE_UNKNOWN = -1,
    CU_SHADE_DARK = 0
} CUshade;

typedef enum {
    CU_UNTAGGED_ONE = 1
} CUuntagged;

typedef unsigned int cuuint32_t;
typedef int CUdevice_v1;
typedef CUdevice_v1 CUdevice;
typedef struct CUstream_st *CUstream;
typedef const struct CUtable_st *CUtable;
typedef struct CUopaque_st CUopaque;
typedef void(CUDA_CB *CUcallback)(CUstream hStream, CUresult status, void *userData);
typedef CUresult (*CUaction)(void);

typedef struct CUbytes_st {
    char bytes[16];
} CUbytes;
typedef CUbytes CUbytes_v1;

struct CUbox_st {
    size_t width, height;
    const void *data;
    CUopaque **parts;
    struct CUbox_st *next;
    char name[4][8];
};
typedef struct CUbox_st CUbox_v1;
typedef CUbox_v1 CUbox;

typedef struct CUnode_st {
    int kind;
    union {
        int number;
        struct {
            float x, y;
        } point;
    };
    int weight;
    union CUnodeData_union {
        CUcallback callback;
        unsigned char padding[64];
    } data[2];
    struct {
        int left, right;
    };
} CUnode;

typedef union CUvalue_union {
    int i;
    double d;
} CUvalue;

typedef struct CUaligned_st {
    _Alignas(64) unsigned long long opaque[16];
} CUaligned;

typedef struct CUpassing_st {
    int only;
} CUpassing;

CUresult CUDAAPI cuInit(unsigned int Flags);

#ifdef __CUDA_API_VERSION_INTERNAL
typedef struct CUold_st {
    unsigned int size;
} CUold;
#endif

#endif
