/* SPDX-License-Identifier: MIT */
/* The command `cushim` for Windows: info, symbols and features, as text. The other subcommands and
 * JSON need argp and jansson, and are for Linux. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <windows.h>

#include <shellapi.h>

#include <cushim/cushim.h>
#include <cushim/error.h>
#include <cushim/feature.h>

#include "names.h"

enum { EXIT_OK = 0, EXIT_CALL = 1, EXIT_USAGE = 2, EXIT_NO_DRIVER = 3, EXIT_OUTPUT = 4 };

static const char usage[] =
    "Usage: cushim info|symbols|features [-d PATH] [-i] [-m]\n"
    "Report which CUDA driver a program here gets, and what it has.\n\n"
    "  info      which driver, and every candidate that was tried\n"
    "  symbols   every entry of the CUDA driver API; -m: those that are missing\n"
    "  features  what the driver can do; after -i, what device 0 can\n\n"
    "  -d, --driver PATH  use this library exactly, instead of nvcuda.dll of the system\n"
    "  -i, --init         start the driver (cuInit); info then lists its devices\n"
    "  -m, --missing      only what is missing\n"
    "  -V, --version      print the version\n\n"
    "This is the command for Windows: JSON, compat, report, demo, matrix, sim, scan, newer and\n"
    "diff are in the one for Linux.\n\n"
    "Exit status: 0 success, 1 a CUDA call failed, 2 wrong options, 3 no usable driver,\n"
    "4 the output could not be written\n";

struct request {
    const char *command, *driver;
    bool init, missing;
};

/* Arguments in UTF-8, whatever the system's code page has. */
static char **command_arguments(int *count)
{
    wchar_t **wide = CommandLineToArgvW(GetCommandLineW(), count);
    char **arguments = wide ? calloc((size_t)*count + 1, sizeof *arguments) : NULL;
    for (int i = 0; arguments && i < *count; i++) {
        int size = WideCharToMultiByte(CP_UTF8, 0, wide[i], -1, NULL, 0, NULL, NULL);
        arguments[i] = calloc(1, (size_t)size + 1);
        if (!arguments[i])
            return NULL;
        WideCharToMultiByte(CP_UTF8, 0, wide[i], -1, arguments[i], size, NULL, NULL);
    }
    LocalFree(wide);
    return arguments;
}

static bool is_option(const char *argument, const char *brief, const char *whole)
{
    return strcmp(argument, brief) == 0 || strcmp(argument, whole) == 0;
}

/* False: wrong, or all is said. */
static bool read_arguments(int count, char **arguments, struct request *request, int *code)
{
    *code = EXIT_USAGE;
    for (int i = 1; i < count; i++) {
        const char *argument = arguments[i];
        if (is_option(argument, "-?", "--help") || is_option(argument, "-V", "--version")) {
            *code = EXIT_OK;
            puts(strstr(argument, "V") || strstr(argument, "v") ? "cushim " CUSHIM_VERSION_TEXT
                                                                : usage);
            return false;
        }
        if (is_option(argument, "-d", "--driver") && i + 1 < count) {
            request->driver = arguments[++i];
        } else if (strncmp(argument, "--driver=", 9) == 0) {
            request->driver = argument + 9;
        } else if (is_option(argument, "-i", "--init")) {
            request->init = true;
        } else if (is_option(argument, "-m", "--missing")) {
            request->missing = true;
        } else if (*argument != '-' && !request->command) {
            request->command = argument;
        } else {
            fprintf(stderr, "cushim: no option or command '%s' here\n%s", argument, usage);
            return false;
        }
    }
    if (request->command)
        return true;
    fputs(usage, stderr);
    return false;
}

static void print_driver(const struct cushim_api *cu)
{
    char version[VERSION_TEXT_SIZE];
    if (cushim_status(cu) != CUSHIM_OK)
        printf("no driver\n");
    else
        printf("CUDA %s, %s\n", version_text(version, cushim_driver_version(cu)), cushim_path(cu));
}

static int print_devices(const struct cushim_api *cu)
{
    int count = 0;
    if (cushim_init(cu) != CUSHIM_OK || cu->cuDeviceGetCount(&count) != CUDA_SUCCESS) {
        fprintf(stderr, "cushim info: %s\n", cushim_last_error());
        return EXIT_NO_DRIVER;
    }
    printf("Devices\n");
    for (int i = 0; i < count; i++) {
        char name[256] = "";
        size_t bytes = 0;
        CUdevice device;
        if (cu->cuDeviceGet(&device, i) != CUDA_SUCCESS ||
            cu->cuDeviceGetName(name, sizeof name, device) != CUDA_SUCCESS ||
            cu->cuDeviceTotalMem_v2(&bytes, device) != CUDA_SUCCESS)
            return EXIT_CALL;
        printf("  %d  %s, %llu MiB\n", i, name, (unsigned long long)bytes >> 20);
    }
    return EXIT_OK;
}

