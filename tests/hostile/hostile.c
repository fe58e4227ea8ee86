/* SPDX-License-Identifier: MIT */
/*
 * Libraries that are damaged by a seed, each opened in a child:
 * hostile [--seed S] [--count N] [--trace] LIBRARY...
 *
 * Wherever a child ends, this library must not be at fault: it refuses the file with words, or the
 * table is sound. What the system's loader dies of is counted, and so is what a damaged library
 * does when its own code runs, or what it has in place of code. The exit code is 1 if the fault is
 * cushim's: a crash, a hang, a status without words, a slot that is NULL.
 */
#include <dlfcn.h>
#include <link.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "common.h"
#include "damage.h"

enum { HOSTILE_SECONDS = 5 };

/* Who was at work when a child ended. */
enum hostile_place {
    HOSTILE_OURS,    /* cushim, or the C library for it */
    HOSTILE_OPEN,    /* the system's dlopen, which includes constructors */
    HOSTILE_LOADER,  /* the system's loader for dlsym, dladdr or dlclose */
    HOSTILE_LIBRARY, /* code of a library: what the file has for a function */
    HOSTILE_PLACES
};

static const char *const hostile_places[] = {"cushim", "dlopen", "dlsym", "the library's code"};

/* What a child leaves behind. */
struct hostile_note {
    volatile sig_atomic_t in_dlopen, in_dladdr;
    int signal, place;
    uintptr_t address, instruction;
    uintptr_t base; /* of the library that was opened last */
    enum cushim_status status;
    char message[512];
};

static struct hostile_note *hostile_note;

enum { HOSTILE_SPAN = 1 << 20 }; /* no fake is as large */

void *__real_dlopen(const char *path, int flags);
void *__wrap_dlopen(const char *path, int flags);
void *__wrap_dlopen(const char *path, int flags)
{
    hostile_note->in_dlopen = 1;
    void *handle = __real_dlopen(path, flags);
    struct link_map *map = NULL;
    if (handle && dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0)
        hostile_note->base = map->l_addr;
    hostile_note->in_dlopen = 0;
    return handle;
}

int __real_dladdr(const void *address, Dl_info *info);
int __wrap_dladdr(const void *address, Dl_info *info);
int __wrap_dladdr(const void *address, Dl_info *info)
{
    hostile_note->in_dladdr = 1;
    int found = __real_dladdr(address, info);
    hostile_note->in_dladdr = 0;
    return found;
}

/* ---- where a child was when a signal came */

/* The next instruction, and the top of the stack. */
static uintptr_t hostile_instruction(const ucontext_t *context, const uintptr_t **stack)
{
#if defined(__x86_64__)
    *stack = (const uintptr_t *)context->uc_mcontext.gregs[REG_RSP];
    return (uintptr_t)context->uc_mcontext.gregs[REG_RIP];
#elif defined(__i386__)
    *stack = (const uintptr_t *)context->uc_mcontext.gregs[REG_ESP];
    return (uintptr_t)context->uc_mcontext.gregs[REG_EIP];
#elif defined(__aarch64__)
    *stack = (const uintptr_t *)context->uc_mcontext.sp;
    return (uintptr_t)context->uc_mcontext.pc;
#else
#error "which register has the next instruction?"
#endif
}

struct hostile_range {
    uintptr_t address, start, end;
};

static int hostile_find_range(struct dl_phdr_info *object, size_t size, void *data)
{
    struct hostile_range *range = data;
    (void)size;
    for (unsigned i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
        uintptr_t start = (uintptr_t)object->dlpi_addr + segment->p_vaddr;
        if (segment->p_type == PT_LOAD && range->address - start < segment->p_memsz) {
            range->start = start;
            range->end = start + segment->p_memsz;
            return 1;
        }
    }
    return 0;
}

static struct hostile_range hostile_range_of(uintptr_t address)
{
    struct hostile_range range = {.address = address};
    dl_iterate_phdr(hostile_find_range, &range);
    return range;
}

static struct hostile_range hostile_own, hostile_c, hostile_loader;

static bool hostile_is_in(const struct hostile_range *range, uintptr_t address)
{
    return address >= range->start && address < range->end;
}

static bool hostile_is_library(uintptr_t address)
{
    return hostile_note->base && address - hostile_note->base < HOSTILE_SPAN;
}

/* Whose code called the C library, or jumped away: the first on the stack that may have. */
static enum hostile_place hostile_caller(const uintptr_t *stack)
{
    for (int i = 0; i < 64; i++) {
        if (hostile_is_in(&hostile_own, stack[i]))
            return HOSTILE_OURS;
        if (hostile_is_library(stack[i]))
            return HOSTILE_LIBRARY;
    }
    return HOSTILE_OURS;
}

static void hostile_end(int number, siginfo_t *info, void *context)
{
    const uintptr_t *stack;
    struct hostile_note *note = hostile_note;
    uintptr_t at = note->instruction = hostile_instruction(context, &stack);
    note->signal = number;
    note->address = (uintptr_t)info->si_addr;
    if (note->in_dlopen)
        note->place = HOSTILE_OPEN;
    else if (note->in_dladdr)
        note->place = HOSTILE_LOADER;
    else if (hostile_is_in(&hostile_own, at) || number == SIGABRT) /* a check that fails */
        note->place = HOSTILE_OURS;
    else if (hostile_is_in(&hostile_loader, at))
        note->place = HOSTILE_LOADER;
    else if (hostile_is_library(at) || !hostile_range_of(at).end) /* or where a symbol led to */
        note->place = HOSTILE_LIBRARY;
    else
        note->place = (int)hostile_caller(stack);
    _exit(99);
}

