/* SPDX-License-Identifier: MIT */
#include "sim_folder.h"

#include "elf_hide.h"
#include "nvml/entries.h"
#include "nvml/nvml_rule.h"
#include "sim_library.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define MISSING "missing:"
#define ENGINE "libcushim-sim-engine.so" /* what every library opens in its own folder */
#define NVML "libnvidia-ml-sim.so"

static bool copy_file(const char *from, const char *to)
{
    FILE *in = fopen(from, "rbe"), *out = fopen(to, "wbe");
    char block[65536];
    size_t length;
    bool good = in && out;

    while (good && (length = fread(block, 1, sizeof block, in)) > 0)
        good = fwrite(block, 1, length, out) == length;
    good = good && !ferror(in);
    if (in)
        fclose(in);
    if (out)
        good = fclose(out) == 0 && good;
    return good;
}

/* Beside the copy of a library, the engine that is beside the library. */
static bool link_engine(const char *library, const char *copy)
{
    char from[PATH_MAX], to[PATH_MAX];
    int folder = (int)(strrchr(library, '/') - library);
    int copy_folder = (int)(strrchr(copy, '/') - copy);

    return snprintf(from, sizeof from, "%.*s/" ENGINE, folder, library) < (int)sizeof from &&
           snprintf(to, sizeof to, "%.*s/" ENGINE, copy_folder, copy) < (int)sizeof to &&
           symlink(from, to) == 0;
}

/* Take what the rules say is missing out of a library, NVML or the driver. *hidden: anything. */
static bool hide_missing(const char *library, const char *path, const char *faults, bool nvml,
                         bool *hidden)
{
    char *rules = strdup(faults), *rest = NULL;
    bool good = rules;

    for (char *rule = good ? strtok_r(rules, ";", &rest) : NULL; good && rule;
         rule = strtok_r(NULL, ";", &rest)) {
        if (strncmp(rule, MISSING, strlen(MISSING)) != 0 || sim_nvml_rule_is(rule) != nvml)
            continue;
        good =
            (*hidden || copy_file(library, path)) && elf_hide_symbol(path, rule + strlen(MISSING));
        *hidden = true;
    }
    free(rules);
    return good;
}

/* A link to the library, or a copy of it without the symbols that are to be missing. */
static bool place(const char *library, const char *path, const char *faults)
{
    bool copied = false;

    return hide_missing(library, path, faults, false, &copied) &&
           (copied ? link_engine(library, path) : symlink(library, path) == 0);
}

/* Beside it a copy of the simulated NVML without what that version's drivers lack, and the file
 * through which it learns what processes use. A folder of libraries may have no NVML. */
static bool place_nvml(const char *library, const char *folder, const char *faults)
{
    char from[PATH_MAX], to[PATH_MAX], symbol[CUSHIM_NVML_SYMBOL_SIZE];
    int length = (int)(strrchr(library, '/') - library), version = sim_library_version(library);
    bool good = snprintf(from, sizeof from, "%.*s/" NVML, length, library) < (int)sizeof from &&
                snprintf(to, sizeof to, "%s/libnvidia-ml.so.1", folder) < (int)sizeof to;

    if (good && access(from, R_OK) != 0)
        return true;
    good = good && copy_file(from, to);
    for (size_t i = 0; good && i < CUSHIM_NVML_ENTRY_COUNT; i++) {
        int since = cushim_nvml_entry_since(i);
        if (version && since > version)
            good = elf_hide_symbol(to, cushim_nvml_entry_symbol(i, symbol));
    }
    bool copied = true;
    good = good && hide_missing(from, to, faults, true, &copied);
    if (!good || snprintf(to, sizeof to, "%s/" SIM_FOLDER_USAGE, folder) >= (int)sizeof to)
        return false;
    FILE *usage = fopen(to, "wbe");
    return usage && fclose(usage) == 0;
}

static void clear(const char *path)
{
    static const char *const files[] = {"libcuda.so.1",    "libcuda.so",        ENGINE,
                                        SIM_FOLDER_REPORT, "libnvidia-ml.so.1", SIM_FOLDER_USAGE};

    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        char file[PATH_MAX];
        if (snprintf(file, sizeof file, "%s/%s", path, files[i]) < (int)sizeof file)
            unlink(file);
    }
    rmdir(path);
}

/* Where temporary files go; not where its name would be two of a search list. */
static const char *temporary(char path[PATH_MAX])
{
    const char *asked = secure_getenv("TMPDIR");

    if (!asked || *asked == '\0')
        return "/tmp";
    if (!realpath(asked, path))
        return NULL;
    return !strpbrk(path, ":;") ? path : "/tmp";
}

static bool make(const char *library, const char *faults, struct sim_folder *folder)
{
    char base[PATH_MAX], real[PATH_MAX], file[PATH_MAX];
    const char *place_for = temporary(base);

    if (!place_for || !realpath(library, real) ||
        asprintf(&folder->path, "%s/cushim-sim-XXXXXX", place_for) < 0)
        return false;
    if (!mkdtemp(folder->path)) {
        free(folder->path);
        folder->path = NULL;
        return false;
    }
    if (snprintf(file, sizeof file, "%s/libcuda.so.1", folder->path) >= (int)sizeof file ||
        !place(real, file, faults) || !place_nvml(real, folder->path, faults))
        return false;
    strcpy(strrchr(file, '/'), "/libcuda.so");
    return symlink("libcuda.so.1", file) == 0;
}

/* A process of its own, which outlives this one whatever ends it, for a moment. */
static bool start_guard(struct sim_folder *folder)
{
    int ends[2];
    char byte;

    if (pipe2(ends, O_CLOEXEC) != 0)
        return false;
    fflush(NULL);
    folder->guard = fork();
    if (folder->guard < 0) {
        close(ends[0]);
        close(ends[1]);
        return false;
    }
    if (folder->guard == 0) {
        setsid();
        close(ends[1]);
        while (read(ends[0], &byte, 1) < 0 && errno == EINTR)
            ;
        clear(folder->path);
        _exit(0);
    }
    close(ends[0]);
    folder->alive = ends[1];
    return true;
}

bool sim_folder_make(const char *library, const char *faults, struct sim_folder *folder)
{
    *folder = (struct sim_folder){0};
    if (make(library, faults, folder) && start_guard(folder))
        return true;
    fprintf(stderr, "cushim sim: no folder for the library can be made: %s\n", strerror(errno));
    if (folder->path)
        clear(folder->path);
    free(folder->path);
    return false;
}

void sim_folder_remove(struct sim_folder *folder)
{
    close(folder->alive);
    while (waitpid(folder->guard, NULL, 0) < 0 && errno == EINTR)
        ;
    free(folder->path);
}
