/* SPDX-License-Identifier: MIT */
/* Included before each file of the simulated driver on Windows: what it uses of POSIX and GNU, and
 * mingw's libraries lack. The headers of this folder stand for those of the system. */
#ifndef CUSHIM_SIM_WINDOWS_POSIX_H
#define CUSHIM_SIM_WINDOWS_POSIX_H

#include <io.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* A name of its C library's, which files here give to functions of their own. */
#define tell sim_posix_tell

enum { _SC_PAGESIZE, _SC_PHYS_PAGES, _SC_NPROCESSORS_ONLN };
long sim_posix_sysconf(int name);
#define sysconf sim_posix_sysconf

/* There is no fork. */
#undef pthread_atfork
#define pthread_atfork(prepare, parent, child) ((void)(prepare), (void)(parent), (void)(child), 0)

/* No program has more rights than its user here. */
#define secure_getenv getenv

const char *sim_posix_program(void);
#define program_invocation_short_name sim_posix_program()

void *sim_posix_find(const void *in, size_t size, const void *what, size_t length);
#define memmem sim_posix_find

/* malloc's 16 bytes are enough for all instructions that this build uses. */
#define aligned_alloc(alignment, size) malloc(size)

#define O_CLOEXEC 0x80 /* _O_NOINHERIT */
#define F_DUPFD_CLOEXEC 0
#define fcntl(file, command, least) _dup(file)
#define write(file, bytes, size) _write(file, bytes, (unsigned)(size))

/* One such stream at a time in a thread; its text is there after fclose. */
FILE *sim_posix_memstream(char **text, size_t *size);
int sim_posix_close(FILE *file);
#define open_memstream sim_posix_memstream
#define fclose sim_posix_close

void sim_posix_tree_free(void *tree, void (*release)(void *key));
#define tdestroy sim_posix_tree_free

/* ---- sys/mman.h: private memory alone; a mapping ends as a whole */
enum { PROT_NONE = 0, PROT_READ = 1, PROT_WRITE = 2 };
enum { MAP_PRIVATE = 2, MAP_ANONYMOUS = 32, MAP_NORESERVE = 0 };
#define MAP_FAILED ((void *)-1)
void *mmap(void *address, size_t size, int rights, int flags, int file, long long offset);
int munmap(void *address, size_t size);
/* Fails where the range is not mapped; says nothing of single pages. */
int mincore(void *address, size_t size, unsigned char *pages);

/* ---- sys/uio.h: reading memory of this process that may not be there, one range */
struct iovec {
    void *iov_base;
    size_t iov_len;
};
long long process_vm_readv(int process, const struct iovec *to, int to_count,
                           const struct iovec *from, int from_count, unsigned long flags);

/* ---- sys/resource.h: no process's addresses are limited */
struct rlimit {
    uint64_t rlim_cur;
};
#define RLIM_INFINITY UINT64_MAX
#define RLIMIT_AS 0
#define getrlimit(what, limit) ((limit)->rlim_cur = RLIM_INFINITY, 0)

/* ---- sys/auxv.h: the last address of a process; programs of 64 bits have 47 */
#define AT_RANDOM 25
#define getauxval(what) UINT64_C(0x7fffffff0000)

/* ---- sys/syscall.h: the one number that is asked for */
__declspec(dllimport) unsigned long GetCurrentThreadId(void);
#define syscall(number) GetCurrentThreadId()

#endif
