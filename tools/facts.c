/* SPDX-License-Identifier: MIT */
#include "facts_file.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* In a version: the last driver of the branch before it. */
#define LAST_OF_BRANCH ".999.99"
#include <strings.h>

enum { NAME_SIZE = 64 };

struct facts_added facts_added;

/* ---- the registry's facts, and those of files behind them */

const struct facts_architecture *facts_architecture_at(size_t index)
{
    size_t more = index - facts_architecture_count;

    if (index < facts_architecture_count)
        return &facts_architectures[index];
    return more < facts_added.architectures ? &facts_added.architecture[more] : NULL;
}

const struct facts_gpu *facts_gpu_at(size_t index)
{
    size_t more = index - facts_gpu_count;

    if (index < facts_gpu_count)
        return &facts_gpus[index];
    return more < facts_added.gpus ? &facts_added.gpu[more] : NULL;
}

const struct facts_branch *facts_branch_at(size_t index)
{
    static struct facts_branch branch;
    size_t more = index - facts_branch_count;

    if (index < facts_branch_count)
        return &facts_branches[index];
    if (more >= facts_added.releases)
        return NULL;
    branch =
        (struct facts_branch){facts_added.release[more].branch, facts_added.release[more].release};
    return &branch;
}

static const struct facts_runtime *runtime_at(size_t index)
{
    size_t more = index - facts_runtime_count;

    if (index < facts_runtime_count)
        return &facts_runtimes[index];
    return more < facts_added.runtimes ? &facts_added.runtime[more] : NULL;
}

bool facts_toolkit_at(size_t index, struct cushim_toolkit *toolkit)
{
    static size_t count;

    for (struct cushim_toolkit one = {.size = sizeof one}; cushim_toolkit_at(count, &one);)
        count++;
    if (index < count)
        return cushim_toolkit_at(index, toolkit);
    if (index - count >= facts_added.toolkits)
        return false;
    const struct facts_toolkit *own = &facts_added.toolkit[index - count];
    *toolkit = (struct cushim_toolkit){sizeof *toolkit, own->release, own->update,
                                       own->linux_driver, own->windows_driver};
    return true;
}

bool facts_family_floor(int major, const char **linux_driver, const char **windows_driver)
{
    if (cushim_family_floor(major, linux_driver, windows_driver))
        return true;
    for (size_t i = 0; i < facts_added.families; i++) {
        if (facts_added.family[i].major != major)
            continue;
        if (linux_driver)
            *linux_driver = facts_added.family[i].linux_driver;
        if (windows_driver)
            *windows_driver = facts_added.family[i].windows_driver;
        return true;
    }
    return false;
}

int facts_release_ptx(int release)
{
    int ptx = cushim_release_ptx(release);

    for (size_t i = 0; ptx == 0 && i < facts_added.releases; i++)
        ptx = facts_added.release[i].release == release ? facts_added.release[i].ptx : 0;
    return ptx;
}

int facts_ptx_release(int ptx)
{
    int first = cushim_ptx_release(ptx);

    for (size_t i = 0; i < facts_added.releases; i++) {
        const struct facts_release *own = &facts_added.release[i];
        if (own->ptx >= ptx && (first == 0 || own->release < first))
            first = own->release;
    }
    return first;
}

int facts_capability_release(int capability)
{
    int release = cushim_capability_release(capability);

    for (size_t i = 0; release == 0 && i < facts_added.targets; i++)
        release =
            facts_added.target[i].capability == capability ? facts_added.target[i].release : 0;
    return release;
}

/* Whether a driver's version is the other one, or later. */
static bool is_from(const char *version, const char *other)
{
    while (*version != '\0' || *other != '\0') {
        char *behind, *behind_other;
        long own = strtol(version, &behind, 10), theirs = strtol(other, &behind_other, 10);
        if (own != theirs)
            return own > theirs;
        version = behind + (*behind == '.');
        other = behind_other + (*behind_other == '.');
    }
    return true;
}

int facts_driver_release(const char *version)
{
    int release = cushim_driver_release(version);

    for (size_t i = 0; release > 0 && i < facts_added.toolkits; i++) {
        const struct facts_toolkit *own = &facts_added.toolkit[i];
        if (own->release > release && is_from(version, own->linux_driver))
            release = own->release;
    }
    for (size_t i = 0; release > 0 && i < facts_added.releases; i++) {
        const struct facts_release *own = &facts_added.release[i];
        if (own->release > release && atoi(version) >= own->branch)
            release = own->release;
    }
    return release;
}

enum cushim_runs facts_driver_runs(const char *version, int release)
{
    int own = facts_driver_release(version);
    const char *floor;

