/* SPDX-License-Identifier: MIT */
#define _SEARCH_PRIVATE /* the node of tsearch */
#include <windows.h>

#include <search.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "windows/posix.h"

#undef fclose

long sim_posix_sysconf(int name)
{
    SYSTEM_INFO system;
    MEMORYSTATUSEX memory = {.dwLength = sizeof memory};
    GetSystemInfo(&system);
    if (name == _SC_PAGESIZE)
        return (long)system.dwPageSize;
    if (name == _SC_NPROCESSORS_ONLN)
        return (long)system.dwNumberOfProcessors;
    return GlobalMemoryStatusEx(&memory) ? (long)(memory.ullTotalPhys / system.dwPageSize) : 1;
}

const char *sim_posix_program(void)
{
    static char path[MAX_PATH];
    DWORD length = GetModuleFileNameA(NULL, path, sizeof path);
    path[length < sizeof path ? length : sizeof path - 1] = '\0';
    const char *last = strrchr(path, '\\');
    return last ? last + 1 : path;
}

void *sim_posix_find(const void *in, size_t size, const void *what, size_t length)
{
    const char *from = in;
    for (size_t i = 0; length <= size && i <= size - length; i++)
        if (memcmp(from + i, what, length) == 0)
            return (void *)(uintptr_t)(from + i);
    return NULL;
}

void sim_posix_tree_free(void *tree, void (*release)(void *key))
{
    node_t *node = tree;
    if (!node)
        return;
    sim_posix_tree_free(node->llink, release);
    sim_posix_tree_free(node->rlink, release);
    release((void *)node->key);
    free(node);
}

/* ---- a stream in memory: a file that goes away when it is closed */

static _Thread_local struct {
    FILE *file;
    char **text;
    size_t *size;
} stream;

FILE *sim_posix_memstream(char **text, size_t *size)
{
    char folder[MAX_PATH], path[MAX_PATH];
    if (!GetTempPathA(sizeof folder, folder) || !GetTempFileNameA(folder, "cus", 0, path))
        return NULL;
    stream.file = fopen(path, "w+bD"); /* deleted when it is closed */
    stream.text = text;
    stream.size = size;
    return stream.file;
}

int sim_posix_close(FILE *file)
{
    bool good = true;
    if (file && file == stream.file) {
        long length = ftell(file);
        char *text = length >= 0 ? calloc(1, (size_t)length + 1) : NULL;
        rewind(file);
        good = text && fread(text, 1, (size_t)length, file) == (size_t)length;
        *stream.text = text;
        *stream.size = text ? (size_t)length : 0;
        stream.file = NULL;
    }
    return fclose(file) == 0 && good ? 0 : EOF;
}

/* ---- memory */

void *mmap(void *address, size_t size, int rights, int flags, int file, long long offset)
{
    (void)flags, (void)file, (void)offset;
    /* Reserved addresses cost nothing. Memory counts towards what the system promises to all. */
    void *found = rights == PROT_NONE
                      ? VirtualAlloc(address, size, MEM_RESERVE, PAGE_NOACCESS)
                      : VirtualAlloc(address, size, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
    return found ? found : MAP_FAILED;
}

int munmap(void *address, size_t size)
{
    (void)size; /* all of it */
    return VirtualFree(address, 0, MEM_RELEASE) ? 0 : -1;
}

int mincore(void *address, size_t size, unsigned char *pages)
{
    MEMORY_BASIC_INFORMATION region;
    char *at = address, *end = at + size;
    (void)pages;
    while (at < end) {
        if (!VirtualQuery(at, &region, sizeof region) || region.State == MEM_FREE)
            return -1;
        at = (char *)region.BaseAddress + region.RegionSize;
    }
    return 0;
}

long long process_vm_readv(int process, const struct iovec *to, int to_count,
                           const struct iovec *from, int from_count, unsigned long flags)
{
    SIZE_T got = 0;
    (void)process, (void)to_count, (void)from_count, (void)flags;
    return ReadProcessMemory(GetCurrentProcess(), from->iov_base, to->iov_base, to->iov_len, &got)
               ? (long long)got
               : -1;
}
