/* SPDX-License-Identifier: MIT */
/* Memory and semaphores of other interfaces: how requests for what does not exist are refused. */
#define _POSIX_C_SOURCE 200809L
#include "conform.h"

#include <fcntl.h>
#include <unistd.h>

static CUDA_EXTERNAL_MEMORY_HANDLE_DESC memory_of(int type, int file)
{
    CUDA_EXTERNAL_MEMORY_HANDLE_DESC d;
    memset(&d, 0, sizeof d);
    d.type = (CUexternalMemoryHandleType)type;
    d.handle.fd = file;
    d.size = 65536;
    return d;
}

static CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC semaphore_of(int type, int file)
{
    CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC d;
    memset(&d, 0, sizeof d);
    d.type = (CUexternalSemaphoreHandleType)type;
    d.handle.fd = file;
    return d;
}

enum { FILE_OF_MEMORY = CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD };
enum { FILE_OF_SEMAPHORE = CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD };

static void memory_types(void)
{
    static const int types[] = {0, 9, 10, 99, -1};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        CUDA_EXTERNAL_MEMORY_HANDLE_DESC d = memory_of(types[i], -1);
        CUexternalMemory made = NULL;
        EACH(cu->cuImportExternalMemory(&made, &d), "type %d", types[i]);
        VALUE("written=%d", !!made);
    }
}

static void memory_files(void)
{
    CUexternalMemory made = NULL;
    CUDA_EXTERNAL_MEMORY_HANDLE_DESC d = memory_of(FILE_OF_MEMORY, -1);
    CALL(cu->cuImportExternalMemory(&made, &d));
    d.size = 0;
    CALL(cu->cuImportExternalMemory(&made, &d));
    d = memory_of(FILE_OF_MEMORY, -1);
    d.flags = CUDA_EXTERNAL_MEMORY_DEDICATED;
    CALL(cu->cuImportExternalMemory(&made, &d));
    d.flags = 2;
    CALL(cu->cuImportExternalMemory(&made, &d));
    d = memory_of(FILE_OF_MEMORY, -1);
    d.reserved[0] = 1;
    CALL(cu->cuImportExternalMemory(&made, &d));
    VALUE("written=%d", !!made);
}

static void memory_wrong_file(void)
{
    CUexternalMemory made = NULL;
    int file = open("/dev/null", O_RDWR);
    CUDA_EXTERNAL_MEMORY_HANDLE_DESC d = memory_of(FILE_OF_MEMORY, file);
    CALL(cu->cuImportExternalMemory(&made, &d));
    VALUE("written=%d open=%d", !!made, fcntl(file, F_GETFD) >= 0);
}

static void semaphore_types(void)
{
    static const int types[] = {0, 11, 99, -1};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC d = semaphore_of(types[i], -1);
        CUexternalSemaphore made = NULL;
        EACH(cu->cuImportExternalSemaphore(&made, &d), "type %d", types[i]);
        VALUE("written=%d", !!made);
    }
}

static void semaphore_files(void)
{
    CUexternalSemaphore made = NULL;
    CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC d = semaphore_of(FILE_OF_SEMAPHORE, -1);
    CALL(cu->cuImportExternalSemaphore(&made, &d));
    d.flags = 1;
    CALL(cu->cuImportExternalSemaphore(&made, &d));
    d = semaphore_of(FILE_OF_SEMAPHORE, -1);
    d.reserved[0] = 1;
    CALL(cu->cuImportExternalSemaphore(&made, &d));
    d = semaphore_of(CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_FD, -1);
    CALL(cu->cuImportExternalSemaphore(&made, &d));
    VALUE("written=%d", !!made);
}

static void semaphore_wrong_file(void)
{
    CUexternalSemaphore made = NULL;
    int file = open("/dev/null", O_RDWR);
    CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC d = semaphore_of(FILE_OF_SEMAPHORE, file);
    CALL(cu->cuImportExternalSemaphore(&made, &d));
    VALUE("written=%d open=%d", !!made, fcntl(file, F_GETFD) >= 0);
}

