/* SPDX-License-Identifier: MIT */
/*
 * The core of each stand-in: an interposer that refuses device memory beyond a quota, as those do
 * that share a GPU. How it comes between a program and the driver is each stand-in's own affair;
 * which look-ups it answers is decided by these definitions:
 *
 *   QUOTA_ENTRIES      look-ups of the entries by symbol
 *   QUOTA_ASYNC        look-ups of cuMemAllocAsync by symbol, of no other entry
 *   QUOTA_PROC         look-ups of cuGetProcAddress by symbol; its form answers for the entries
 *   QUOTA_ONE_WRAPPER  one function for the legacy and the per-thread form, and the per-thread form
 *                      by cuGetProcAddress alone
 *   QUOTA_LACKING      also answers for what the driver lacks; the function then calls NULL
 *   QUOTA_THUNKS       all answers are code in memory that belongs to no library
 */
#ifndef QUOTA_H
#define QUOTA_H

/**
 * What the interposer answers for a look-up by symbol.
 *
 * @param found  the driver's own answer, or NULL
 */
void *quota_symbol(const char *symbol, void *found);

/** Whether a symbol is one of the driver's: "cu" and a capital letter. */
int quota_is_driver(const char *symbol);

#endif
