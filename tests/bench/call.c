/* SPDX-License-Identifier: MIT */
/*
 * call PATH CALLS TURNS
 *
 * Calls a real driver's cuDriverGetVersion through cushim's table and through a plain function
 * pointer, in turns, and prints "TABLE POINTER" in picoseconds a call for each turn. bench.py also
 * runs it in callgrind, which counts the instructions of the two functions.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cushim/cushim.h>

#include "clock.h"

typedef CUresult(CUDAAPI *version_fn)(int *);

KEEP long call_table(const struct cushim_api *cu, long calls);
KEEP long call_pointer(version_fn function, long calls);

KEEP long call_table(const struct cushim_api *cu, long calls)
{
    int version = 0;
    long sum = 0;
    for (long i = 0; i < calls; i++)
        sum += cu->cuDriverGetVersion(&version);
    return sum + version;
}

KEEP long call_pointer(version_fn function, long calls)
{
    int version = 0;
    long sum = 0;
    for (long i = 0; i < calls; i++)
        sum += function(&version);
    return sum + version;
}

int main(int count, char **arguments)
{
    long calls = count == 4 ? atol(arguments[2]) : 0, turns = count == 4 ? atol(arguments[3]) : 0;
    if (calls < 1 || turns < 1) {
        fprintf(stderr, "usage: call PATH CALLS TURNS\n");
        return 2;
    }
    struct cushim_options options = {.size = sizeof options, .path = arguments[1]};
    const struct cushim_api *opened = cushim_open(&options);
    void *library = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
    void *symbol = library ? dlsym(library, "cuDriverGetVersion") : NULL;
    if (!opened || !symbol)
        return 1;
    const struct cushim_api *cu = opened;
    version_fn function;
    memcpy(&function, &symbol, sizeof symbol);
    long first = call_table(cu, 1), second = call_pointer(function, 1);
    if (first != second)
        return 1;
    for (long turn = 0; turn < turns; turn++) {
        long long start = clock_now();
        call_table(cu, calls);
        long long middle = clock_now();
        call_pointer(function, calls);
        long long end = clock_now();
        printf("%lld %lld\n", (middle - start) * 1000 / calls, (end - middle) * 1000 / calls);
    }
    return 0;
}
