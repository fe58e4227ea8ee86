/* SPDX-License-Identifier: MIT */
/* new and delete in a kernel: the device's malloc and free. clang's own <new> has them, over that
 * of the C++ library, if there is one. */
#if __has_include(<new>)
#include <new>
#else
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Winline-new-delete"

#if __cplusplus >= 201103L
#define CUSHIM_NOTHROW noexcept
#else
#define CUSHIM_NOTHROW throw()
#endif

inline __device__ void *operator new(size_t bytes)
{
    return malloc(bytes);
}

inline __device__ void *operator new[](size_t bytes)
{
    return malloc(bytes);
}

inline __device__ void *operator new(size_t, void *place) CUSHIM_NOTHROW
{
    return place;
}

inline __device__ void *operator new[](size_t, void *place) CUSHIM_NOTHROW
{
    return place;
}

inline __device__ void operator delete(void *memory) CUSHIM_NOTHROW
{
    free(memory);
}

inline __device__ void operator delete[](void *memory) CUSHIM_NOTHROW
{
    free(memory);
}

inline __device__ void operator delete(void *memory, size_t) CUSHIM_NOTHROW
{
    free(memory);
}

inline __device__ void operator delete[](void *memory, size_t) CUSHIM_NOTHROW
{
    free(memory);
}

inline __device__ void operator delete(void *, void *) CUSHIM_NOTHROW
{
}

inline __device__ void operator delete[](void *, void *) CUSHIM_NOTHROW
{
}

#undef CUSHIM_NOTHROW
#pragma clang diagnostic pop
#endif

/* In the table of a class with functions that it leaves to others. */
extern "C" inline __device__ void __cxa_pure_virtual(void)
{
    __builtin_trap();
}
