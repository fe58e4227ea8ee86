/* SPDX-License-Identifier: MIT */
#include "call/call.h"

#include <sys/syscall.h>

#define SINCE 12090
enum { KEPT = 100, LINE = 240 };

struct message {
    struct timespec time;
    long thread;
    char text[sizeof((struct sim_journal_note *)0)->text];
};
static struct message messages[KEPT]; /* number n is at n % KEPT */
static uint32_t next;                 /* as many as there were */

static const char rolled[] = "older messages are gone: the log keeps the newest 100\n";
static const char missing[] = "older messages are left out: the buffer has no room for them\n";

/* What is no refusal: work that goes on, and a driver that is not there yet. */
static bool is_refusal(CUresult code)
{
    return code != CUDA_SUCCESS && code != CUDA_ERROR_NOT_READY &&
           code != CUDA_ERROR_NOT_INITIALIZED;
}

/* The one that registered first of those behind `serial`. */
static const struct sim_registration *listener(uint64_t serial)
{
    const struct sim_registration *found = NULL;
    SIM_EACH (const struct sim_registration, one, SIM_REGISTRATION)
        if (one->what == SIM_REGISTERED_LOG && one->object.serial > serial &&
            (!found || one->object.serial < found->object.serial))
            found = one;
    return found;
}

bool sim_journal_keep(const struct sim_call *call, struct sim_journal_note *note)
{
    const char *name = NULL;
    if (!is_refusal(call->result) || sim_config.cuda < SINCE)
        return false;
    (void)sim_cuGetErrorName(call->result, &name);
    snprintf(note->text, sizeof note->text, "%s returns %d (%s)", call->entry->symbol,
             (int)call->result, name ? name : "?");
    struct message *message = &messages[next++ % KEPT];
    clock_gettime(CLOCK_REALTIME, &message->time);
    message->thread = (long)syscall(SYS_gettid);
    memcpy(message->text, note->text, sizeof note->text);
    return listener(0);
}

void sim_journal_tell(struct sim_journal_note *note)
{
    uint64_t serial = 0;
    for (;;) {
        sim_lock_enter();
        const struct sim_registration *one = listener(serial);
        CUlogsCallback function = one ? (CUlogsCallback)one->function : NULL;
        void *data = one ? one->data : NULL;
        serial = one ? one->object.serial : serial;
        sim_lock_leave();
        if (!function)
            return;
        function(data, CU_LOG_LEVEL_ERROR, note->text, strlen(note->text));
    }
}

SIM_ENTRY(cuLogsRegisterCallback,
          sim_registration_make(SIM_REGISTERED_LOG, (sim_any_function *)callbackFunc, userData, 0,
                                (void **)callback))
SIM_ENTRY(cuLogsUnregisterCallback, sim_registration_end(SIM_REGISTERED_LOG, 0, callback))

static size_t write_line(uint32_t number, char line[LINE])
{
    const struct message *message = &messages[number % KEPT];
    int64_t seconds = (int64_t)message->time.tv_sec;
    int length = snprintf(line, LINE, "[%02d:%02d:%02d.%03d][%ld][CUDA][E] %s\n",
                          (int)(seconds / 3600 % 24), (int)(seconds / 60 % 60), (int)(seconds % 60),
                          (int)(message->time.tv_nsec / 1000000), message->thread, message->text);
    return (size_t)length;
}

/* From where the iterator is, or from the oldest one. False: it is beyond the end. */
static bool begin(const CUlogIterator *iterator, uint32_t *from, const char **head)
{
    uint32_t oldest = next > KEPT ? next - KEPT : 0;
    *from = iterator ? *iterator : 0;
    *head = *from < oldest ? rolled : "";
    if (*from > next)
        return false;
    if (*from < oldest)
        *from = oldest;
    return true;
}

/* No driver looks at the flags. */
SIM_TELL(cuLogsCurrent, iterator, (void)flags, CUDA_SUCCESS, next)

SIM_BEHAVIOUR(cuLogsDumpToMemory)
{
    uint32_t from;
    const char *head;
    char line[LINE];
    (void)flags;
    SIM_REFUSE(!buffer || !size);
    size_t room = *size, used = 1; /* the end of the text */
    *size = 0;
    SIM_REFUSE(!begin(iterator, &from, &head));
    uint32_t first = next; /* of those that have room: the newest ones */
    while (first > from && used + write_line(first - 1, line) <= room)
        used += write_line(--first, line);
    if (first > from)
        head = missing;
    while (first < next && used + strlen(head) > room)
        used -= write_line(first++, line);
    SIM_REFUSE(first == next && from < next);
    size_t at = 0;
    if (from < next) {
        memcpy(buffer, head, strlen(head));
        at = strlen(head);
    }
    for (; first < next; first++) {
        size_t length = write_line(first, line);
        memcpy(buffer + at, line, length);
        at += length;
    }
    if (at < room)
        buffer[at] = '\0';
    *size = at;
    SIM_PUT(iterator, next);
    return CUDA_SUCCESS;
}

CUresult sim_cuLogsDumpToFile(CUlogIterator *iterator, const char *pathToFile, unsigned int flags)
{
    uint32_t from;
    const char *head;
    char line[LINE];
    (void)flags;
    SIM_REFUSE(!pathToFile || !begin(iterator, &from, &head));
    FILE *file = fopen(pathToFile, "w");
    SIM_REFUSE(!file);
    fputs(head, file);
    for (; from < next; from++) {
        (void)write_line(from, line);
        fputs(line, file);
    }
    SIM_REFUSE(fclose(file) != 0);
    SIM_PUT(iterator, next);
    return CUDA_SUCCESS;
}