/* Handles of Windows and of other systems, on Linux. A pointer in them may be read. */
#define OTHER(name, make, import, out_type, number)                                                \
    static void name(void)                                                                         \
    {                                                                                              \
        out_type made = NULL;                                                                      \
        __typeof__(make(0, 0)) d = make(number, 0);                                                \
        CALL(import(&made, &d));                                                                   \
    }
#define MEMORY(name, number)                                                                       \
    OTHER(name, memory_of, cu->cuImportExternalMemory, CUexternalMemory, number)
#define SEMAPHORE(name, number)                                                                    \
    OTHER(name, semaphore_of, cu->cuImportExternalSemaphore, CUexternalSemaphore, number)
MEMORY(memory_win32, CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_WIN32)
MEMORY(memory_win32_kmt, CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_WIN32_KMT)
MEMORY(memory_d3d12_heap, CU_EXTERNAL_MEMORY_HANDLE_TYPE_D3D12_HEAP)
MEMORY(memory_d3d11, CU_EXTERNAL_MEMORY_HANDLE_TYPE_D3D11_RESOURCE)
MEMORY(memory_nvscibuf, CU_EXTERNAL_MEMORY_HANDLE_TYPE_NVSCIBUF)
SEMAPHORE(semaphore_win32, CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_WIN32)
SEMAPHORE(semaphore_d3d12, CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_D3D12_FENCE)
SEMAPHORE(semaphore_nvscisync, CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_NVSCISYNC)
SEMAPHORE(semaphore_win32_line, CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_WIN32)

static void no_context(void)
{
    CUexternalMemory memory = NULL;
    CUexternalSemaphore semaphore = NULL;
    CUDA_EXTERNAL_MEMORY_HANDLE_DESC m = memory_of(FILE_OF_MEMORY, -1);
    CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC s = semaphore_of(FILE_OF_SEMAPHORE, -1);
    CALL(cu->cuImportExternalMemory(&memory, &m));
    CALL(cu->cuImportExternalSemaphore(&semaphore, &s));
    m.type = (CUexternalMemoryHandleType)99;
    s.type = (CUexternalSemaphoreHandleType)99;
    CALL(cu->cuImportExternalMemory(&memory, &m));
    CALL(cu->cuImportExternalSemaphore(&semaphore, &s));
}

/* Pointers that a driver may read before it judges them: each in a process of its own. */
static void memory_no_out(void)
{
    CUDA_EXTERNAL_MEMORY_HANDLE_DESC d = memory_of(FILE_OF_MEMORY, -1);
    CALL(cu->cuImportExternalMemory(NULL, &d));
}

static void memory_no_in(void)
{
    CUexternalMemory made = NULL;
    CALL(cu->cuImportExternalMemory(&made, NULL));
}

static void semaphore_no_out(void)
{
    CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC d = semaphore_of(FILE_OF_SEMAPHORE, -1);
    CALL(cu->cuImportExternalSemaphore(NULL, &d));
}

static void semaphore_no_in(void)
{
    CUexternalSemaphore made = NULL;
    CALL(cu->cuImportExternalSemaphore(&made, NULL));
}

static const struct sequence sequences[] = {
    S(memory_types, PRIMARY),     S(memory_files, PRIMARY),        S(memory_wrong_file, PRIMARY),
    S(semaphore_types, PRIMARY),  S(semaphore_files, PRIMARY),     S(semaphore_wrong_file, PRIMARY),
    S(memory_win32, PRIMARY),     S(memory_win32_kmt, PRIMARY),    S(memory_d3d12_heap, PRIMARY),
    S(memory_d3d11, PRIMARY),     S(memory_nvscibuf, PRIMARY),     S(semaphore_win32, PRIMARY),
    S(semaphore_d3d12, PRIMARY),  S(semaphore_nvscisync, PRIMARY), S(semaphore_win32_line, PRIMARY),
    S(no_context, INIT),          S(memory_no_out, PRIMARY),       S(memory_no_in, PRIMARY),
    S(semaphore_no_out, PRIMARY), S(semaphore_no_in, PRIMARY),     {0}};
const struct family external_family = {"external", sequences};