static int print_info(const struct cushim_api *cu, const struct request *request)
{
    size_t available = 0;
    struct cushim_attempt attempt = {.size = sizeof attempt};
    printf("Driver\n  ");
    print_driver(cu);
    if (cushim_status(cu) != CUSHIM_OK)
        printf("  %s\n", cushim_message(cu));
    printf("Candidates, in the order in which they were tried\n");
    for (size_t i = 0; cushim_attempt_at(cu, i, &attempt); i++)
        printf("  %-12s %-11s %s  %s\n", cushim_status_name(attempt.status),
               source_name(attempt.source), attempt.path, attempt.message);
    for (size_t i = 0; i < cushim_entry_count(); i++)
        available += cushim_slot_at(cu, i).state == CUSHIM_STATE_AVAILABLE;
    printf("Entries known to cushim " CUSHIM_VERSION_TEXT "\n  available  %llu of %llu\n",
           (unsigned long long)available, (unsigned long long)cushim_entry_count());
    for (const struct remark_words *words = remark_words; words->name; words++)
        if (cushim_remarks(cu) & (unsigned)words->remark)
            printf("%s\n", words->sentence);
    return request->init && cushim_status(cu) == CUSHIM_OK ? print_devices(cu) : EXIT_OK;
}

static int print_symbols(const struct cushim_api *cu, const struct request *request)
{
    struct cushim_entry entry;
    print_driver(cu);
    printf("%-53s %-6s %-7s %-15s %-10s VIA\n", "SYMBOL", "SINCE", "STREAM", "HEADER", "STATE");
    for (size_t i = 0; cushim_entry_at(i, &entry); i++) {
        const struct cushim_slot slot = cushim_slot_at(cu, i);
        char since[VERSION_TEXT_SIZE];
        if (!request->missing || slot.state != CUSHIM_STATE_AVAILABLE)
            printf("%-53s %-6s %-7s %-15s %-10s %s\n", entry.symbol,
                   version_text(since, entry.since), stream_name(entry.stream), entry.header,
                   state_name(slot.state), via_name(slot.via));
    }
    return EXIT_OK;
}

static int print_features(const struct cushim_api *cu, const struct request *request)
{
    struct cushim_feature_facts facts = {.size = sizeof facts};
    if (request->init && cushim_init(cu) != CUSHIM_OK) {
        fprintf(stderr, "cushim features: %s\n", cushim_last_error());
        return EXIT_NO_DRIVER;
    }
    print_driver(cu);
    for (size_t i = 0; cushim_feature_list(i, &facts); i++) {
        enum cushim_support support;
        char text[256];
        cushim_feature_reason(cu, request->init ? 0 : CUSHIM_NO_DEVICE, facts.feature, &support,
                              text, sizeof text);
        if (!request->missing || support != CUSHIM_SUPPORTED)
            printf("%-21s %s\n", cushim_support_name(support), text);
    }
    return EXIT_OK;
}

int main(void)
{
    static const struct {
        const char *name;
        int (*run)(const struct cushim_api *cu, const struct request *request);
    } commands[] = {{"info", print_info}, {"symbols", print_symbols}, {"features", print_features}};
    struct request request = {0};
    int count = 0, code = EXIT_USAGE;
    char **arguments = command_arguments(&count);
    SetConsoleOutputCP(CP_UTF8);
    if (!arguments || !read_arguments(count, arguments, &request, &code))
        return code;
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        if (strcmp(commands[i].name, request.command) != 0)
            continue;
        struct cushim_options options = {.size = sizeof options, .path = request.driver};
        const struct cushim_api *cu = cushim_open(&options);
        if (!cu)
            return EXIT_OUTPUT;
        code = commands[i].run(cu, &request);
        if (code == EXIT_OK && cushim_status(cu) != CUSHIM_OK)
            code = EXIT_NO_DRIVER;
        return fflush(stdout) == 0 ? code : EXIT_OUTPUT;
    }
    fprintf(stderr, "cushim: no command '%s' here\n%s", request.command, usage);
    return EXIT_USAGE;
}
