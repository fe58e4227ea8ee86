/* SPDX-License-Identifier: MIT */
/* There is no AddressSanitizer in a build for Windows: nothing of it is used. */
