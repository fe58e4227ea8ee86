/* SPDX-License-Identifier: MIT */
/* A fuzzer is one function over bytes. With clang and -fsanitize=fuzzer, libFuzzer calls it with
 * inputs of its own; otherwise files.c calls it with each file that the program is given. */
#ifndef CUSHIM_TEST_FUZZ_H
#define CUSHIM_TEST_FUZZ_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
