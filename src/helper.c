/* SPDX-License-Identifier: MIT */
#include "helper.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "instance.h"

#define SENTENCE_LENGTH 1024

CUresult cushim_refuse(CUresult code, const char *helper, const char *format, ...)
{
    char text[SENTENCE_LENGTH];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    cushim_set_last_error("%s: %s", helper, text);
    return code;
}

CUresult cushim_with(CUresult code, const char *format, ...)
{
    char text[SENTENCE_LENGTH], values[SENTENCE_LENGTH / 2];
    va_list arguments;
    if (code == CUDA_SUCCESS)
        return code;
    va_start(arguments, format);
    vsnprintf(values, sizeof values, format, arguments);
    va_end(arguments);
    snprintf(text, sizeof text, "%s", cushim_last_error());
    cushim_set_last_error("%s; %s", text, values);
    return code;
}

CUresult cushim_checked(CUresult code, const char *helper, const char *call)
{
    if (code == CUDA_SUCCESS)
        return code;
    if (cushim_was_unavailable(call)) {
        char why[SENTENCE_LENGTH];
        snprintf(why, sizeof why, "%s", cushim_last_error());
        cushim_set_last_error("%s: %s", helper, why);
        return code;
    }
    if (code == CUDA_ERROR_NOT_INITIALIZED && cushim_is_forked())
        return cushim_refuse(code, helper,
                             "%s: this process was forked from one that used CUDA, which does not "
                             "survive that: start it anew (exec)",
                             call);
    const char *name = cushim_error_name(code), *text = cushim_error_string(code);
    cushim_set_last_error("%s: %s: %s (%d)%s%s", helper, call, name ? name : "unknown error",
                          (int)code, text ? ", " : "", text ? text : "");
    return code;
}
