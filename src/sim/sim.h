/* SPDX-License-Identifier: MIT */
/* What every file has to do with: the types of CUDA, and every entry's behaviour. README.md says
 * how a call comes to one. */
#ifndef CUSHIM_SIM_SIM_H
#define CUSHIM_SIM_SIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cushim/cuda.h>
#include <cushim/cudaEGL.h>
#include <cushim/cudaGL.h>
#include <cushim/cudaProfiler.h>
#include <cushim/cudaVDPAU.h>

#include "sim_behaviours.h" /* generated: CUresult sim_<symbol>(...) of every entry */

/* The head of a behaviour with the parameters as the registry has them, by the manual's names. */
#define SIM_BEHAVIOUR(symbol) CUresult sim_##symbol(SIM_PARAMETERS_##symbol)

/* A behaviour that is one expression of its parameters. */
#define SIM_ENTRY(symbol, ...)                                                                     \
    CUresult sim_##symbol(SIM_PARAMETERS_##symbol)                                                 \
    {                                                                                              \
        return __VA_ARGS__;                                                                        \
    }

/* What a call answers is the function's answer too, unless it succeeds. */
#define SIM_TRY(call)                                                                              \
    do {                                                                                           \
        const CUresult sim_try = (call);                                                           \
        if (sim_try != CUDA_SUCCESS)                                                               \
            return sim_try;                                                                        \
    } while (0)

/* The same, after undoing what was done for it. */
#define SIM_TRY_OR(call, ...)                                                                      \
    do {                                                                                           \
        CUresult sim_try = (call);                                                                 \
        if (sim_try != CUDA_SUCCESS) {                                                             \
            __VA_ARGS__;                                                                           \
            return sim_try;                                                                        \
        }                                                                                          \
    } while (0)

/* What a function answers where something holds: the code of that name. */
#define SIM_FAIL(name, ...) SIM_TRY((__VA_ARGS__) ? CUDA_ERROR_##name : CUDA_SUCCESS)

/* The answer where something is valid or not; and of a call that has no valid arguments. */
#define SIM_VALID(...) ((__VA_ARGS__) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE)
#define SIM_REFUSE(...) SIM_FAIL(INVALID_VALUE, __VA_ARGS__)

/* Write an output, where the caller has a place for it. */
#define SIM_PUT(place, ...)                                                                        \
    do {                                                                                           \
        if (place)                                                                                 \
            *(place) = __VA_ARGS__;                                                                \
    } while (0)

/* Declares what a call finds and leaves in `name`; where it fails, its code is the answer. */
#define SIM_FIND(type, name, call)                                                                 \
    type name;                                                                                     \
    SIM_TRY(call)

/* Declares what an expression makes; without memory for it, that is the answer. */
#define SIM_MADE(type, name, ...)                                                                  \
    type name = __VA_ARGS__;                                                                       \
    SIM_FAIL(OUT_OF_MEMORY, !(name))
#define SIM_NEW(type, name) SIM_MADE(type *, name, calloc(1, sizeof *(name))) /* all zero */

/* Take an item off the list that it is in. */
#define SIM_UNLINK(list, item)                                                                     \
    do {                                                                                           \
        __typeof__(item) *link = &(list);                                                          \
        while (*link != (item))                                                                    \
            link = &(*link)->next;                                                                 \
        *link = (item)->next;                                                                      \
    } while (0)

/* A behaviour that tells one value, of what `find` finds; and one that looks at `out` afterwards.
 */
#define SIM_TELL(symbol, out, declaration, find, ...)                                              \
    SIM_TELL_BY(CUresult sim_##symbol(SIM_PARAMETERS_##symbol), out, declaration,                  \
                (out) ? (find) : CUDA_ERROR_INVALID_VALUE, __VA_ARGS__)
#define SIM_TELL_AFTER(symbol, out, declaration, find, ...)                                        \
    SIM_TELL_BY(CUresult sim_##symbol(SIM_PARAMETERS_##symbol), out, declaration, find, __VA_ARGS__)
#define SIM_TELL_BY(head, out, declaration, find, ...)                                             \
    head                                                                                           \
    {                                                                                              \
        declaration;                                                                               \
        SIM_TRY(find);                                                                             \
        SIM_REFUSE(!(out));                                                                        \
        *(out) = __VA_ARGS__;                                                                      \
        return CUDA_SUCCESS;                                                                       \
    }

/* A behaviour that finds something and answers an expression of it; and one that does something to
 * it unless it refuses its arguments. */
#define SIM_WITH(symbol, type, name, find, ...)                                                    \
    CUresult sim_##symbol(SIM_PARAMETERS_##symbol)                                                 \
    {                                                                                              \
        SIM_FIND(type, name, find);                                                                \
        return __VA_ARGS__;                                                                        \
    }
#define SIM_SET(symbol, type, name, find, refused, ...)                                            \
    CUresult sim_##symbol(SIM_PARAMETERS_##symbol)                                                 \
    {                                                                                              \
        SIM_FIND(type, name, find);                                                                \
        SIM_REFUSE(refused);                                                                       \
        __VA_ARGS__;                                                                               \
        return CUDA_SUCCESS;                                                                       \
    }

#endif
