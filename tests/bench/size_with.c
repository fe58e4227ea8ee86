/* SPDX-License-Identifier: MIT */
/* The smallest program that uses the loader; bench.py compares its size with size_without's. */
#include <cushim/cushim.h>

int main(void)
{
    return (int)cushim_load(NULL)->cuInit(0);
}
