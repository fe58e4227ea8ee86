/* SPDX-License-Identifier: MIT */
/* windows/posix.h has it. */
