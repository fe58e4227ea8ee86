/* SPDX-License-Identifier: MIT */
#include "scan_python.h"

#include <string.h>

bool scan_python_is(const char *name)
{
    size_t length = strlen(name);

    return length > 3 && strcmp(name + length - 3, ".py") == 0;
}

bool scan_python_names(const char *text, size_t size)
{
    static const char *const words[] = {"libcuda.so", "nvcuda.dll", "cuda.bindings", "cuInit"};

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (memmem(text, size, words[i], strlen(words[i])))
            return true;
    }
    return false;
}
