/* SPDX-License-Identifier: MIT */
#include "error.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "loader/fault_rule.h"
#include "loader/init.h"
#include "loader/stubs.h"
#include "loader/text.h"

/* ---- sentences */

/* A value that is wrong is a mistake of the program. A simulated driver hears of it and of the
 * reason, since it does not see the call. Owners of C++ have names that are no helper's. */
static void error_tell(CUresult code, const char *helper, const char *reason)
{
    cushim_stubs_listener *told = atomic_load(&cushim_stubs_told);
    char text[CUSHIM_SENTENCE + 64]; /* a name before the reason */
    if (!told || code != CUDA_ERROR_INVALID_VALUE)
        return;
    snprintf(text, sizeof text, "%s: %s",
             strncmp(helper, "cushim_", 7) == 0 ? helper : "cushim.hpp", reason);
    told(text, code);
}

CUresult cushim_error_refuse(CUresult code, const char *helper, const char *format, ...)
{
    char text[CUSHIM_SENTENCE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    cushim_last_error_set("%s: %s", helper, text);
    error_tell(code, helper, text);
    return code;
}

CUresult cushim_error_add(CUresult code, const char *format, ...)
{
    struct cushim_error_saved saved;
    char values[CUSHIM_SENTENCE / 2];
    va_list arguments;
    if (code == CUDA_SUCCESS)
        return code;
    va_start(arguments, format);
    vsnprintf(values, sizeof values, format, arguments);
    va_end(arguments);
    cushim_error_save(&saved);
    cushim_last_error_set("%s; %s", saved.text, values);
    return code;
}

CUresult cushim_error_absent(CUresult code, const char *helper, const char *argument,
                             const char *wanted)
{
    return cushim_error_refuse(code, helper, "%s is NULL; pass %s", argument, wanted);
}

CUresult cushim_error_null(const char *helper, const char *argument)
{
    return cushim_error_absent(CUDA_ERROR_INVALID_VALUE, helper, argument,
                               strcmp(argument, "cu") == 0 ? "what cushim_load returned"
                                                           : "the address of a variable");
}

int cushim_error_call_length(const char *call)
{
    const size_t length = strlen(call);
    return (int)(length > 3 && strcmp(call + length - 3, "_v1") == 0 ? length - 3 : length);
}

CUresult cushim_error_check(CUresult code, const char *helper, const char *call)
{
    struct cushim_error_saved why;
    const int length = cushim_error_call_length(call);
    if (code == CUDA_SUCCESS)
        return code;
    if (cushim_last_error_is_call(call)) {
        cushim_error_save(&why);
        return cushim_error_refuse(code, helper, "%s", why.text);
    }
    if (code == CUDA_ERROR_NOT_INITIALIZED && cushim_init_is_forked())
        return cushim_error_refuse(code, helper,
                                   "%.*s: this process was forked from one that used CUDA, which "
                                   "does not survive that: start it anew (exec)",
                                   length, call);
    const char *name = cushim_error_name(code), *text = cushim_error_string(code);
    char rule[CUSHIM_FAULT_RULE];
    if (strncmp(call, "cu", 2) != 0) /* a reason of cushim.hpp's own */
        error_tell(code, helper, call);
    cushim_last_error_set("%s: %.*s: %s (%d)%s%s%s", helper, length, call,
                          name ? name : "unknown error", (int)code, text ? ", " : "",
                          text ? text : "", cushim_fault_rule_words(rule));
    return code;
}

bool cushim_error_is_ruled(void)
{
    char rule[CUSHIM_FAULT_RULE];
    return *cushim_fault_rule_words(rule);
}

CUresult cushim_error_explain(CUresult code, const char *object, const char *call)
{
    if (!object || !call)
        return cushim_error_absent(CUDA_ERROR_INVALID_VALUE, __func__, object ? "call" : "object",
                                   "its name");
    return cushim_error_check(code, object, call);
}

CUresult cushim_error_lacks(const struct cushim_api *cu, const char *helper, const char *argument,
                            const char *symbol)
{
    enum cushim_state state = CUSHIM_STATE_UNKNOWN;
    char text[CUSHIM_SENTENCE];
    const char *reason = cushim_reason(cu, symbol, &state, text, sizeof text);
    const CUresult code = state == CUSHIM_STATE_NEWER       ? CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER
                          : state == CUSHIM_STATE_NO_DRIVER ? CUDA_ERROR_NOT_INITIALIZED
                                                            : CUDA_ERROR_NOT_SUPPORTED;
    return cushim_error_refuse(code, helper, "%s: %s", argument, reason);
}

void cushim_error_save(struct cushim_error_saved *saved)
{
    snprintf(saved->text, sizeof saved->text, "%s", cushim_last_error());
}

void cushim_error_restore(const struct cushim_error_saved *saved)
{
    cushim_last_error_set("%s", saved->text);
}

/* ---- structures that begin with their size */

CUresult cushim_error_check_sized(const char *helper, const char *argument, const void *given,
                                  size_t least)
{
    size_t size = 0;
    memcpy(&size, given, sizeof size);
    if (size >= least)
        return CUDA_SUCCESS;
    return cushim_error_refuse(CUDA_ERROR_INVALID_VALUE, helper,
                               "%s: size: %zu is too small; set it to sizeof of the structure",
                               argument, size);
}

CUresult cushim_error_read_sized(const char *helper, const char *argument, const void *given,
                                 size_t least, void *to, size_t size)
{
    CUresult code = cushim_error_check_sized(helper, argument, given, least);
    if (code != CUDA_SUCCESS)
        return code;
    const char *wrong = cushim_text_read_sized(given, least, to, size);
    return wrong ? cushim_error_refuse(CUDA_ERROR_INVALID_VALUE, helper, "%s: %s", argument, wrong)
                 : CUDA_SUCCESS;
}

/* ---- handlers of CUSHIM_CHECK */

/* Immutable once published, and kept for good: another thread may be about to call it. */
struct error_handler {
    cushim_error_fn *call;
    void *user;
    const struct error_handler *next;
};

static _Atomic(const struct error_handler *) error_chosen; /* NULL: the default */
static _Atomic(const struct error_handler *) error_all;

/* The one of this pair, made if it is new; NULL for want of memory. Two threads that set a new pair
 * at once may both make it. */
static const struct error_handler *error_find_handler(cushim_error_fn *call, void *user)
{
    const struct error_handler *first = atomic_load(&error_all), *found = first;
    while (found && (found->call != call || found->user != user))
        found = found->next;
    if (found)
        return found;
    struct error_handler *made = malloc(sizeof *made);
    if (!made)
        return NULL;
    do
        *made = (struct error_handler){call, user, first};
    while (!atomic_compare_exchange_weak(&error_all, &first, made));
    return made;
}

CUresult cushim_error_handler_set(cushim_error_fn *handler, void *user)
{
    const struct error_handler *found = handler ? error_find_handler(handler, user) : NULL;
    if (handler && !found)
        return cushim_error_refuse(CUDA_ERROR_OUT_OF_MEMORY, __func__, "no memory for a handler");
    atomic_store_explicit(&error_chosen, found, memory_order_release);
    return CUDA_SUCCESS;
}

enum { ERROR_EXPRESSION = 80 }; /* bytes: macros of the caller may make it very long */

static const char *error_cut(const char *expression, char cut[ERROR_EXPRESSION + sizeof "..."])
{
    if (strlen(expression) <= ERROR_EXPRESSION)
        return expression;
    snprintf(cut, ERROR_EXPRESSION + sizeof "...", "%.*s...", ERROR_EXPRESSION, expression);
    return cut;
}

/* A helper's sentence without the helper, if that is what the expression calls. */
static const char *error_without_helper(const char *sentence, const char *expression)
{
    const size_t name = strcspn(expression, "(");
    bool own =
        name && strncmp(sentence, expression, name) == 0 && strncmp(sentence + name, ": ", 2) == 0;
    return own ? sentence + name + 2 : sentence;
}

bool cushim_check(CUresult code, const char *expression, const char *file, int line)
{
    if (code == CUDA_SUCCESS)
        return true;
    const struct error_handler *handler = atomic_load_explicit(&error_chosen, memory_order_acquire);
    const char *name = cushim_error_name(code), *text = cushim_error_string(code);
    struct cushim_error_saved detail; /* a handler may change the original */
    char message[4096], cut[ERROR_EXPRESSION + sizeof "..."];
    cushim_error_save(&detail);
    struct cushim_failure failure = {
        .size = sizeof failure,
        .code = code,
        .name = name ? name : "unknown error",
        .text = text ? text : "",
        .detail = detail.text,
        .expression = expression ? expression : "",
        .file = file ? file : "",
        .line = line,
        .message = message,
    };
    char rule[CUSHIM_FAULT_RULE], number[96];
    snprintf(number, sizeof number, "%s (%d)", failure.name, (int)code);
    /* What the code means in general may be wrong here: without a driver, that cuInit failed. */
    const char *said = error_without_helper(failure.detail, failure.expression);
    const bool numbered = strstr(said, number);
    snprintf(message, sizeof message, "%s:%d: %s: %s%s%s%s", failure.file, line,
             error_cut(failure.expression, cut), numbered ? "" : number,
             numbered        ? ""
             : *said         ? "; "
             : *failure.text ? ", "
                             : "",
             *said ? said : failure.text, *said ? "" : cushim_fault_rule_words(rule));
    if (handler)
        handler->call(handler->user, &failure);
    else
        fprintf(stderr, "%s\n", message);
    return false;
}

/* ---- the first failure */

bool cushim_outcome_keep(struct cushim_outcome *outcome, CUresult code, const char *expression)
{
    if (code == CUDA_SUCCESS || !outcome || outcome->code != CUDA_SUCCESS)
        return code == CUDA_SUCCESS;
    const char *detail = cushim_last_error();
    const char *name = cushim_error_name(code), *text = cushim_error_string(code);
    char cut[ERROR_EXPRESSION + sizeof "..."];
    outcome->code = code;
    if (*detail)
        snprintf(outcome->message, sizeof outcome->message, "%.*s",
                 (int)sizeof outcome->message - 1, detail);
    else
        snprintf(outcome->message, sizeof outcome->message, "%s: %s (%d)%s%s",
                 error_cut(expression ? expression : "", cut), name ? name : "unknown error",
                 (int)code, text ? ", " : "", text ? text : "");
    return false;
}
