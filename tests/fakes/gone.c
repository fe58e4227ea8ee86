/* SPDX-License-Identifier: MIT */
/* A library that exists when fake_needs_gone is linked and, under its soname, nowhere later. */
__attribute__((visibility("default"))) int cushim_test_gone(void);
__attribute__((visibility("default"))) int cushim_test_gone(void)
{
    return 0;
}
