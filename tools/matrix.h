/* SPDX-License-Identifier: MIT */
/**
 * @file
 * A program run under many drivers: the cases, running them, and what came of them.
 */
#ifndef CUSHIM_TOOLS_MATRIX_H
#define CUSHIM_TOOLS_MATRIX_H

#include "options.h"
#include "place.h"
#include "sentences.h"

#include <cushim/cushim.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

enum {
    MATRIX_FAULTS = 32, /* at most so many calls of an entry fail, each in a run */
    MATRIX_STREAMS = 32,
    MATRIX_STREAM_SIZE = 24, /* "0x55d1d0f5e2c0" */
    MATRIX_NAME_SIZE = 384,
    MATRIX_CALL_SIZE = 512,
    MATRIX_WORDS_SIZE = MATRIX_NAME_SIZE + MATRIX_CALL_SIZE,
    MATRIX_REASON_SIZE = 3 * MATRIX_WORDS_SIZE,
    MATRIX_OUTPUT_SIZE = 4096,
    MATRIX_JOBS = 256, /* at most so many at a time */
    MATRIX_SHOWN = 8   /* calls of one row, for people */
};

enum matrix_end {
    MATRIX_PASSES,
    MATRIX_NOTICES,  /* a call failed, and its exit code or its words told so */
    MATRIX_DEGRADES, /* its own exit code for "works without" */
    MATRIX_UNUSED,   /* exit code 0, and no call of the simulated driver */
    MATRIX_FAILS,    /* any other exit code */
    MATRIX_CRASHES,  /* a signal */
    MATRIX_HANGS,    /* over the time limit */
    MATRIX_UNKNOWN,  /* it failed for want of the CUDA runtime, which is not simulated */
    MATRIX_NOT_RUN   /* it could not be started */
};

/** One run. */
struct matrix_case {
    char name[MATRIX_NAME_SIZE]; /* "CUDA 12.4", "driver PATH", "CUDA 13.5, no device" */
    char cuda[16];               /* of the simulated driver; empty for a real one */
    char *driver;                /* path of a real one, from malloc; NULL for a simulated one */
    const char *devices; /* "0" or "1" simulated ones, in place of those of --devices; NULL */
    bool must;           /* it may not degrade */
    char fault[192];     /* a rule of --fault-each, MATRIX_LATE or MATRIX_REORDER; empty: none */
    char fired[128];     /* the first call that failed and that the program may not survive */
    /* Of the calls in fired, call, kernel, and the one that the driver lacks: "cuX\t/a+0x12\t...",
     * as the log has what called them, from malloc; NULL: not known. */
    char *fired_by, *call_by, *kernel_by, *missed_by;
    char *freed_by; /* what freed the memory that the kernel, or the call, used */
    /* The first call that failed by itself, of those that do something, or for want of cuInit. */
    char *refused_by;
    /* Under MATRIX_LATE and MATRIX_REORDER, as experiments found it: what was not waited for, or
     * too late, by a wait; what ran before what was queued before it. */
    char *late_by, *wait_by, *first_by, *second_by;
    long chains;    /* of work that waited at a time, such as streams, under MATRIX_REORDER */
    bool changed;   /* the host changed what the work of late_by reads, before it was done */
    char *ended_by; /* "11\t/a+0x12\t...", of the last signal that ended one of its processes */
    /* Behind how a signal or the time limit ended it: " at a.c:7 (f)", " after cuX"; or empty. */
    char ended[PLACE_SIZE + 8];
    char fired_at[PLACE_SIZE]; /* where the program made that call; empty: not known */
    char place[PLACE_SIZE];    /* where it made the call that matters */
    enum matrix_end end;
    size_t number;  /* before matrix_gather moved some */
    bool bad;       /* its end makes the command fail */
    bool ordered;   /* it passes under MATRIX_EARLY alone: a wait or an order is missing */
    bool crossed;   /* under MATRIX_LATE: it passes if all streams are one */
    bool by_chance; /* a release that does, or a call that fails with the finding of one */
    bool beside;    /* it fails while other runs go, and passes alone */
    int folded;     /* by matrix_fold: runs of one number are one row; 0: it has its own */
    bool left_out;  /* not run: all before it took too long */
    bool lacks; /* not run for want of what this command needs: disk, memory, descriptors, right */
    int code;   /* exit code or signal */
    double seconds;
    long calls; /* of the simulated driver; -1: not seen, of a real one or without a whole log */
    /* The failed call that the program's words name; else the first one that is no mere probe.
     * Before it what the driver lacks of what the program called through cushim, or calls or names:
     * matrix_missing. Empty: none. */
    char call[MATRIX_CALL_SIZE];
    char shown[MATRIX_CALL_SIZE]; /* the same, with the places of the calls */
    size_t last;                  /* the last entry that it called; KNOWN_NONE */
    bool named;                   /* the program's words name the call */
    /* What the driver said first of a fault or a finding in a kernel; empty: nothing. */
    char kernel[MATRIX_CALL_SIZE];
    bool refused, race; /* that is of a module that it refused, or of a race */
    char went_on[128]; /* what it called next, in a run of --fault-each, as if nothing had failed */
    bool works;        /* it called what launches, copies or fills */
    bool ruled;        /* a rule made a call fail */
    bool fell;         /* and the program, which should have done without, ended with an error */
    const char *unplaced; /* what of --survives has a line, and that of such a call is not known */
    bool untried;         /* that was a wait whose result the program need not take */
    bool missed;       /* it called what the driver lacks, through cushim, and may not do without */
    char missing[128]; /* the first of that */
    bool silent;  /* of a call that failed or is missing it said nothing, or nothing made it fail */
    bool told;    /* the driver's report has the cause: a missing entry, an ABI */
    bool spoiled; /* but for what the check found its end is good, or may become so */
    int advised;  /* the exit code that a run without a GPU which fails may have; 0: not said */
    /* The first line of `cushim sim --check`, and how many follow; empty: none. */
    char check[MATRIX_CALL_SIZE];
    char output[MATRIX_OUTPUT_SIZE]; /* the end of what it printed */
    char errors[MATRIX_OUTPUT_SIZE]; /* the end of its standard error, without the drop-in's log */
};

