/* SPDX-License-Identifier: MIT */
/* The one number that the simulated driver asks the system for. */
#ifndef CUSHIM_SIM_WINDOWS_SYSCALL_H
#define CUSHIM_SIM_WINDOWS_SYSCALL_H

__declspec(dllimport) unsigned long GetCurrentThreadId(void);
#define syscall(number) GetCurrentThreadId()

#endif
