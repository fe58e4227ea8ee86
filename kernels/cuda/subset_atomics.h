/* SPDX-License-Identifier: MIT */
/* Atomic operations. They order nothing else, as CUDA's. */
#ifndef CUSHIM_SUBSET_ATOMICS_H
#define CUSHIM_SUBSET_ATOMICS_H

#define CUSHIM_ATOMIC(T, name, expression)                                                         \
    static inline __device__ T name(T *address, T value)                                           \
    {                                                                                              \
        return (T)(expression);                                                                    \
    }
/* 64-bit ones that LLVM refuses for its oldest target. */
#define CUSHIM_ATOMIC_WIDE(T, name, instruction)                                                   \
    static inline __device__ T name(T *address, T value)                                           \
    {                                                                                              \
        T old;                                                                                     \
        asm volatile("atom." instruction " %0, [%1], %2;"                                          \
                     : "=l"(old)                                                                   \
                     : "l"(address), "l"(value)                                                    \
                     : "memory");                                                                  \
        return old;                                                                                \
    }
#define CUSHIM_CAS(T, width, builtin)                                                              \
    static inline __device__ T atomicCAS(T *address, T expected, T value)                          \
    {                                                                                              \
        return (T)builtin((width *)address, (width)expected, (width)value);                        \
    }
#define CUSHIM_WORD (int *)address, (int)value
#define CUSHIM_LONG (long long *)address, (long long)value

CUSHIM_ATOMIC(int, atomicAdd, __nvvm_atom_add_gen_i(CUSHIM_WORD))
CUSHIM_ATOMIC(unsigned, atomicAdd, __nvvm_atom_add_gen_i(CUSHIM_WORD))
CUSHIM_ATOMIC(unsigned long long, atomicAdd, __nvvm_atom_add_gen_ll(CUSHIM_LONG))
CUSHIM_ATOMIC(float, atomicAdd, __nvvm_atom_add_gen_f(address, value))
CUSHIM_ATOMIC(int, atomicSub, __nvvm_atom_add_gen_i((int *)address, -value))
CUSHIM_ATOMIC(unsigned, atomicSub, __nvvm_atom_add_gen_i((int *)address, -(int)value))
CUSHIM_ATOMIC(int, atomicExch, __nvvm_atom_xchg_gen_i(CUSHIM_WORD))
CUSHIM_ATOMIC(unsigned, atomicExch, __nvvm_atom_xchg_gen_i(CUSHIM_WORD))
CUSHIM_ATOMIC(unsigned long long, atomicExch, __nvvm_atom_xchg_gen_ll(CUSHIM_LONG))
CUSHIM_ATOMIC(int, atomicMin, __nvvm_atom_min_gen_i(CUSHIM_WORD))
CUSHIM_ATOMIC(unsigned, atomicMin, __nvvm_atom_min_gen_ui(address, value))
CUSHIM_ATOMIC(int, atomicMax, __nvvm_atom_max_gen_i(CUSHIM_WORD))
CUSHIM_ATOMIC(unsigned, atomicMax, __nvvm_atom_max_gen_ui(address, value))
CUSHIM_ATOMIC(int, atomicAnd, __nvvm_atom_and_gen_i(CUSHIM_WORD))
CUSHIM_ATOMIC(unsigned, atomicAnd, __nvvm_atom_and_gen_i(CUSHIM_WORD))
CUSHIM_ATOMIC(int, atomicOr, __nvvm_atom_or_gen_i(CUSHIM_WORD))
CUSHIM_ATOMIC(unsigned, atomicOr, __nvvm_atom_or_gen_i(CUSHIM_WORD))
CUSHIM_ATOMIC(int, atomicXor, __nvvm_atom_xor_gen_i(CUSHIM_WORD))
CUSHIM_ATOMIC(unsigned, atomicXor, __nvvm_atom_xor_gen_i(CUSHIM_WORD))
CUSHIM_ATOMIC(unsigned, atomicInc, __nvvm_atom_inc_gen_ui(address, value))
CUSHIM_ATOMIC(unsigned, atomicDec, __nvvm_atom_dec_gen_ui(address, value))
CUSHIM_CAS(int, int, __nvvm_atom_cas_gen_i)
CUSHIM_CAS(unsigned, int, __nvvm_atom_cas_gen_i)
CUSHIM_CAS(unsigned long long, long long, __nvvm_atom_cas_gen_ll)
CUSHIM_ATOMIC_WIDE(long long, atomicMin, "min.s64")
CUSHIM_ATOMIC_WIDE(unsigned long long, atomicMin, "min.u64")
CUSHIM_ATOMIC_WIDE(long long, atomicMax, "max.s64")
CUSHIM_ATOMIC_WIDE(unsigned long long, atomicMax, "max.u64")
CUSHIM_ATOMIC_WIDE(unsigned long long, atomicAnd, "and.b64")
CUSHIM_ATOMIC_WIDE(unsigned long long, atomicOr, "or.b64")
CUSHIM_ATOMIC_WIDE(unsigned long long, atomicXor, "xor.b64")

static inline __device__ float atomicExch(float *address, float value)
{
    return __int_as_float(__nvvm_atom_xchg_gen_i((int *)address, __float_as_int(value)));
}

/* From sm_60 on. A template, so that the function that programs write for older GPUs is no second
 * one. */
template <int = 0> static inline __device__ double atomicAdd(double *address, double value)
{
    double old;
    asm volatile("atom.add.f64 %0, [%1], %2;" : "=d"(old) : "l"(address), "d"(value) : "memory");
    return old;
}

static inline __device__ void __threadfence()
{
    asm volatile("membar.gl;" : : : "memory");
}

static inline __device__ void __threadfence_block()
{
    asm volatile("membar.cta;" : : : "memory");
}

static inline __device__ void __threadfence_system()
{
    asm volatile("membar.sys;" : : : "memory");
}

#endif