struct matrix_plan {
    char **program; /* ends with NULL */
    const char *const *faults;
    const char *profile, *devices, *memory; /* of simulated drivers; NULL: as of `cushim sim` */
    int fault_count;
    bool check;  /* what is left at the end */
    bool exits;  /* but if a rule made a call fail, and the program ended with an error for it */
    bool strict; /* it is a failure to pass with a call of what the driver lacks, or by a rule */
    const struct option_list *survived; /* entries whose failure it may survive */
    const char *checks;                 /* and faults of kernels; NULL: none */
    int jobs;
    double timeout;  /* seconds */
    int degrade;     /* exit code; -1: none */
    bool falls_back; /* if a call fails the program does without: it ends with 0, or with that */
    char *folder;    /* for logs; made and removed by matrix_run */
    bool quiet;      /* no lines of progress */
    double told;     /* when the last one was printed, by matrix_run; 0: not yet */
    size_t failed;   /* runs so far */
};

/** The entries that a run called, each once. */
struct matrix_used {
    size_t count;
    size_t index[CUSHIM_ENTRY_COUNT]; /* of the registry, in the order of the first calls */
    unsigned calls[CUSHIM_ENTRY_COUNT];
    unsigned idle[CUSHIM_ENTRY_COUNT]; /* a bit for each of the first calls: it waited for nothing,
                                        * or set nothing, such as cuCtxSetCurrent(NULL) */
    /* The streams with work that nothing has waited for yet, as the log has them. */
    char streams[MATRIX_STREAMS][MATRIX_STREAM_SIZE];
    size_t queued;
    bool joined;       /* one may wait for another: who waits for one may have waited for all */
    unsigned captures; /* that have begun: what is captured is not queued */
};

/**
 * Run cases, several at a time, with a progress bar on a terminal, and lines of progress elsewhere.
 *
 * @param from   the first that is run
 * @param count  all cases
 * @param used   one for each case, which is filled; NULL: none
 * @return false after saying why none could be run
 */
bool matrix_run(struct matrix_plan *plan, struct matrix_case *cases, size_t from, size_t count,
                struct matrix_used *used);

/** Fill a case, and `used` if it is not NULL, with what the simulated driver's log says. Returns
 * the signal that ended the program; 0: none did. */
int matrix_log(const char *path, struct matrix_case *one, const struct option_list *survived,
               struct matrix_used *used);

/** Whether the program printed a word. */
bool matrix_says(const struct matrix_case *one, const char *word);

/** Whether the program said that a call failed with this answer, "2 CUDA_ERROR_OUT_OF_MEMORY". A
 * call's name alone may be a trace of it. */
bool matrix_tells(const struct matrix_case *one, const char *answer);

/** Whether an entry of this name does something, and not only begins, asks or ends something. */
bool matrix_log_acts(const char *name);

/** Whether --survives has the entry of this name, alone or with the line of this call, "\t/a+0x12".
 * `*unplaced` becomes what has a line, if that of the call is not known. */
bool matrix_survives(const struct option_list *survived, const char *name, const char *callers,
                     const char **unplaced);

/** Whether a word of --survives names an entry, or one with a line; false after saying why not. */
bool matrix_survives_good(const char *word);

/** Say of each word of --survives that the lines of its calls are not known, or that no call of its
 * line failed. */
void matrix_survives_tell(const struct option_list *survived, const struct matrix_case *cases,
                          size_t count);

