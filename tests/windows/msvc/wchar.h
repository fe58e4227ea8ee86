/* SPDX-License-Identifier: MIT */
/* What the sources use of Microsoft's header: no declaration more. */
#ifndef STUB_WCHAR_H
#define STUB_WCHAR_H
#include <stddef.h>
size_t wcslen(const wchar_t *text);
wchar_t *wcscpy(wchar_t *to, const wchar_t *from);
wchar_t *wcscat(wchar_t *to, const wchar_t *from);
wchar_t *wcschr(const wchar_t *text, wchar_t character);
int wcsncmp(const wchar_t *one, const wchar_t *other, size_t most);
size_t wcscspn(const wchar_t *text, const wchar_t *set);
#endif