/* ---- one case */

static void hostile_watch(void)
{
    static const int signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGALRM, SIGTRAP};
    static char stack[65536];
    struct sigaction action = {.sa_sigaction = hostile_end, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = sizeof stack}, NULL);
    for (size_t i = 0; i < COUNT(signals); i++)
        sigaction(signals[i], &action, NULL);
    alarm(HOSTILE_SECONDS);
}

static void hostile_open(void *path)
{
    hostile_watch();
    const struct cushim_api *cu = open_path(path);
    hostile_note->status = cushim_status(cu);
    snprintf(hostile_note->message, sizeof hostile_note->message, "%s", cushim_message(cu));
    assert_sound(cu);
    cushim_close(cu);
}

static struct damage_file hostile_damaged(const char *library, uint64_t seed, char *text,
                                          size_t size)
{
    struct damage_file file;
    unsigned char *bytes = read_whole(library, &file.size);
    file.bytes = realloc(bytes, file.size + DAMAGE_MORE);
    assert_non_null(file.bytes);
    damage_make(&file, seed, text, size);
    return file;
}

static void hostile_explain(const struct hostile_note *note, char *text, size_t size)
{
    Dl_info info = {0};
    bool known = dladdr((const void *)note->instruction, &info) != 0; /* the same as in the child */
    char *said = strdup(text);
    assert_non_null(said);
    snprintf(text, size, "signal %d in %s, at %#lx (%s+%#lx, %s), address %#lx; ", note->signal,
             hostile_places[note->place], (unsigned long)note->instruction,
             known ? info.dli_fname : "?",
             (unsigned long)(note->instruction - (uintptr_t)info.dli_fbase),
             known && info.dli_sname ? info.dli_sname : "?", (unsigned long)note->address);
    strncat(text, said, size - strlen(text) - 1);
    free(said);
}

int main(int count, char **words)
{
    uint64_t seed = 1, cases = 400;
    bool trace = false;
    int first = 1;
    for (; first < count && strncmp(words[first], "--", 2) == 0; first++) {
        if (strcmp(words[first], "--trace") == 0)
            trace = true;
        else if (strcmp(words[first], "--seed") == 0 && first + 1 < count)
            seed = strtoull(words[++first], NULL, 10);
        else if (strcmp(words[first], "--count") == 0 && first + 1 < count)
            cases = strtoull(words[++first], NULL, 10);
        else
            return 2;
    }
    if (first == count || !make_folder())
        return 2;
    hostile_note =
        mmap(NULL, sizeof *hostile_note, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    hostile_own = hostile_range_of((uintptr_t)hostile_open);
    hostile_c = hostile_range_of((uintptr_t)dlsym(RTLD_DEFAULT, "strchr"));
    hostile_loader = hostile_range_of((uintptr_t)dlsym(RTLD_DEFAULT, "__tls_get_addr"));

    unsigned statuses[64] = {0}, places[HOSTILE_PLACES] = {0}, wrong = 0;
    for (uint64_t i = seed; i < seed + cases; i++) {
        char text[256], output[TEXT_SIZE];
        const char *library = words[first + (int)(i % (uint64_t)(count - first))];
        struct damage_file file = hostile_damaged(library, i, text, sizeof text);
        char path[PATH_SIZE];
        snprintf(path, sizeof path, "%s", write_file("damaged.so", file.bytes, file.size));
        free(file.bytes);
        memset(hostile_note, 0, sizeof *hostile_note);
        int result = try_in_child(hostile_open, path, output);
        const struct hostile_note *note = hostile_note;
        bool bad;
        if (result == 0) {
            statuses[note->status]++;
            bad = strlen(note->message) < 10;
        } else if (note->signal) {
            places[note->place]++;
            bad = note->place == HOSTILE_OURS;
        } else { /* a failed assertion of the system's loader ends the process */
            bad = !note->in_dlopen;
            places[HOSTILE_OPEN] += !bad;
        }
        wrong += bad;
        if (!bad && !trace)
            continue;
        if (note->signal)
            hostile_explain(note, output, sizeof output);
        printf("%sseed %llu, %s: %s: %s\n", bad ? "WRONG " : "", (unsigned long long)i,
               strrchr(library, '/') ? strrchr(library, '/') + 1 : library, text,
               result == 0 ? note->message : output);
    }
    for (size_t i = 0; i < COUNT(statuses); i++)
        if (statuses[i])
            printf("%6u %s\n", statuses[i], cushim_status_name((enum cushim_status)i));
    for (size_t i = 0; i < HOSTILE_PLACES; i++)
        if (places[i])
            printf("%6u ended in %s\n", places[i], hostile_places[i]);
    printf("%u of %llu wrong\n", wrong, (unsigned long long)cases);
    remove_folder();
    return wrong != 0;
}
