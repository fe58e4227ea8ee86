/* SPDX-License-Identifier: MIT */
/* There is nothing to share by: no file in memory. What would make one finds no room for it. */
#include "core/core.h"

struct sim_shared *sim_shared_make(const struct sim_shared_head *head, const void *bytes)
{
    (void)head, (void)bytes;
    return NULL;
}

void sim_shared_close(struct sim_shared *shared)
{
    (void)shared;
}

void *sim_shared_map(const struct sim_shared *shared, void *place)
{
    (void)shared, (void)place;
    return NULL;
}

struct sim_shared_token sim_shared_token(const struct sim_shared *shared)
{
    (void)shared;
    return (struct sim_shared_token){.zero = 0};
}

bool sim_shared_is_token(const struct sim_shared_token *token, enum sim_shared_kind kind)
{
    (void)token, (void)kind;
    return false;
}

bool sim_shared_has_maker(const struct sim_shared_token *token)
{
    (void)token;
    return false;
}

struct sim_shared *sim_shared_open(const struct sim_shared_token *token)
{
    (void)token;
    return NULL;
}

struct sim_shared *sim_shared_take(int file)
{
    (void)file;
    return NULL;
}

int sim_shared_give(const struct sim_shared *shared, bool kept)
{
    (void)shared, (void)kept;
    return -1;
}

int sim_shared_plain_make(void)
{
    return -1;
}

bool sim_shared_plain_append(int file, size_t size, char *bytes, size_t more)
{
    (void)file, (void)size, (void)bytes, (void)more;
    return false;
}

uint64_t sim_shared_process_start(int32_t process)
{
    (void)process;
    return 0;
}

void sim_shared_wait(uint32_t *word, uint32_t value)
{
    (void)word, (void)value;
}

void sim_shared_wake(uint32_t *word)
{
    (void)word;
}
