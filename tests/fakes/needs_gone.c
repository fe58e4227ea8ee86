/* SPDX-License-Identifier: MIT */
/* Makes the linker keep the dependency that will be missing. */
int cushim_test_gone(void);
int cushim_test_needs_gone(void);
int cushim_test_needs_gone(void)
{
    return cushim_test_gone();
}
