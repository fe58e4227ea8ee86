/* SPDX-License-Identifier: MIT */
/* What tests/unit/system.c has for POSIX: libraries, variables, children and files. */
#include "common.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <windows.h>

#include "child.h"

enum { CHILD_MILLISECONDS = 60000 };

static char folder[64];
static size_t children; /* of the test that runs */
static size_t children_of;

const char *fake_path(const char *name)
{
    static _Thread_local char path[PATH_SIZE];
    snprintf(path, sizeof path, "%s/fake_%s.dll", CUSHIM_FAKES, name);
    return path;
}

void *exported(const char *path, const char *symbol)
{
    HMODULE module = LoadLibraryA(path);
    if (!module)
        fail_msg("%s: error %lu", path, GetLastError());
    FARPROC found = GetProcAddress(module, symbol);
    void *address;
    memcpy(&address, &found, sizeof address);
    return address;
}

void set_environment(const char *name, const char *value)
{
    assert_int_equal(_putenv_s(name, value ? value : ""), 0);
}

/* ---- children */

static size_t told(size_t part)
{
    const char *text = getenv("CUSHIM_TEST_CHILD");
    unsigned long test = 0, number = 0;
    if (!text || sscanf(text, "%lu %lu", &test, &number) != 2)
        return 0;
    return part == 0 ? test : number;
}

size_t child_test(void)
{
    return told(0);
}

size_t child_number(void)
{
    return told(1);
}

static void start_child(HANDLE output, PROCESS_INFORMATION *child)
{
    char program[MAX_PATH], value[64];
    STARTUPINFOA start = {.cb = sizeof start,
                          .dwFlags = STARTF_USESTDHANDLES,
                          .hStdInput = GetStdHandle(STD_INPUT_HANDLE),
                          .hStdOutput = output,
                          .hStdError = output};
    assert_in_range(GetModuleFileNameA(NULL, program, sizeof program), 1, sizeof program - 1);
    snprintf(value, sizeof value, "%zu %zu", check_running, children);
    set_environment("CUSHIM_TEST_CHILD", value);
    BOOL started = CreateProcessA(program, NULL, NULL, NULL, TRUE, 0, NULL, NULL, &start, child);
    set_environment("CUSHIM_TEST_CHILD", NULL);
    if (!started)
        fail_msg("%s: error %lu", program, GetLastError());
}

static void read_all(HANDLE from, char *output)
{
    DWORD got;
    size_t length = 0;
    char rest[512];
    while (ReadFile(from, rest, sizeof rest, &got, NULL) && got)
        for (DWORD i = 0; i < got; i++)
            if (rest[i] != '\r' && length < TEXT_SIZE - 1)
                output[length++] = rest[i];
    output[length] = '\0';
}

int try_in_child(void (*body)(void *), void *argument, char *output)
{
    PROCESS_INFORMATION child;
    SECURITY_ATTRIBUTES inherited = {sizeof inherited, NULL, TRUE};
    HANDLE from, to;
    DWORD status = 1;

    if (children_of != check_running)
        children = 0;
    children_of = check_running;
    children++;
    if (child_number() == children) {
        body(argument);
        fflush(NULL);
        _exit(0);
    }
    *output = '\0';
    if (child_number())
        return 0; /* another child's part */
    fflush(NULL);
    assert_true(CreatePipe(&from, &to, &inherited, 0));
    SetHandleInformation(from, HANDLE_FLAG_INHERIT, 0);
    start_child(to, &child);
    CloseHandle(to);
    read_all(from, output);
    CloseHandle(from);
    if (WaitForSingleObject(child.hProcess, CHILD_MILLISECONDS) != WAIT_OBJECT_0)
        TerminateProcess(child.hProcess, 124);
    GetExitCodeProcess(child.hProcess, &status);
    CloseHandle(child.hProcess);
    CloseHandle(child.hThread);
    return (int)status;
}

void run_in_child(void (*body)(void *), void *argument, char *output)
{
    char own[TEXT_SIZE];
    output = output ? output : own;
    int status = try_in_child(body, argument, output);
    if (status != 0)
        fail_msg("child ended with status 0x%x:\n%s", (unsigned)status, output);
}

/* ---- files */

const char *make_folder(void)
{
    char base[32] = ".";
    if (GetEnvironmentVariableA("TMP", base, sizeof base) >= sizeof base)
        strcpy(base, ".");
    /* Process numbers come again, so a folder of that name may be left. */
    for (unsigned i = 0; i < 1000; i++) {
        snprintf(folder, sizeof folder, "%s/cushim-unit-%lu-%u", base, GetCurrentProcessId(), i);
        if (CreateDirectoryA(folder, NULL))
            return folder;
    }
    return NULL;
}

/* Everything in it: the tests make no folders there. */
void remove_folder(void)
{
    char path[PATH_SIZE];
    WIN32_FIND_DATAA found;
    snprintf(path, sizeof path, "%s/*", folder);
    HANDLE list = FindFirstFileA(path, &found);
    for (BOOL more = list != INVALID_HANDLE_VALUE; more; more = FindNextFileA(list, &found)) {
        snprintf(path, sizeof path, "%s/%s", folder, found.cFileName);
        DeleteFileA(path);
    }
    if (list != INVALID_HANDLE_VALUE)
        FindClose(list);
    RemoveDirectoryA(folder);
}

const char *in_folder(const char *name)
{
    static _Thread_local char paths[4][PATH_SIZE];
    static _Thread_local unsigned next;
    char *path = paths[next++ % COUNT(paths)];
    snprintf(path, PATH_SIZE, "%s/%s", folder, name);
    return path;
}

const char *write_file(const char *name, const void *bytes, size_t size)
{
    const char *path = in_folder(name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_true(size == 0 || fwrite(bytes, 1, size, file) == size);
    assert_int_equal(fclose(file), 0);
    return path;
}
