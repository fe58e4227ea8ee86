/* SPDX-License-Identifier: MIT */
/*
 * layout plain|cushim [OPTION...]
 *
 * Opens the driver as plain dlopen does, or with cushim, and prints "file PATH" or "none WORDS";
 * with cushim also "status NAME" and "message TEXT".
 *
 *   --path PATH            instead of the system's own search
 *   --first PATH           plain dlopen of this library before
 *   --search VALUE         set LD_LIBRARY_PATH, which the system read when the process began
 *   --deny CALL ERROR      a filter makes this call of the kernel fail from now on
 *   --folder PATH          chdir between the opening and the question which file it was
 */
#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cushim/cushim.h>

static unsigned call_number(const char *name)
{
    static const struct {
        const char *name;
        unsigned number;
    } calls[] = {{"openat", __NR_openat}, {"newfstatat", __NR_newfstatat}, {"mmap", __NR_mmap}};
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (strcmp(name, calls[i].name) == 0)
            return calls[i].number;
    exit(2);
}

static void deny(unsigned call, unsigned error)
{
    struct sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof rules / sizeof *rules, rules};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) {
        perror("seccomp");
        exit(77);
    }
}

/* What a program does that only wants to know which file it is. */
static void open_plainly(const char *path, const char *folder)
{
    struct link_map *map = NULL;
    char real[PATH_MAX];
    void *library = dlopen(path ? path : "libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        printf("none %s\n", dlerror());
        return;
    }
    if (dlinfo(library, RTLD_DI_LINKMAP, &map) || !realpath(map->l_name, real))
        snprintf(real, sizeof real, "%s", map ? map->l_name : "");
    if (folder && chdir(folder))
        perror(folder);
    printf("file %s\n", real);
}

static void open_with_cushim(const char *path, const char *folder)
{
    struct cushim_options options = {.size = sizeof options, .path = path};
    const struct cushim_api *cu = cushim_load(&options);
    if (folder && chdir(folder))
        perror(folder);
    if (cushim_path(cu))
        printf("file %s\n", cushim_path(cu));
    else
        printf("none\n");
    printf("status %s\nmessage %s\n", cushim_status_name(cushim_status(cu)), cushim_message(cu));
}

int main(int count, char **arguments)
{
    const char *path = NULL, *folder = NULL;
    for (int i = 2; i + 1 < count; i += 2) {
        const char *value = arguments[i + 1];
        if (strcmp(arguments[i], "--path") == 0) {
            path = value;
        } else if (strcmp(arguments[i], "--folder") == 0) {
            folder = value;
        } else if (strcmp(arguments[i], "--search") == 0) {
            setenv("LD_LIBRARY_PATH", value, 1);
        } else if (strcmp(arguments[i], "--first") == 0) {
            if (!dlopen(value, RTLD_NOW))
                fprintf(stderr, "%s\n", dlerror());
        } else if (strcmp(arguments[i], "--deny") == 0 && i + 2 < count) {
            deny(call_number(value), (unsigned)atoi(arguments[i + 2]));
            i++;
        } else {
            return 2;
        }
    }
    if (count > 1 && strcmp(arguments[1], "plain") == 0)
        open_plainly(path, folder);
    else
        open_with_cushim(path, folder);
    fflush(stdout);
    _Exit(0);
}
