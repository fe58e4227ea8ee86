#include <stdatomic.h>
#include <sched.h>
struct cushim_lock { _Atomic long owner; };
static inline void cushim_lock_take(struct cushim_lock *l) { long n=0; while(!atomic_compare_exchange_strong(&l->owner,&n,1)) {n=0; sched_yield();} }
static inline void cushim_lock_release(struct cushim_lock *l) { atomic_store(&l->owner,0); }
