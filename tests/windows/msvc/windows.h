/* SPDX-License-Identifier: MIT */
/* What the sources use of Microsoft's header: no declaration more. */
#ifndef STUB_WINDOWS_H
#define STUB_WINDOWS_H
#include <stddef.h>
#include <wchar.h>
#include <stdarg.h>
typedef unsigned long DWORD;
typedef unsigned int UINT;
typedef int BOOL;
typedef struct stub_module *HMODULE;
typedef void *HANDLE;
typedef long long (*FARPROC)(void);
typedef struct {
    void *BaseAddress, *AllocationBase;
    DWORD AllocationProtect;
    unsigned short PartitionId;
    size_t RegionSize;
    DWORD State, Protect, Type;
} MEMORY_BASIC_INFORMATION;
#define MAX_PATH 260
#define CP_UTF8 65001
#define MB_ERR_INVALID_CHARS 8
#define INVALID_FILE_ATTRIBUTES ((DWORD)-1)
#define LOAD_WITH_ALTERED_SEARCH_PATH 8
#define LOAD_LIBRARY_SEARCH_SYSTEM32 0x800
#define GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT 2
#define GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS 4
#define FORMAT_MESSAGE_IGNORE_INSERTS 0x200
#define FORMAT_MESSAGE_FROM_SYSTEM 0x1000
#define MEM_COMMIT 0x1000
#define PAGE_EXECUTE 0x10
#define PAGE_EXECUTE_READ 0x20
#define PAGE_EXECUTE_READWRITE 0x40
#define PAGE_EXECUTE_WRITECOPY 0x80
#define ERROR_SUCCESS 0L
#define ERROR_FILE_NOT_FOUND 2L
#define ERROR_PATH_NOT_FOUND 3L
#define ERROR_TOO_MANY_OPEN_FILES 4L
#define ERROR_ACCESS_DENIED 5L
#define ERROR_MOD_NOT_FOUND 126L
#define ERROR_BAD_EXE_FORMAT 193L
int MultiByteToWideChar(UINT page, DWORD flags, const char *text, int size, wchar_t *wide,
                        int wide_size);
int WideCharToMultiByte(UINT page, DWORD flags, const wchar_t *wide, int size, char *text,
                        int text_size, const char *unknown, BOOL *used);
DWORD GetLastError(void);
void SetLastError(DWORD error);
DWORD GetEnvironmentVariableW(const wchar_t *name, wchar_t *value, DWORD size);
DWORD GetFullPathNameW(const wchar_t *path, DWORD size, wchar_t *full, wchar_t **name);
UINT GetSystemDirectoryW(wchar_t *path, UINT size);
DWORD GetFileAttributesW(const wchar_t *path);
DWORD FormatMessageW(DWORD flags, const void *source, DWORD error, DWORD language, wchar_t *text,
                     DWORD size, va_list *arguments);
HMODULE LoadLibraryExW(const wchar_t *path, HANDLE file, DWORD flags);
BOOL GetModuleHandleExW(DWORD flags, const wchar_t *path, HMODULE *module);
BOOL GetModuleHandleExA(DWORD flags, const char *path, HMODULE *module);
DWORD GetModuleFileNameW(HMODULE module, wchar_t *path, DWORD size);
BOOL FreeLibrary(HMODULE module);
FARPROC GetProcAddress(HMODULE module, const char *name);
size_t VirtualQuery(const void *address, MEMORY_BASIC_INFORMATION *region, size_t size);
#endif
