/* SPDX-License-Identifier: MIT */
#include "call/call.h"

#include <inttypes.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#define TEXT_LIMIT 80
#define ORIGIN_LIMIT 3800 /* a line has it, and words before it */

_Thread_local struct sim_call *sim_log_current;

static const char *name_of(CUresult code)
{
    for (size_t i = 0; i < cushim_error_count; i++)
        if (cushim_errors[i].code == (int)code)
            return cushim_error_strings + cushim_errors[i].name;
    return "?";
}

/* Its beginning, with nothing in it that ends a line or a string. */
static void put_string(struct sim_report_line *line, const char *string)
{
    if (!string) {
        sim_report_put(line, "NULL");
        return;
    }
    sim_report_put(line, "\"");
    size_t i = 0;
    for (; i < TEXT_LIMIT && string[i]; i++) {
        unsigned char byte = (unsigned char)string[i];
        if (byte < ' ' || byte == 0x7f)
            sim_report_put(line, "\\x%02x", byte);
        else
            sim_report_put(line, byte == '"' || byte == '\\' ? "\\%c" : "%c", byte);
    }
    sim_report_put(line, i == TEXT_LIMIT ? "\"..." : "\"");
}

static void put_integer(struct sim_report_line *line, char kind, size_t size, uint64_t bits)
{
    if (kind == 'i')
        sim_report_put(line, "%" PRId64, size == sizeof(int) ? (int64_t)(int)bits : (int64_t)bits);
    else if (kind == 'u')
        sim_report_put(line, "%" PRIu64, bits);
    else if (bits)
        sim_report_put(line, "0x%" PRIx64, bits);
    else
        sim_report_put(line, "NULL");
}

/* One value at an address, by its kind. */
static void put_value(struct sim_report_line *line, char kind, size_t size, const void *at)
{
    uint64_t bits = 0;
    const char *string;
    float real;
    if (kind == 't') {
        put_string(line, at);
    } else if (kind == 's') {
        memcpy(&string, at, sizeof string);
        put_string(line, string);
    } else if (kind == 'f') {
        memcpy(&real, at, sizeof real);
        sim_report_put(line, "%g", (double)real);
    } else if (kind == 'b' || size > sizeof bits) {
        sim_report_put(line, "{%zu bytes}", size);
    } else {
        memcpy(&bits, at, size);
        put_integer(line, kind, size, bits);
    }
}

/* The fields behind a pointer, which may be a wrong one: the call was refused then. */
static void put_fields(struct sim_report_line *line, const struct sim_parameter *parameter,
                       void *target)
{
    char copy[512];
    const struct sim_field *last = &parameter->fields[parameter->field_count - 1];
    size_t size = (size_t)last->offset + last->size;
    struct iovec from = {target, size}, to = {copy, size};
    if (!target || size > sizeof copy ||
        process_vm_readv(getpid(), &to, 1, &from, 1, 0) != (ssize_t)size)
        return;
    sim_report_put(line, "->{");
    for (unsigned i = 0; i < parameter->field_count; i++) {
        const struct sim_field *field = &parameter->fields[i];
        /* A string's address is shown, and not the string. */
        char kind = field->kind == 's' ? 'p' : field->kind;
        sim_report_put(line, "%s%s=", i ? ", " : "", field->name);
        put_value(line, kind, field->size, copy + field->offset);
    }
    sim_report_put(line, "}");
}

static void put_argument(struct sim_report_line *line, const struct sim_parameter *parameter,
                         const void *argument, bool succeeded)
{
    void *target;
    sim_report_put(line, "%s=", parameter->name);
    put_value(line, parameter->kind, parameter->size, argument);
    if (parameter->fields) {
        memcpy(&target, argument, sizeof target);
        put_fields(line, parameter, target);
        return;
    }
    if (parameter->output == '-' || !succeeded)
        return;
    memcpy(&target, argument, sizeof target);
    if (target) {
        sim_report_put(line, "->");
        put_value(line, parameter->output, parameter->output_size, target);
    }
}

static void begin_line(struct sim_report_line *line, uint64_t number, uint64_t start_ns,
                       const char *symbol)
{
    const char *reason = strchr(symbol, ':'); /* of cushim's own, which refused its arguments */
    sim_report_put(line, "%" PRIu64 " %.6f s %ld/%ld %.*s(%s", number,
                   (double)(start_ns - sim_report_start_ns) / 1e9, (long)getpid(),
                   (long)syscall(SYS_gettid), (int)strcspn(symbol, ":"), symbol,
                   reason ? reason + 2 : "");
}

/* What called the call whose local variables `inner` is one of. */
static void put_callers(struct sim_report_line *line, const void *inner)
{
    line->used +=
        sim_callers_put(line->text + line->used, sizeof line->text - 1 - line->used, inner);
}

/* Look-ups fail by the hundred, and to ask whether work is done is no failure. */
static bool wants_callers(const struct sim_call *call)
{
    return call->result != CUDA_SUCCESS && strcmp(call->entry->name, "cuGetProcAddress") != 0 &&
           (call->result != CUDA_ERROR_NOT_READY || !strstr(call->entry->name, "Query"));
}

void sim_log_call(const struct sim_call *call)
{
    struct sim_report_line line;
    const struct sim_entry *entry = call->entry;
    if (!sim_report_has_log())
        return;
    line.used = 0;
    uint64_t now = sim_clock_ns();
    begin_line(&line, call->number, call->start_ns, entry->symbol);
    for (unsigned i = 0; i < entry->parameter_count; i++) {
        if (i)
            sim_report_put(&line, ", ");
        put_argument(&line, &entry->parameters[i], call->arguments[i],
                     call->result == CUDA_SUCCESS);
    }
    sim_report_put(&line, ") = %d %s, %.1f us%s", (int)call->result, name_of(call->result),
                   (double)(now - call->start_ns) / 1e3,
                   call->result != CUDA_SUCCESS && sim_fault_last() ? ", by a rule"
                   : call->result == CUDA_ERROR_NOT_PERMITTED && sim_current_in_callback
                       ? ", in a callback"
                       : "");
    if (wants_callers(call))
        put_callers(&line, call);
    sim_report_log(&line);
}

void sim_log_missed(uint64_t number, const char *symbol, CUresult result)
{
    struct sim_report_line line = {.used = 0};
    if (!sim_report_has_log())
        return;
    begin_line(&line, number, sim_clock_ns(), symbol);
    bool own = strncmp(symbol, "cushim", 6) == 0;
    sim_report_put(&line, own ? ") = %d %s, cushim refused it" : ") = %d %s, the driver lacks it",
                   (int)result, name_of(result));
    put_callers(&line, &line);
    sim_report_log(&line);
}

char *sim_log_origin(void)
{
    char text[ORIGIN_LIMIT];
    if (!sim_log_current)
        return NULL;
    size_t length = (size_t)snprintf(text, sizeof text, "%s", sim_log_current->entry->symbol);
    (void)sim_callers_put(text + length, sizeof text - length, sim_log_current);
    return strdup(text);
}
