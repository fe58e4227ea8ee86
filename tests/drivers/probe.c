/* SPDX-License-Identifier: MIT */
/*
 * probe PATH [--order both|symbols] [--per-thread] [--call] [--init]
 *
 * Opens one driver and prints, a line each and separated by tabs, facts about it and every slot of
 * its table; test_drivers.py compares them with what the driver's file exports.
 *
 *     fact   NAME    VALUE
 *     entry  SYMBOL  NAME  SINCE  STREAM  HEADER  STATE  VIA  OFFSET  SLOT
 *     call   SYMBOL  CODE  LAST-ERROR          each unavailable entry (--call)
 *
 * OFFSET is relative to the library's load address, "-" where the slot is not the driver's; SLOT is
 * what the table holds. Exit codes: 0, 1 where the driver did not load, 2 wrong usage.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cushim/cushim.h>

static const char *const stream_names[] = {"legacy", "ptsz", "ptds"};
static const char *const via_names[] = {"none", "proc", "dlsym"};
static const char *const state_names[] = {"available", "no-driver", "newer",
                                          "absent",    "platform",  "unknown"};

struct request {
    struct cushim_options options;
    bool call, init;
};

/* The table is its size, then one pointer for each entry, in the registry's order. */
static void *slot_value(const struct cushim_api *cu, size_t index)
{
    void *value;
    memcpy(&value,
           (const char *)cu + offsetof(struct cushim_api, cuArray3DCreate_v1) +
               index * sizeof value,
           sizeof value);
    return value;
}

static void print_entry(const struct cushim_api *cu, size_t index)
{
    struct cushim_entry entry;
    struct cushim_slot slot = cushim_slot_at(cu, index);
    char offset[32] = "-";
    if (!cushim_entry_at(index, &entry))
        return;
    if (slot.address)
        snprintf(offset, sizeof offset, "0x%llx",
                 (unsigned long long)((uintptr_t)slot.address - (uintptr_t)cushim_base(cu)));
    printf("entry\t%s\t%s\t%d\t%s\t%s\t%s\t%s\t%s\t%p\n", entry.symbol, entry.name, entry.since,
           stream_names[entry.stream], entry.header, state_names[slot.state], via_names[slot.via],
           offset, slot_value(cu, index));
}

/*
 * Call a slot that holds a stub, whatever its parameters are. Calling a function through another
 * type is undefined in C; what makes it work are the calling conventions of Linux: the caller
 * passes up to six integers in registers or on the stack, and cleans up itself, so that a function
 * which reads none of its parameters cannot tell the difference. Zeros, so that one which does read
 * them finds NULL. Only for stubs: never the driver's functions.
 */
static int call_stub(void *stub)
{
#if defined(__linux__) && (defined(__x86_64__) || defined(__aarch64__) || defined(__i386__))
    int (*function)(uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t);
    memcpy(&function, &stub, sizeof stub);
    return function(0, 0, 0, 0, 0, 0);
#else
    (void)stub;
    return -1;
#endif
}

static void call_unavailable(const struct cushim_api *cu)
{
    for (size_t i = 0; i < cushim_entry_count(); i++) {
        struct cushim_entry entry;
        if (!cushim_entry_at(i, &entry) || cushim_slot_at(cu, i).address)
            continue;
        cushim_last_error_clear();
        int code = call_stub(slot_value(cu, i));
        printf("call\t%s\t%d\t%s\n", entry.symbol, code, cushim_last_error());
    }
}

static bool parse_order(const char *text, enum cushim_order *order)
{
    static const char *const names[] = {"both", "symbols"};
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(text, names[i]) == 0) {
            *order = (enum cushim_order)i;
            return true;
        }
    }
    return false;
}

static bool parse(struct request *request, int count, char **arguments)
{
    memset(request, 0, sizeof *request);
    request->options.size = sizeof request->options;
    for (int i = 1; i < count; i++) {
        if (strcmp(arguments[i], "--per-thread") == 0)
            request->options.per_thread_default_stream = true;
        else if (strcmp(arguments[i], "--call") == 0)
            request->call = true;
        else if (strcmp(arguments[i], "--init") == 0)
            request->init = true;
        else if (strcmp(arguments[i], "--order") == 0 && i + 1 < count &&
                 parse_order(arguments[i + 1], &request->options.order))
            i++;
        else if (*arguments[i] != '-' && !request->options.path)
            request->options.path = arguments[i];
        else
            return false;
    }
    return request->options.path;
}

int main(int count, char **arguments)
{
    struct request request;
    if (!parse(&request, count, arguments)) {
        fprintf(stderr, "usage: probe PATH [--order both|symbols] [--per-thread] [--call] "
                        "[--init]\n");
        return 2;
    }
    const struct cushim_api *cu = cushim_open(&request.options);
    if (!cu || cushim_status(cu) != CUSHIM_OK) {
        fprintf(stderr, "probe: %s\n", cu ? cushim_message(cu) : cushim_last_error());
        return 1;
    }
    printf("fact\tversion\t%d\n", cushim_driver_version(cu));
    printf("fact\tregistry\t%d\n", cushim_registry_version());
    printf("fact\tpath\t%s\n", cushim_path(cu));
    printf("fact\tremarks\t%u\n", cushim_remarks(cu));
    printf("fact\ttable-size\t%zu\n", cu->size);
    for (size_t i = 0; i < cushim_entry_count(); i++)
        print_entry(cu, i);
    if (request.call)
        call_unavailable(cu);
    fflush(stdout);
    if (request.init)
        printf("fact\tinit\t%d\n", (int)cu->cuInit(0));
    cushim_close(cu);
    return 0;
}
