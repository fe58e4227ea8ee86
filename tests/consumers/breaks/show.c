/* SPDX-License-Identifier: MIT */
/* Opens each path given ("-": searches), and prints what came of it. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "cushim.h"

static int empty_slots(const struct cushim_api *cu)
{
    int empty = 0;
    for (size_t i = 0; i < cushim_entry_count(); i++) {
        void *slot;
        memcpy(&slot, (const char *)&cu->cuArray3DCreate_v1 + i * sizeof slot, sizeof slot);
        empty += !slot;
    }
    return empty;
}

static void show(const char *path)
{
    struct cushim_attempt attempt = {.size = sizeof attempt};
    const struct cushim_api *cu = cushim_open(&(struct cushim_options){
        .size = sizeof(struct cushim_options), .path = strcmp(path, "-") == 0 ? NULL : path});
    if (!cu) {
        printf("NULL | %s\n", cushim_last_error());
        return;
    }
    printf("%s | %s |", cushim_status_name(cushim_status(cu)), cushim_message(cu));
    for (size_t i = 0; cushim_attempt_at(cu, i, &attempt); i++)
        printf(" %s", cushim_status_name(attempt.status));
    printf("%s\n", empty_slots(cu) ? " EMPTY SLOTS" : "");
    cushim_close(cu);
}

/* Leaves no file descriptor for what follows. */
static void use_up_descriptors(void)
{
    struct rlimit limit = {64, 64};
    setrlimit(RLIMIT_NOFILE, &limit);
    while (open("/dev/null", O_RDONLY) >= 0)
        continue;
}

int main(int count, char **arguments)
{
    if (getenv("SHOW_NO_DESCRIPTORS"))
        use_up_descriptors();
    int rounds = getenv("SHOW_ROUNDS") ? atoi(getenv("SHOW_ROUNDS")) : 1;
    for (int round = 0; round < rounds; round++)
        for (int i = 1; i < count; i++)
            show(arguments[i]);
    return 0;
}
