/* SPDX-License-Identifier: MIT */
/*
 * Stand-in, preloaded: the first bytes of the C library's dlsym become a jump to this one, as
 * libraries for instrumentation do it. For one thread.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "quota.h"

#define JUMP_SIZE 12

static unsigned char *patched;
static unsigned char original[JUMP_SIZE], jump[JUMP_SIZE];

static void *by_patch_dlsym(void *handle, const char *symbol)
{
    void *(*dlsym_itself)(void *, const char *);
    memcpy(&dlsym_itself, &patched, sizeof patched);
    memcpy(patched, original, JUMP_SIZE);
    void *found = dlsym_itself(handle, symbol);
    memcpy(patched, jump, JUMP_SIZE);
    return quota_is_driver(symbol) ? quota_symbol(symbol, found) : found;
}

__attribute__((constructor)) static void by_patch(void)
{
    void *(*own)(void *, const char *) = by_patch_dlsym;
    patched = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");
    memcpy(original, patched, JUMP_SIZE);
    memcpy(jump, "\x48\xb8", 2); /* movabs $own, %rax; jmp *%rax */
    memcpy(jump + 2, &own, sizeof own);
    memcpy(jump + 2 + sizeof own, "\xff\xe0", 2);
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t start = (uintptr_t)patched & ~(page - 1);
    mprotect((void *)start, 2 * page, PROT_READ | PROT_WRITE | PROT_EXEC);
    memcpy(patched, jump, JUMP_SIZE);
}
