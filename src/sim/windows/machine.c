/* SPDX-License-Identifier: MIT */
/* The machine on Windows: its memory and processors. It has no signals that interrupt, no simulated
 * NVML, for which usage is noted elsewhere, and no files in memory to share by: what would make one
 * finds no room for it. */
#include "launch/launch.h"

struct sim_machine sim_machine_read(const char *root)
{
    (void)root;
    return (struct sim_machine){.memory = (uint64_t)sysconf(_SC_PHYS_PAGES) *
                                          (uint64_t)sysconf(_SC_PAGESIZE),
                                .processors = (unsigned)sysconf(_SC_NPROCESSORS_ONLN)};
}

/* What does nothing, and answers this. */
#pragma GCC diagnostic ignored "-Wunused-parameter"
#define NOTHING(function, ...)                                                                     \
    function                                                                                       \
    {                                                                                              \
        return __VA_ARGS__;                                                                        \
    }
bool sim_callers_wanted;
char *(*sim_callers_origin)(void);
#define SHARED const struct sim_shared *shared
#define TOKEN const struct sim_shared_token *token
/* clang-format off */
NOTHING(void sim_callers_prepare(void), )
NOTHING(size_t sim_callers_put(char *text, size_t size, const void *inner), 0)
NOTHING(void sim_ended_watch(void), )
NOTHING(void sim_ended_unload(void), )
NOTHING(struct sim_usage *sim_usage_all(void), NULL)
NOTHING(void sim_usage_note(int physical, uint64_t bytes, bool contexts), )
NOTHING(void sim_usage_kernel_begin(int physical), )
NOTHING(void sim_usage_kernel_end(int physical), )
NOTHING(void sim_interrupt_begin(void), )
NOTHING(void sim_interrupt_end(void), )
NOTHING(void sim_interrupt_unload(void), )
NOTHING(struct sim_shared *sim_shared_make(const struct sim_shared_head *head, const void *bytes),
        NULL)
NOTHING(void sim_shared_close(struct sim_shared *shared), )
NOTHING(void *sim_shared_map(SHARED, void *place), NULL)
NOTHING(struct sim_shared_token sim_shared_token(SHARED), (struct sim_shared_token){.zero = 0})
NOTHING(bool sim_shared_is_token(TOKEN, enum sim_shared_kind kind), false)
NOTHING(bool sim_shared_has_maker(TOKEN), false)
NOTHING(struct sim_shared *sim_shared_open(TOKEN), NULL)
NOTHING(struct sim_shared *sim_shared_take(int file), NULL)
NOTHING(int sim_shared_give(SHARED, bool kept), -1)
NOTHING(int sim_shared_plain_make(void), -1)
NOTHING(bool sim_shared_plain_append(int file, size_t size, char *bytes, size_t more), false)
NOTHING(uint64_t sim_shared_process_start(int32_t process), 0)
NOTHING(void sim_shared_wait(uint32_t *word, uint32_t value), )
NOTHING(void sim_shared_wake(uint32_t *word), )
