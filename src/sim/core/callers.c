/* SPDX-License-Identifier: MIT */
/* Where the program called from: the return addresses behind a call, each as a place in its file.
 * They are written if CUSHIM_SIM_CALLERS is 1, and cost nothing otherwise. */
#include "core/core.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <unwind.h>

#define MOST 16 /* abort alone has several, and a class on a helper that refuses, too */

bool sim_callers_wanted;
char *(*sim_callers_origin)(void);

/* Of libgcc, which not every machine has. */
static __typeof__(&_Unwind_Backtrace) walk;
static __typeof__(&_Unwind_GetCFA) stack_of;
static __typeof__(&_Unwind_GetIPInfo) place_of;

void sim_callers_prepare(void)
{
    const char *text = secure_getenv("CUSHIM_SIM_CALLERS");
    void *library =
        text && strcmp(text, "1") == 0 ? dlopen("libgcc_s.so.1", RTLD_NOW | RTLD_LOCAL) : NULL;
    if (!library)
        return;
    walk = (__typeof__(walk))dlsym(library, "_Unwind_Backtrace");
    stack_of = (__typeof__(stack_of))dlsym(library, "_Unwind_GetCFA");
    place_of = (__typeof__(place_of))dlsym(library, "_Unwind_GetIPInfo");
    sim_callers_wanted = walk && stack_of && place_of;
}

struct callers {
    uintptr_t inner; /* what is on the stack below this is the driver's own */
    bool signalled;  /* or what is before the frame of a signal */
    uintptr_t places[MOST];
    size_t count;
};

static _Unwind_Reason_Code add(struct _Unwind_Context *context, void *user)
{
    struct callers *callers = user;
    int exact = 0; /* a signal's: not behind a call */
    uintptr_t place = place_of(context, &exact);
    callers->signalled &= !exact;
    if (!callers->signalled && stack_of(context) > callers->inner && place)
        callers->places[callers->count++] = place - !exact;
    return callers->count < MOST ? _URC_NO_REASON : _URC_END_OF_STACK;
}

struct module {
    uintptr_t place, offset;
    bool seen;  /* the program itself, which comes first */
    bool quick; /* without memory */
    char path[PATH_MAX];
};

static bool has(const struct dl_phdr_info *info, uintptr_t place)
{
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        if (part->p_type == PT_LOAD && place - (info->dlpi_addr + part->p_vaddr) < part->p_memsz)
            return true;
    }
    return false;
}

/* Of a library that was opened by a relative path: the working directory may be another now. */
static void read_path(struct module *module)
{
    FILE *maps = fopen("/proc/self/maps", "re");
    char *line = NULL;
    size_t room = 0;
    unsigned long from, to;
    while (maps && getline(&line, &room, maps) > 0) {
        const char *path = strchr(line, '/');
        if (path && sscanf(line, "%lx-%lx", &from, &to) == 2 && module->place >= from &&
            module->place < to)
            snprintf(module->path, sizeof module->path, "%.*s", (int)strcspn(path, "\n"), path);
    }
    free(line);
    if (maps)
        fclose(maps);
}

static int find(struct dl_phdr_info *info, size_t size, void *user)
{
    struct module *module = user;
    bool first = !module->seen;
    (void)size;
    module->seen = true;
    if (!has(info, module->place))
        return 0;
    module->offset = module->place - info->dlpi_addr;
    const char *name = first ? "/proc/self/exe" : info->dlpi_name;
    if (*name == '/' && realpath(name, module->path))
        return 1;
    module->path[0] = '\0';
    if (!module->quick)
        read_path(module);
    return 1;
}

/* "\t/path/program+0x12" of what `module` has the place of; its length, 0: nothing is known of it,
 * or there is no room. */
static size_t put(char *text, size_t size, struct module *module)
{
    if (dl_iterate_phdr(find, module) != 1 || !*module->path || strpbrk(module->path, "\t\n"))
        return 0;
    int length = snprintf(text, size, "\t%s+0x%lx", module->path, (unsigned long)module->offset);
    return length > 0 && (size_t)length < size ? (size_t)length : 0;
}

/* What was found before, as long as no library comes or goes. The driver's lock is held. */
static struct known {
    uintptr_t place;
    char *text; /* "\t/path/program+0x12"; NULL: nothing is known of it */
} known[1024];

static int count(struct dl_phdr_info *info, size_t size, void *user)
{
    (void)size;
    *(unsigned long long *)user = info->dlpi_adds + info->dlpi_subs;
    return 1;
}

static void forget(void)
{
    static unsigned long long before;
    unsigned long long now = 0;
    (void)dl_iterate_phdr(count, &now);
    if (now == before)
        return;
    before = now;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        free(known[i].text);
        known[i] = (struct known){.text = NULL};
    }
}

static const char *text_of(uintptr_t place)
{
    struct known *found = &known[place % (sizeof known / sizeof *known)];
    struct module module = {.place = place};
    char text[PATH_MAX + 32];
    if (found->place == place)
        return found->text;
    free(found->text);
    *found = (struct known){.place = place};
    if (put(text, sizeof text, &module) > 0)
        found->text = strdup(text);
    return found->text;
}

size_t sim_callers_put(char *text, size_t size, const void *inner)
{
    struct callers callers = {.inner = (uintptr_t)inner};
    size_t used = 0;
    if (!sim_callers_wanted)
        return 0;
    (void)walk(add, &callers);
    forget();
    for (size_t i = 0; i < callers.count; i++) {
        const char *found = text_of(callers.places[i]);
        size_t length = found ? strlen(found) : 0;
        if (length >= size - used)
            break; /* a part of one would be another place */
        if (found)
            snprintf(text + used, size - used, "%s", found);
        used += length;
    }
    text[used] = '\0';
    return used;
}

size_t sim_callers_put_signal(char *text, size_t size)
{
    struct callers callers = {.signalled = true};
    size_t used = 0;
    (void)walk(add, &callers);
    for (size_t i = 0; i < callers.count; i++) {
        struct module module = {.place = callers.places[i], .quick = true};
        used += put(text + used, size - used, &module);
    }
    text[used] = '\0';
    return used;
}
