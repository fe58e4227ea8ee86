/* SPDX-License-Identifier: MIT */
/* A hostile nvcuda.dll: whoever loads it finds a file with the name that PLANTED gives. */
#include <windows.h>

BOOL WINAPI DllMain(HINSTANCE library, DWORD why, void *at_exit);

BOOL WINAPI DllMain(HINSTANCE library, DWORD why, void *at_exit)
{
    wchar_t path[1024];
    DWORD length = GetEnvironmentVariableW(L"PLANTED", path, 1024);
    (void)library, (void)at_exit;
    if (why == DLL_PROCESS_ATTACH && length > 0 && length < 1024)
        CloseHandle(CreateFileW(path, GENERIC_WRITE, 0, NULL, CREATE_ALWAYS, 0, NULL));
    return TRUE;
}

__declspec(dllexport) int cuInit(unsigned flags);
__declspec(dllexport) int cuDriverGetVersion(int *version);

int cuInit(unsigned flags)
{
    (void)flags;
    return 0;
}

int cuDriverGetVersion(int *version)
{
    *version = 6660;
    return 0;
}
