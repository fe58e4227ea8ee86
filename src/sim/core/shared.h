/* SPDX-License-Identifier: MIT */
/* What processes share: files in memory that have no name (memfd). The last page of one says what
 * it is. Its size is sealed, so that no process can take bytes away from another that uses them.
 *
 * A file goes to another process in two ways. The program passes the file itself on, or it passes
 * on a token: the number of the process and of its file, which the other one opens by /proc. A
 * token is good as long as its maker keeps the file, and for processes of the same user. */
#ifndef CUSHIM_SIM_CORE_SHARED_H
#define CUSHIM_SIM_CORE_SHARED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum sim_shared_kind {
    SIM_SHARED_MEMORY,   /* of cuMemAlloc */
    SIM_SHARED_EVENT,    /* its counters */
    SIM_SHARED_POOL,     /* no bytes: that it is one */
    SIM_SHARED_POOLED,   /* memory of such a pool */
    SIM_SHARED_PHYSICAL, /* of cuMemCreate */
};
struct sim_shared_id { /* no two files have the same, and nobody can guess one */
    uint64_t words[2];
};
struct sim_shared_head { /* the last page */
    uint64_t magic;
    struct sim_shared_id id, owner; /* the latter of memory of a pool: the pool's */
    uint64_t size;                  /* bytes that are shared */
    int32_t process, zero;          /* that made it */
    int32_t kind, device;           /* the device's number without CUDA_VISIBLE_DEVICES; -1: host */
    unsigned char more[128];        /* what the kind adds */
};
struct sim_shared {
    struct sim_shared_head head;
    int file;
};
struct sim_shared_token { /* in the 64 bytes of a handle */
    uint64_t magic;
    struct sim_shared_id id;
    int32_t process, file, kind, zero;
};

/* A file that begins with a copy of `bytes` (NULL: with zeros); head.kind, size, device, owner and
 * more are the caller's. NULL: no memory, or no more files. */
struct sim_shared *sim_shared_make(const struct sim_shared_head *head, const void *bytes);
void sim_shared_close(struct sim_shared *shared); /* NULL: nothing */
/* Map its bytes: at `place`, instead of what is there, or anywhere (NULL). NULL: no memory. */
void *sim_shared_map(const struct sim_shared *shared, void *place);

struct sim_shared_token sim_shared_token(const struct sim_shared *shared);
bool sim_shared_is_token(const struct sim_shared_token *token, enum sim_shared_kind kind);
bool sim_shared_is_own(const struct sim_shared_token *token);    /* of this process */
bool sim_shared_has_maker(const struct sim_shared_token *token); /* the process is there */
/* The file of a token of another process. NULL: its process, the file or the right to it is gone,
 * or it is none. */
struct sim_shared *sim_shared_open(const struct sim_shared_token *token);
/* The file that a program passes in, which stays the program's. NULL: it is none. */
struct sim_shared *sim_shared_take(int file);
/* A file for the program, or -1; `kept`: programs that it starts have it, too. */
int sim_shared_give(const struct sim_shared *shared, bool kept);
bool sim_shared_equal(const struct sim_shared_id *a, const struct sim_shared_id *b);

/* A file that has no last page of this kind: its bytes are all there is to it, for a program that
 * knows nothing of this driver. It may grow. -1: no more files. */
int sim_shared_plain_make(void);
/* Behind the `size` bytes of the file, move whole pages there: `bytes` are the file's from now on.
 * False: no memory. */
bool sim_shared_plain_append(int file, size_t size, char *bytes, size_t more);
int sim_shared_plain_give(int file); /* a file for the program, or -1 */
void sim_shared_plain_close(int file);

/* When a process began, in units of its own; 0: there is none of that number. */
uint64_t sim_shared_process_start(int32_t process);
/* Wait until *word is no longer `value`, a tenth of a second at most; and wake all who wait. */
void sim_shared_wait(uint32_t *word, uint32_t value);
void sim_shared_wake(uint32_t *word);

#endif
