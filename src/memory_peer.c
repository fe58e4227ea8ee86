/* SPDX-License-Identifier: MIT */
#include "memory_internal.h"
#include "scope.h"

static CUresult peer_require(const char *helper, const char *argument, CUcontext context)
{
    if (context)
        return CUDA_SUCCESS;
    return cushim_refuse(CUDA_ERROR_INVALID_CONTEXT, helper, "%s: NULL", argument);
}

static CUresult peer_check(const struct cushim *cu, const char *helper, CUdeviceptr dst,
                           CUcontext dst_context, CUdeviceptr src, CUcontext src_context,
                           size_t bytes)
{
    CUresult code = peer_require(helper, "dst_context", dst_context);
    if (code == CUDA_SUCCESS)
        code = peer_require(helper, "src_context", src_context);
    if (code == CUDA_SUCCESS)
        code = cushim_check_range(cu, helper, "dst", dst, bytes);
    return code == CUDA_SUCCESS ? cushim_check_range(cu, helper, "src", src, bytes) : code;
}

CUresult cushim_copy_peer(const struct cushim *cu, CUdeviceptr dst, CUcontext dst_context,
                          CUdeviceptr src, CUcontext src_context, size_t bytes)
{
    CUresult code = peer_check(cu, __func__, dst, dst_context, src, src_context, bytes);
    if (code != CUDA_SUCCESS || !bytes)
        return code;
    return CUSHIM_TRY(cu, __func__, cuMemcpyPeer, dst, dst_context, src, src_context, bytes);
}

CUresult cushim_copy_peer_async(const struct cushim *cu, CUdeviceptr dst, CUcontext dst_context,
                                CUdeviceptr src, CUcontext src_context, size_t bytes,
                                CUstream stream)
{
    CUresult code = peer_check(cu, __func__, dst, dst_context, src, src_context, bytes);
    if (code != CUDA_SUCCESS || !bytes)
        return code;
    return CUSHIM_TRY(cu, __func__, cuMemcpyPeerAsync, dst, dst_context, src, src_context, bytes,
                      stream);
}

static CUresult peer_check_pair(const char *helper, CUcontext context, CUcontext peer)
{
    CUresult code = peer_require(helper, "context", context);
    return code == CUDA_SUCCESS ? peer_require(helper, "peer", peer) : code;
}

CUresult cushim_peer_enable(const struct cushim *cu, CUcontext context, CUcontext peer)
{
    struct cushim_scope scope;
    CUresult code = peer_check_pair(__func__, context, peer);
    if (code == CUDA_SUCCESS)
        code = cushim_scope_begin(cu, context, __func__, &scope);
    if (code != CUDA_SUCCESS)
        return code;
    code = cushim_table(cu)->cuCtxEnablePeerAccess(peer, 0);
    if (code == CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED)
        code = CUDA_SUCCESS;
    code = cushim_checked(code, __func__, "cuCtxEnablePeerAccess");
    return cushim_scope_end(&scope, __func__, code);
}

CUresult cushim_peer_disable(const struct cushim *cu, CUcontext context, CUcontext peer)
{
    struct cushim_scope scope;
    CUresult code = peer_check_pair(__func__, context, peer);
    if (code == CUDA_SUCCESS)
        code = cushim_scope_begin(cu, context, __func__, &scope);
    if (code != CUDA_SUCCESS)
        return code;
    code = cushim_table(cu)->cuCtxDisablePeerAccess(peer);
    if (code == CUDA_ERROR_PEER_ACCESS_NOT_ENABLED)
        code = CUDA_SUCCESS;
    code = cushim_checked(code, __func__, "cuCtxDisablePeerAccess");
    return cushim_scope_end(&scope, __func__, code);
}