/** Read what the program's file names, for what follows. */
void matrix_missing_read(const char *program);

/** Whether the program has cushim in it. */
bool matrix_missing_has_cushim(void);

/** Say of each crash and failure which entry the driver lacks that the program calls under the
 * newest release, whose case is `newest` and has called `used`, or which ones it names. */
void matrix_missing(struct matrix_case *cases, size_t count, const struct matrix_used *used,
                    size_t newest);

/** Say in each case where the program made its calls. */
void matrix_place(struct matrix_case *cases, size_t count);

/** The place of "cuX\t/a+0x12\t..."; empty: not known. Returns `place`. */
const char *matrix_place_by(const char *by, char place[PLACE_SIZE]);

/** Say in `text` why the runs, none of which may be bad, tried nothing: none passes, or none
 * launched, copied or filled anything, which an idle program need not; else it is empty. */
void matrix_note(const struct matrix_case *cases, size_t count, bool idle,
                 char text[MATRIX_WORDS_SIZE]);

/** Say in `text`, which else is empty, that no order of releases explains which of them pass. */
void matrix_note_order(const struct matrix_case *cases, size_t count, char text[MATRIX_WORDS_SIZE]);

/** Free what a case has from malloc. */
void matrix_place_free(struct matrix_case *one);

/** Put in front of the call which wait, or which order of streams, a run of MATRIX_LATE or
 * MATRIX_REORDER that fails lacks, which more runs find; nothing, if it fails for another reason.
 */
void matrix_order(const struct matrix_plan *plan, struct matrix_case *one);

/** If such a run has a cause, mark the releases that fail by themselves, and pass under
 * MATRIX_EARLY: that cause is theirs. */
void matrix_order_chance(const struct matrix_plan *plan, struct matrix_case *cases, size_t count);

/** If runs go several at a time, run those that fail for different causes once more, alone. Put in
 * front of the call that one passes then. */
void matrix_order_beside(const struct matrix_plan *plan, struct matrix_case *cases, size_t count);

/** Put a reason in front of the call. */
void matrix_put_before(struct matrix_case *one, const char *reason);

/** Whether two runs ended the same, for the same cause. */
bool matrix_is_same(const struct matrix_case *one, const struct matrix_case *other);

/** Whether it is a run of a release alone. */
bool matrix_is_release(const struct matrix_case *one);

/** Whether it is the run without a driver. */
bool matrix_is_without(const struct matrix_case *one);

/** Whether that one could not be started, since the program is linked to the driver. */
bool matrix_is_linked(const struct matrix_case *one);

/** Whether it is a run in which a rule of --fault-each makes a call fail. */
bool matrix_is_fault(const struct matrix_case *one);

/** Whether its result is wrong, and no call tells why, or a kernel found what may be wrong data:
 * perhaps it lacks a wait. */
bool matrix_may_lack_order(const struct matrix_case *one);

/** Whether it fails for want of a wait or an order that more runs found. */
bool matrix_has_order(const struct matrix_case *one);

/** Put the runs that fail by chance behind the first one of MATRIX_LATE or MATRIX_REORDER that has
 * a cause, which is theirs. */
void matrix_gather(struct matrix_case *cases, size_t count);

/** Put together the runs in which different calls fail and the program ignores that, or does not do
 * without: they are one row. */
void matrix_fold(struct matrix_case *cases, size_t count);

/** How many of the first cases matrix_fold made one row; 1: none. */
size_t matrix_folded(const struct matrix_case *cases, size_t count);

/** The name of such a row: "CUDA 13.5 and 9.0, 14 calls fail in turn". */
void matrix_fold_name(const struct matrix_case *cases, size_t count, char name[MATRIX_WORDS_SIZE]);

/** Why it fails, with `most` of its calls, each on a line of its own. */
void matrix_fold_words(const struct matrix_case *cases, size_t count, size_t most,
                       char text[MATRIX_REASON_SIZE]);

/** Whether two releases, or two calls that are made to fail, fail for one cause; or the second
 * fails by chance, and the first has a cause by MATRIX_LATE or MATRIX_REORDER. */
bool matrix_is_one_cause(const struct matrix_case *one, const struct matrix_case *other);

/** The first case that fails for the cause of this one; itself, if there is none before it. */
size_t matrix_first(const struct matrix_case *cases, size_t number);

/** How many of the first cases are one row, and its name: releases that ended the same, or fail by
 * chance, or calls that failed and of which the program took notice, or that ended the same. */
size_t matrix_row(const struct matrix_case *cases, size_t count, char name[MATRIX_WORDS_SIZE]);

/** Why a row of so many, of which this is the first, ended as it did: how it ended, the failing
 * call and the last words, as far as each has them. Returns `text`. */
const char *matrix_reason(const struct matrix_case *one, size_t count,
                          char text[MATRIX_REASON_SIZE]);