    if (own == cushim_driver_release(version) && cushim_family_floor(release / 1000, NULL, NULL))
        return cushim_driver_runs_linux(version, release);
    enum cushim_runs runs = cushim_release_runs(own, release);
    if (runs == CUSHIM_RUNS_LIMITED && facts_family_floor(release / 1000, &floor, NULL) &&
        !is_from(version, floor))
        return CUSHIM_RUNS_NOT;
    return runs;
}

enum cushim_runs facts_driver_runs_windows(const char *version, int release)
{
    enum cushim_runs runs = cushim_release_runs(facts_driver_release(version), release);
    const char *floor = NULL;

    if (runs == CUSHIM_RUNS_LIMITED && !strstr(version, LAST_OF_BRANCH) &&
        facts_family_floor(release / 1000, NULL, &floor) && floor && !is_from(version, floor))
        return CUSHIM_RUNS_NOT;
    return runs;
}

static bool is_one_of(const char *version, const char *one, const char *other)
{
    return (one && strcmp(version, one) == 0) || (other && strcmp(version, other) == 0);
}

bool facts_driver_is_windows(const char *version)
{
    struct cushim_toolkit toolkit = {.size = sizeof toolkit};
    bool windows = false;

    for (size_t i = 0; facts_toolkit_at(i, &toolkit); i++) {
        const char *floor = NULL, *windows_floor = NULL;
        facts_family_floor(toolkit.release / 1000, &floor, &windows_floor);
        if (is_one_of(version, toolkit.linux_driver, floor))
            return false;
        windows |= is_one_of(version, toolkit.windows_driver, windows_floor);
    }
    return windows;
}

/* ---- by name */

const struct facts_architecture *facts_architecture(int capability)
{
    const struct facts_architecture *one;

    for (size_t i = 0; (one = facts_architecture_at(i)); i++) {
        if (one->capability == capability)
            return one;
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
    const struct facts_architecture *one;
    const struct facts_gpu *gpu;
    int capability = read_capability(word);
    size_t count = 0;

    if (most == 0)
        return 0;
    for (size_t i = 0; (one = facts_architecture_at(i)) && count < most; i++) {
        if (capability > 0 ? one->capability == capability
                           : !one->tegra && strcasecmp(one->name, word) == 0)
            capabilities[count++] = one->capability;
    }
    if (count > 0 || capability > 0) {
        capabilities[0] = capability > 0 ? capability : capabilities[0];
        return count > 0 ? count : 1;
    }
    plain_name(wanted, word);
    for (size_t i = 0; (gpu = facts_gpu_at(i)); i++) {
        plain_name(known, gpu->name);
        if (strcmp(wanted, known) == 0) {
            capabilities[0] = gpu->capability;
            return 1;
        }
    }
    return 0;
}

/* Whether a name is a library's, or that of its copy in a wheel: "libcudart-0a1b2c3d.so.12.0.107",
 * "libcudart.0a1b2c3d.so.12" or "cudart64_12-0a1b2c3d.dll". */
static bool is_library(const char *name, const char *library)
{
    const char *ending = strstr(library, ".dll") ? ".dll" : ".so";
    const char *end = strstr(library, ending), *own = strstr(name, ending);
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
    const struct facts_runtime *one;

    for (size_t i = 0; (one = runtime_at(i)); i++) {
        if (is_library(library, one->library))
            return one->release;
    }
    return 0;
}

int facts_release_branch(int release)
{
    const struct facts_branch *one;

    for (size_t i = 0; (one = facts_branch_at(i)); i++) {
        if (one->release == release)
            return one->branch;
    }
    return 0;
}

static const struct facts_branch *newest(void)
{
    static struct facts_branch newest;
    const struct facts_branch *one;

    for (size_t i = 0; (one = facts_branch_at(i)); i++) {
        if (one->branch > newest.branch)
            newest = *one;
    }
    return &newest;
}

int facts_newest_branch(void)
{
    return newest()->branch;
}

int facts_newest_release(void)
{
    return newest()->release;
}

bool facts_driver_version(const char *word, char version[FACTS_DRIVER_SIZE])
{
    size_t digits = strspn(word, "0123456789");
    bool whole = word[digits] == '\0';

    if (digits != 3 || strspn(word, "0123456789.") != strlen(word) ||
        strlen(word) + sizeof LAST_OF_BRANCH > FACTS_DRIVER_SIZE)
        return false;
    snprintf(version, FACTS_DRIVER_SIZE, "%s%s", word, whole ? LAST_OF_BRANCH : "");
    return true;
}
