/* SPDX-License-Identifier: MIT */
/* Gives each file, or all files of each folder, to a fuzzer once: that is how the corpus stays a
 * regression test. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "fuzz.h"

static int run_path(const char *path);

static int run_folder(const char *path)
{
    int count = 0;
    DIR *folder = opendir(path);
    if (!folder)
        return -1;
    for (struct dirent *entry; (entry = readdir(folder));) {
        char name[4096];
        if (entry->d_name[0] == '.')
            continue;
        int length = snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
        int added = length < (int)sizeof name ? run_path(name) : -1;
        if (added < 0) {
            count = -1;
            break;
        }
        count += added;
    }
    closedir(folder);
    return count;
}

/* How many files were read; negative: one could not be. */
static int run_path(const char *path)
{
    struct stat info;
    if (stat(path, &info) != 0)
        return -1;
    if (S_ISDIR(info.st_mode))
        return run_folder(path);
    size_t size = (size_t)info.st_size;
    /* Exactly as large as the file, so that a sanitizer sees a read behind it. */
    uint8_t *data = malloc(size > 0 ? size : 1);
    FILE *file = fopen(path, "rb");
    int result = -1;
    if (data && file && fread(data, 1, size, file) == size) {
        LLVMFuzzerTestOneInput(data, size);
        result = 1;
    }
    if (file)
        fclose(file);
    free(data);
    return result;
}

int main(int argc, char **argv)
{
    int count = 0;
    for (int i = 1; i < argc; i++) {
        int added = run_path(argv[i]);
        if (added < 0) {
            fprintf(stderr, "%s: cannot read\n", argv[i]);
            return 1;
        }
        count += added;
    }
    printf("%d inputs read\n", count);
    return count > 0 ? 0 : 1;
}
