/* SPDX-License-Identifier: MIT */
/* The same program without the loader. */
int main(void)
{
    return 100;
}
