/* SPDX-License-Identifier: MIT */
/* A load by nv-codec-headers, which declares CUDA's types itself and finds the driver by the
 * system's own search. */
#include "load_nv.h"

#ifdef HAVE_NV_CODEC_HEADERS
#define FFNV_LOG_FUNC(context, ...) ((void)(context))
#define FFNV_DEBUG_LOG_FUNC(context, ...) ((void)(context))
#include <ffnvcodec/dynlink_loader.h>

int load_nv(const char *path)
{
    CudaFunctions *functions = NULL;
    (void)path;
    return cuda_load_functions(&functions, NULL) == 0;
}
#else
int load_nv(const char *path)
{
    (void)path;
    return 0;
}
#endif
