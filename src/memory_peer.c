/* SPDX-License-Identifier: MIT */
#include "memory_internal.h"
#include "scope.h"

static CUresult peer_check(const struct cushim_api *cu, const char *helper, CUdeviceptr dst,
                           CUcontext dst_context, CUdeviceptr src, CUcontext src_context,
                           size_t bytes)
{
    CUresult code = cushim_context_required(cu, dst_context, helper, "dst_context");
    if (code == CUDA_SUCCESS)
        code = cushim_context_required(cu, src_context, helper, "src_context");
    if (code == CUDA_SUCCESS)
        code = cushim_check_range(cu, helper, "dst", dst, bytes);
    return code == CUDA_SUCCESS ? cushim_check_range(cu, helper, "src", src, bytes) : code;
}

static CUresult peer_done(CUresult code, CUdeviceptr dst, CUdeviceptr src, size_t bytes)
{
    return cushim_with(code, "dst: %#zx, src: %#zx, bytes: %zu", (size_t)dst, (size_t)src, bytes);
}

CUresult cushim_copy_peer(const struct cushim_api *cu, CUdeviceptr dst, CUcontext dst_context,
                          CUdeviceptr src, CUcontext src_context, size_t bytes)
{
    CUresult code = peer_check(cu, __func__, dst, dst_context, src, src_context, bytes);
    if (code != CUDA_SUCCESS || !bytes)
        return code;
    return peer_done(
        CUSHIM_TRY(cu, __func__, cuMemcpyPeer, dst, dst_context, src, src_context, bytes), dst, src,
        bytes);
}

CUresult cushim_copy_peer_async(const struct cushim_api *cu, CUdeviceptr dst, CUcontext dst_context,
                                CUdeviceptr src, CUcontext src_context, size_t bytes,
                                CUstream stream)
{
    CUresult code = peer_check(cu, __func__, dst, dst_context, src, src_context, bytes);
    if (code != CUDA_SUCCESS || !bytes)
        return code;
    return peer_done(CUSHIM_TRY(cu, __func__, cuMemcpyPeerAsync, dst, dst_context, src, src_context,
                                bytes, stream),
                     dst, src, bytes);
}

CUresult cushim_peer_enable(const struct cushim_api *cu, CUcontext context, CUcontext peer)
{
    struct cushim_scope scope;
    CUresult code = cushim_context_required(cu, context, __func__, "context");
    if (code == CUDA_SUCCESS)
        code = cushim_context_required(cu, peer, __func__, "peer");
    if (code == CUDA_SUCCESS)
        code = cushim_scope_begin(cu, context, __func__, &scope);
    if (code != CUDA_SUCCESS)
        return code;
    code = cu->cuCtxEnablePeerAccess(peer, 0);
    if (code == CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED)
        code = CUDA_SUCCESS;
    code = cushim_checked(code, __func__, "cuCtxEnablePeerAccess");
    return cushim_scope_end(&scope, __func__, code);
}

CUresult cushim_peer_disable(const struct cushim_api *cu, CUcontext context, CUcontext peer)
{
    struct cushim_scope scope;
    CUresult code = cushim_context_required(cu, context, __func__, "context");
    if (code == CUDA_SUCCESS)
        code = cushim_context_required(cu, peer, __func__, "peer");
    if (code == CUDA_SUCCESS)
        code = cushim_scope_begin(cu, context, __func__, &scope);
    if (code != CUDA_SUCCESS)
        return code;
    code = cu->cuCtxDisablePeerAccess(peer);
    if (code == CUDA_ERROR_PEER_ACCESS_NOT_ENABLED)
        code = CUDA_SUCCESS;
    code = cushim_checked(code, __func__, "cuCtxDisablePeerAccess");
    return cushim_scope_end(&scope, __func__, code);
}
