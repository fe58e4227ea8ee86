/* SPDX-License-Identifier: MIT */
#include <cushim/error.h>

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "platform.h"
#include "lock.h"

static struct cushim_lock error_check_lock;

/* Immutable once published, and kept for good: another thread may be about to call it. So the
 * reader needs no lock, which matters in a program that fails while another thread sets it. */
struct error_handler {
    cushim_error_fn *call;
    void *user;
    struct error_handler *next;
};

static _Atomic(const struct error_handler *) chosen_handler; /* NULL: the default */
static struct error_handler *all_handlers;                   /* behind the lock */

/* The one of this pair, made if it is new; NULL for want of memory. */
static const struct error_handler *find_handler(cushim_error_fn *call, void *user)
{
    struct error_handler *handler = all_handlers;
    while (handler && (handler->call != call || handler->user != user))
        handler = handler->next;
    if (!handler && (handler = malloc(sizeof *handler)) != NULL) {
        *handler = (struct error_handler){call, user, all_handlers};
        all_handlers = handler;
    }
    return handler;
}

CUresult cushim_set_error_handler(cushim_error_fn *handler, void *user)
{
    CUresult code = CUDA_SUCCESS;
    cushim_lock_take(&error_check_lock);
    const struct error_handler *found = handler ? find_handler(handler, user) : NULL;
    if (handler && !found)
        code = CUDA_ERROR_OUT_OF_MEMORY;
    else
        atomic_store_explicit(&chosen_handler, found, memory_order_release);
    cushim_lock_release(&error_check_lock);
    return code;
}

bool cushim_check(CUresult code, const char *expression, const char *file, int line)
{
    if (code == CUDA_SUCCESS)
        return true;
    const struct error_handler *handler =
        atomic_load_explicit(&chosen_handler, memory_order_acquire);
    const char *name = cushim_error_name(code), *text = cushim_error_string(code);
    struct cushim_failure failure = {
        .code = code,
        .name = name ? name : "unknown error",
        .text = text ? text : "",
        .detail = cushim_last_error(),
        .expression = expression,
        .file = file,
        .line = line,
    };
    char message[4096], detail[1024];
    snprintf(detail, sizeof detail, "%s", failure.detail); /* a handler may change the original */
    failure.detail = detail;
    snprintf(message, sizeof message, "%s:%d: %s: %s (%d)%s%s%s%s", file, line, expression,
             failure.name, (int)code, *failure.text ? ", " : "", failure.text, *detail ? "; " : "",
             detail);
    failure.message = message;
    if (handler)
        handler->call(handler->user, &failure);
    else
        fprintf(stderr, "%s\n", message);
    return false;
}
