/* SPDX-License-Identifier: MIT */
/* Asks a driver's cuGetProcAddress every question of standard input ("name version flags", a name
 * of - is the empty string) and prints the answers: code, status and the symbol at the address.
 * Usage: proc_probe LIBRARY v1|v2 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int proc_v1(const char *, void **, int, unsigned long long);
typedef int proc_v2(const char *, void **, int, unsigned long long, int *);

static char untouched;

static const char *symbol_at(void *address)
{
    Dl_info info;
    if (address == &untouched)
        return "untouched";
    if (!address)
        return "NULL";
    return dladdr(address, &info) && info.dli_sname && info.dli_saddr == address ? info.dli_sname
                                                                                 : "private";
}

int main(int argc, char **argv)
{
    char name[256];
    int version, second;
    unsigned long long flags;
    if (argc != 3)
        return 2;
    void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    second = strcmp(argv[2], "v2") == 0;
    void *proc = dlsym(library, second ? "cuGetProcAddress_v2" : "cuGetProcAddress");
    if (!proc) {
        fprintf(stderr, "no cuGetProcAddress\n");
        return 1;
    }
    while (scanf("%255s %d %llu", name, &version, &flags) == 3) {
        void *address = &untouched;
        int status = -1;
        const char *asked = strcmp(name, "-") == 0 ? "" : name;
        int rc = second ? ((proc_v2 *)proc)(asked, &address, version, flags, &status)
                        : ((proc_v1 *)proc)(asked, &address, version, flags);
        printf("%s %d %llu: %d %d %s\n", name, version, flags, rc, status, symbol_at(address));
    }
    return 0;
}
