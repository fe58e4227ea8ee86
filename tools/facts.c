/* SPDX-License-Identifier: MIT */
#include "facts.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { NAME_SIZE = 64 };

const struct facts_architecture *facts_architecture(int capability)
{
    for (size_t i = 0; i < facts_architecture_count; i++) {
        if (facts_architectures[i].capability == capability)
            return &facts_architectures[i];
    }
    return NULL;
}

/* "9.0", "sm_90" or "90" is 90; 0 for anything else. */
static int read_capability(const char *text)
{
    int value = 0, digits = 0, points = 0;

    if (strncmp(text, "sm_", 3) == 0)
        text += 3;
    for (; *text != '\0'; text++) {
        if (*text == '.' && digits > 0 && points++ == 0 && strlen(text) == 2)
            continue;
        if (*text < '0' || *text > '9' || digits++ == 3)
            return 0;
        value = 10 * value + (*text - '0');
    }
    return digits >= 2 ? value : 0;
}

/* Letters and digits alone, without the words that people leave out: "GeForce RTX 4090" is
 * "rtx4090". */
static void plain_name(char plain[NAME_SIZE], const char *name)
{
    static const char *const brands[] = {"nvidia", "geforce", "tesla", "quadro"};
    size_t length = 0;

    for (; *name != '\0' && length + 1 < NAME_SIZE; name++) {
        if (isalnum((unsigned char)*name))
            plain[length++] = (char)tolower((unsigned char)*name);
    }
    plain[length] = '\0';
    for (size_t i = 0; i < sizeof brands / sizeof brands[0]; i++) {
        size_t size = strlen(brands[i]);
        if (strncmp(plain, brands[i], size) == 0 && plain[size] != '\0')
            memmove(plain, plain + size, strlen(plain) - size + 1);
    }
}

size_t facts_capabilities(const char *word, int *capabilities, size_t most)
{
    char wanted[NAME_SIZE], known[NAME_SIZE];
    int capability = read_capability(word);
    size_t count = 0;

    if (most == 0)
        return 0;
    for (size_t i = 0; i < facts_architecture_count && count < most; i++) {
        const struct facts_architecture *one = &facts_architectures[i];
        if (capability > 0 ? one->capability == capability
                           : !one->tegra && strcasecmp(one->name, word) == 0)
            capabilities[count++] = one->capability;
    }
    if (count > 0 || capability > 0) {
        capabilities[0] = capability > 0 ? capability : capabilities[0];
        return count > 0 ? count : 1;
    }
    plain_name(wanted, word);
    for (size_t i = 0; i < facts_gpu_count; i++) {
        plain_name(known, facts_gpus[i].name);
        if (strcmp(wanted, known) == 0) {
            capabilities[0] = facts_gpus[i].capability;
            return 1;
        }
    }
    return 0;
}

/* Whether a name is a library's, or that of its copy in a wheel: "libcudart-0a1b2c3d.so.12.0.107"
 * or "libcudart.0a1b2c3d.so.12". */
static bool is_library(const char *name, const char *library)
{
    const char *end = strstr(library, ".so"), *own = strstr(name, ".so");
    size_t stem = (size_t)(end - library), size = strlen(end);
    const char *hash = name + stem + 1;

    if (!own || (size_t)(own - name) < stem || strncmp(name, library, stem) != 0 ||
        strncmp(own, end, size) != 0 || (own[size] != '\0' && own[size] != '.'))
        return false;
    return own == name + stem || ((name[stem] == '.' || name[stem] == '-') &&
                                  strspn(hash, "0123456789abcdef") == (size_t)(own - hash));
}

int facts_runtime_release(const char *library)
{
    for (size_t i = 0; i < facts_runtime_count; i++) {
        if (is_library(library, facts_runtimes[i].library))
            return facts_runtimes[i].release;
    }
    return 0;
}

int facts_release_branch(int release)
{
    for (size_t i = 0; i < facts_branch_count; i++) {
        if (facts_branches[i].release == release)
            return facts_branches[i].branch;
    }
    return 0;
}

int facts_newest_branch(void)
{
    return facts_branch_count > 0 ? facts_branches[facts_branch_count - 1].branch : 0;
}

bool facts_driver_version(const char *word, char version[FACTS_DRIVER_SIZE])
{
    size_t digits = strspn(word, "0123456789");
    bool whole = word[digits] == '\0';

    if (digits != 3 || strspn(word, "0123456789.") != strlen(word) ||
        strlen(word) + sizeof ".999.99" > FACTS_DRIVER_SIZE)
        return false;
    snprintf(version, FACTS_DRIVER_SIZE, "%s%s", word, whole ? ".999.99" : "");
    return true;
}
