/* SPDX-License-Identifier: MIT */
#include "core/core.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#define PAGE ((size_t)4096)
#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)

/* "simfile" and "simtokn" */
static const uint64_t magic = 0x656c69666d6973, token_magic = 0x6e6b6f746d6973;

/* To `place` of the file. Pages of zeros stay untouched: the file takes no memory for them. */
static bool copy_pages(int file, size_t place, const char *bytes, size_t size)
{
    static const char zeros[PAGE];
    for (size_t at = 0; at < size; at += PAGE) {
        size_t here = size - at < PAGE ? size - at : PAGE;
        if (memcmp(bytes + at, zeros, here) != 0 &&
            pwrite(file, bytes + at, here, (off_t)(place + at)) != (ssize_t)here)
            return false;
    }
    return true;
}

static bool fill(int file, const struct sim_shared_head *head, const void *bytes)
{
    size_t place = sim_rounded_up(head->size, PAGE);
    return ftruncate(file, (off_t)(place + PAGE)) == 0 &&
           pwrite(file, head, sizeof *head, (off_t)place) == (ssize_t)sizeof *head &&
           (!bytes || copy_pages(file, 0, bytes, (size_t)head->size)) &&
           fcntl(file, F_ADD_SEALS, SEALS) == 0;
}

static int memory_file(void)
{
    return memfd_create("cushim-sim", MFD_CLOEXEC | MFD_ALLOW_SEALING);
}

struct sim_shared *sim_shared_make(const struct sim_shared_head *head, const void *bytes)
{
    struct sim_shared *made = malloc(sizeof *made);
    if (!made)
        return NULL;
    made->head = *head;
    made->head.magic = magic;
    made->head.process = (int32_t)getpid();
    made->file = memory_file();
    if (made->file >= 0 &&
        getrandom(&made->head.id, sizeof made->head.id, 0) == (ssize_t)sizeof made->head.id &&
        fill(made->file, &made->head, bytes))
        return made;
    sim_shared_close(made);
    return NULL;
}

void sim_shared_close(struct sim_shared *shared)
{
    if (shared && shared->file >= 0)
        close(shared->file);
    free(shared);
}

void *sim_shared_map(const struct sim_shared *shared, void *place)
{
    size_t size = sim_rounded_up(shared->head.size, PAGE);
    void *bytes = mmap(place, size, PROT_READ | PROT_WRITE,
                       MAP_SHARED | MAP_NORESERVE | (place ? MAP_FIXED : 0), shared->file, 0);
    return bytes == MAP_FAILED ? NULL : bytes;
}

/* --- Files of nothing but bytes --- */

int sim_shared_plain_make(void)
{
    int file = memory_file();
    if (file >= 0 && fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK) != 0) {
        close(file);
        return -1;
    }
    return file;
}

bool sim_shared_plain_append(int file, size_t size, char *bytes, size_t more)
{
    return ftruncate(file, (off_t)(size + more)) == 0 && copy_pages(file, size, bytes, more) &&
           mmap(bytes, more, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE | MAP_FIXED, file,
                (off_t)size) != MAP_FAILED;
}

/* --- Tokens and files of others: nothing that they say is believed --- */

struct sim_shared_token sim_shared_token(const struct sim_shared *shared)
{
    return (struct sim_shared_token){.magic = token_magic,
                                     .id = shared->head.id,
                                     .process = (int32_t)getpid(),
                                     .file = shared->file,
                                     .kind = shared->head.kind};
}

bool sim_shared_is_token(const struct sim_shared_token *token, enum sim_shared_kind kind)
{
    return token->magic == token_magic && token->kind == (int32_t)kind && !token->zero &&
           token->process > 0 && token->file >= 0;
}

bool sim_shared_has_maker(const struct sim_shared_token *token)
{
    char path[64], target;
    snprintf(path, sizeof path, "/proc/%d/exe", (int)token->process);
    return readlink(path, &target, 1) > 0; /* of one that has ended there is none */
}

static bool is_whole(int file, const struct sim_shared_head *head)
{
    struct stat found;
    return head->magic == magic && head->kind >= SIM_SHARED_MEMORY &&
           head->kind <= SIM_SHARED_PHYSICAL && head->size <= INT64_MAX / 2 &&
           fstat(file, &found) == 0 &&
           (uint64_t)found.st_size == sim_rounded_up(head->size, PAGE) + PAGE;
}

/* `file` becomes the result's, or is closed. */
static struct sim_shared *read_head(int file)
{
    struct stat found;
    struct sim_shared *made = file >= 0 ? malloc(sizeof *made) : NULL;
    if (made) {
        made->file = file;
        /* Only files in memory have seals. */
        if (fcntl(file, F_GET_SEALS) >= 0 && (fcntl(file, F_GET_SEALS) & SEALS) == SEALS &&
            fstat(file, &found) == 0 && found.st_size >= (off_t)PAGE &&
            pread(file, &made->head, sizeof made->head, found.st_size - (off_t)PAGE) ==
                (ssize_t)sizeof made->head &&
            is_whole(file, &made->head))
            return made;
    }
    if (file >= 0)
        close(file);
    free(made);
    return NULL;
}

struct sim_shared *sim_shared_open(const struct sim_shared_token *token)
{
    char path[64], target[64] = "";
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)token->process, (int)token->file);
    /* The number may be of something else by now, which it could matter to open. */
    if (readlink(path, target, sizeof target - 1) < 0 ||
        strncmp(target, "/memfd:cushim-sim", strlen("/memfd:cushim-sim")) != 0)
        return NULL;
    struct sim_shared *found = read_head(open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK));
    if (found &&
        (!sim_shared_equal(&found->head.id, &token->id) || found->head.kind != token->kind ||
         found->head.process != token->process)) { /* a thread has its process's files */
        sim_shared_close(found);
        return NULL;
    }
    return found;
}

struct sim_shared *sim_shared_take(int file)
{
    return read_head(fcntl(file, F_DUPFD_CLOEXEC, 0));
}

int sim_shared_give(const struct sim_shared *shared, bool kept)
{
    return fcntl(shared->file, kept ? F_DUPFD : F_DUPFD_CLOEXEC, 0);
}

/* --- Other processes --- */

uint64_t sim_shared_process_start(int32_t process)
{
    char path[32], text[512];
    unsigned long long start = 0;
    char state = 'Z';
    snprintf(path, sizeof path, "/proc/%d/stat", (int)process);
    FILE *file = fopen(path, "re");
    size_t length = file ? fread(text, 1, sizeof text - 1, file) : 0;
    if (file)
        fclose(file);
    text[length] = '\0';
    const char *behind = strrchr(text, ')'); /* of its name, which may hold anything */
    if (!behind ||
        sscanf(behind + 1,
               " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu",
               &state, &start) != 2 ||
        state == 'Z' || state == 'X')
        return 0;
    return start;
}

void sim_shared_wait(uint32_t *word, uint32_t value)
{
    struct timespec most = {.tv_nsec = 100000000};
    (void)syscall(SYS_futex, word, FUTEX_WAIT, value, &most, NULL, 0);
}

void sim_shared_wake(uint32_t *word)
{
    __atomic_add_fetch(word, 1, __ATOMIC_RELEASE);
    (void)syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}
