/* SPDX-License-Identifier: MIT */
/* Look-ups expire. While a thread waits, or gives the driver's lock up in another way, other
 * threads may destroy any object. So a pointer that was looked up before is worth nothing after:
 * the thread looks the object up again, or has kept it alive by a reference or a claim.
 *
 * A build with AddressSanitizer holds every call to that, without a second thread and without luck:
 * when a thread takes the lock back, all objects and allocations become forbidden memory, and a
 * look-up permits one of them again. The first use of an old pointer is then reported, with both
 * places. Other builds do nothing of it. */
#ifndef CUSHIM_SIM_CORE_EXPIRE_H
#define CUSHIM_SIM_CORE_EXPIRE_H

#if defined(__SANITIZE_ADDRESS__)
#define SIM_EXPIRES 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SIM_EXPIRES 1
#endif
#endif

#ifdef SIM_EXPIRES
#define SIM_UNCHECKED __attribute__((no_sanitize("address"))) /* may touch what expired */
void sim_expire(void *block);                                 /* one block of malloc's */
/* Looked up, or kept alive by the caller; NULL: nothing. */
void sim_expire_renew(const void *block);
/* All objects are expired and renewed together, and this too. */
void sim_expire_also(void (*expire)(void), void (*renew)(void));
void sim_expire_all(void);       /* the lock was given up meanwhile */
void sim_expire_renew_all(void); /* a call begins: it holds nothing yet */
#else
#define SIM_UNCHECKED
#define sim_expire(block) ((void)(block))
#define sim_expire_renew(block) ((void)(block))
#define sim_expire_all() ((void)0)
#define sim_expire_renew_all() ((void)0)
#endif

#endif
