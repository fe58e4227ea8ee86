/* SPDX-License-Identifier: MIT */
/* A library that wants more address space than the tests' limit leaves. */
__attribute__((visibility("default"))) char cushim_test_large[(unsigned long)1 << 30];