/** The same of the case of this number, but for a failure whose cause an earlier case has: that
 * one's name. */
const char *matrix_why(const struct matrix_case *cases, size_t number, size_t count,
                       char text[MATRIX_REASON_SIZE]);

/** Write "6 runs: 5 passes, 1 fails". */
void matrix_totals(FILE *file, const struct matrix_case *cases, size_t count);

/** The entries, with commas, that --survives may name: those that fail alone for want of it, or
 * those that the driver lacks. False: there are none, or those that fail have the same. */
bool matrix_survivable(const struct matrix_case *cases, size_t count, bool lacked,
                       char text[MATRIX_REASON_SIZE]);

/** Behind that: that what the program leaves behind, if it goes on, is a failure; "": nothing. */
const char *matrix_left(const struct matrix_case *cases, size_t count);

/** What to do about work that nothing waits for or orders, and about an error that the program
 * ignores, in `text`, as `cushim explain` has it: whoever reads a row may see nothing else. Returns
 * the kind of finding; NULL: another one. `reason` is the row's. */
const struct sentences_row *matrix_cure(const struct matrix_case *one, const char *reason,
                                        char text[MATRIX_WORDS_SIZE]);

/** Print it for each kind of finding once, behind the name of its first row, in lines of this
 * width; but for errors that --survives is about. */
void matrix_cures(const struct matrix_case *cases, size_t count, size_t width);

/** A line of a source file that is there. */
struct matrix_line {
    char path[PATH_MAX];
    int line;
};

/** Where a run went wrong, for people: the place of the call that matters, "a.c:66 (main)", else
 * that of a kernel or of the program's words, "a.c:66"; empty: not known. Returns `place`. */
const char *matrix_where(const struct matrix_case *one, char place[MATRIX_NAME_SIZE]);

/** Where a run's failure belongs: to the call that it ignored, else to what a kernel did, the call
 * that matters, or what the program's words name. False: not known. */
bool matrix_line(const struct matrix_case *one, struct matrix_line *found);

/** "a.c:66" in words, of a file that is there. */
bool matrix_line_of_words(const char *words, struct matrix_line *found);

/** "passes", "degrades", ... */
const char *matrix_end_name(enum matrix_end end);

/** Whether a rule made a call fail and the program went on, or ended, as if it had not. */
bool matrix_ignored(const struct matrix_case *one);

/** Whether a call of the driver failed by itself, and the check found what is left behind. */
bool matrix_left_behind(const struct matrix_case *one);

/** How it ended, for people: "exit code 3", "signal 11 (Segmentation fault)", behind what it
 * ignored. Returns `text`. */
const char *matrix_words(const struct matrix_case *one, char text[MATRIX_WORDS_SIZE]);

/** The call of the case; of a simulated run that went wrong and left no word, that none failed; of
 * one that passes nothing, but for a missing entry. */
const char *matrix_call(const struct matrix_case *one);

/** If it did not pass, what a kernel did, or else the last line of its standard error, or of its
 * output, in quotes. Returns `text`. */
const char *matrix_last_words(const struct matrix_case *one, char text[MATRIX_WORDS_SIZE]);

/** Put what the check found, if the run fails, into `text`, and return it. */
const char *matrix_check_words(const struct matrix_case *one, char text[MATRIX_WORDS_SIZE]);

/** The entry of --survives for want of which alone it fails, since the program went on, or ended
 * with 0; NULL: none. */
const char *matrix_survivor(const struct matrix_case *one);

/** The driver of a run without one: the system's loader refuses it as too short. */
#define MATRIX_NO_DRIVER "/dev/null"

/** The rules of runs that look for missing waits, and for missing orders of streams. */
#define MATRIX_LATE "late"
#define MATRIX_REORDER "reorder"

/** The rule of runs that lack neither. */
#define MATRIX_EARLY "early"

/** Behind the error of a call; and what freed it. */
#define MATRIX_FREED ", of memory that was freed"
#define MATRIX_INSIDE ", not allowed in a callback"

/** Before --survives: of a call that failed, in front of that, of all runs; of one that the driver
 * lacks. */
#define MATRIX_GOES_ON "if the program rightly goes on: "
#define MATRIX_TELL "let the program tell these errors and stop; "
#define MATRIX_WITHOUT "if the program rightly does without: "

/** Annotations of a GitHub workflow: one for each cause, with its releases, or for calls that fail;
 * and one of a note, or "". Of more than GitHub shows the last says how many there are. */
void matrix_github(FILE *file, const struct matrix_case *cases, size_t count, const char *note);

/** Reports to an open file, with a note, or ""; write errors show in its error flag. */
void matrix_junit(FILE *file, const struct matrix_case *cases, size_t count, const char *note);
void matrix_markdown(FILE *file, const struct matrix_case *cases, size_t count, const char *note);

#endif
