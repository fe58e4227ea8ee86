/* SPDX-License-Identifier: MIT */
/* What surrounds every call. */
#ifndef CUSHIM_SIM_CALL_CALL_H
#define CUSHIM_SIM_CALL_CALL_H

#include "call/fault.h"
#include "context/context.h"
#include "error_names.h"

/* --- call.c --- One call: what surrounds its behaviour. */
struct sim_call {
    const struct sim_entry *entry;
    const void *const *arguments; /* address of each argument */
    uint64_t number;              /* of this call in the process, from 1 */
    uint64_t start_ns;
    CUresult result;
    CUresult forced;        /* a fault's code that replaces the result at the end; 0: none */
    struct sim_call *outer; /* a call made inside another, by a callback */
};
/* False: call->result is the answer (not initialised, an injected fault, ...). Takes the lock. */
bool sim_call_begin(struct sim_call *call, size_t entry, const void *const *arguments);
CUresult sim_call_end(struct sim_call *call); /* gives the lock up */
/* A call of what the driver lacks, which ended in a stub of the caller's. */
void sim_call_missed(const char *symbol, CUresult result);
extern uint64_t sim_call_counts[SIM_ENTRY_COUNT];

/* --- embedded.c --- The simulated driver inside of a program, without a library file. */
/* A resolver for cushim_options: the exported function, where the simulated version has it. */
void *cushim_sim_symbol(void *user, const char *symbol);

/* --- entry.c --- The entries of the registry, as the generated sim_exports.c has them. */
struct sim_field { /* of a structure that a call reads */
    const char *name;
    uint16_t offset;
    uint8_t size;
    char kind; /* as a parameter's */
};
struct sim_parameter {
    const char *name;
    uint8_t size; /* bytes */
    char kind;    /* p pointer, h handle, i int, u unsigned, f float, s string, b bytes */
    char output;  /* kind of what it points to and the call writes, t: characters; -: not known */
    uint8_t output_size;
    uint8_t field_count; /* of what it points to */
    const struct sim_field *fields;
};
struct sim_entry {
    const char *symbol, *name;
    int since;
    char stream;     /* 'l' legacy, 's' ptsz, 'd' ptds */
    bool behaviour;  /* whether there is one */
    bool superseded; /* the plain symbol of a name that every toolkit maps to another ABI */
    int abi;         /* equal for entries of one name with the same parameters */
    uint8_t parameter_count;
    const struct sim_parameter *parameters;
    void *function; /* sim_entry_address has where programs call it */
    void *trap;     /* aborts: what a wrong-ABI trap hands out instead */
};
extern const struct sim_entry sim_entries[];
extern const size_t sim_entry_count; /* SIM_ENTRY_COUNT */
extern const struct sim_new_error {
    int code, since;
} sim_new_errors[]; /* ends with code 0 */

/* Where programs know the functions by other addresses: of a library that stands before this code;
 * set before the first call, or NULL. */
extern void *(*sim_entry_exported)(size_t entry);
/* The next entry that may have this name or symbol; NULL: the first, and after the last. */
const struct sim_entry *sim_entry_next(const char *name, const struct sim_entry *entry);
/* Where programs call the entry: what dlsym and cuGetProcAddress return. */
void *sim_entry_address(const struct sim_entry *entry);

/* --- journal.c --- The driver's log of refused calls: the newest messages, and who is told of
 * them. */
struct sim_journal_note { /* a message for those who listen */
    char text[160];
};
/* Keep a message of the call, if it was refused. True: somebody is to be told. */
bool sim_journal_keep(const struct sim_call *call, struct sim_journal_note *note);
/* Tell them, in the order in which they registered. Without the driver's lock. */
void sim_journal_tell(struct sim_journal_note *note);

/* --- log.c --- The log of every call. */
void sim_log_call(const struct sim_call *call);
void sim_log_missed(uint64_t number, const char *symbol, CUresult result);
extern _Thread_local struct sim_call *sim_log_current; /* the thread's innermost call, or NULL */
/* Its symbol, and what called it, from malloc; NULL: there is none. */
char *sim_log_origin(void);

/* --- rule.c --- One rule, and how its text is read. */
#define SIM_RULE_SYMBOL 128

struct rule {
    enum {
        RULE_CALL,
        RULE_MEMORY,
        RULE_LOST,
        RULE_MISSING,
        RULE_WRONG_ABI,
        RULE_EARLY,
        RULE_LATE,
        RULE_REORDER
    } kind;
    char name[64]; /* of RULE_CALL and RULE_MISSING */
    bool exact;    /* the name is a symbol's, not that of all its ABIs */
    char text[256];
    uint64_t fired; /* calls that it answered, delayed or refused */
    int error;
    uint64_t call, from, before, last, every, seen;
    double probability;
    uint64_t state; /* of the random sequence; never 0 */
    int64_t device; /* -1: any */
    uint64_t slow;  /* milliseconds */
    bool after;
    size_t bytes, allocated;
};

/* The library whose entries a rule names. */
struct sim_rule_family {
    const size_t *count;
    const char *(*symbol)(size_t entry, char text[SIM_RULE_SYMBOL]);
    size_t (*name_length)(size_t entry); /* of the symbol's beginning, which all ABIs share */
    const struct cushim_error_data *errors;
    const size_t *error_count;
    const char *error_strings, *error_prefix;
    const char *all;   /* instead of a name: all entries */
    const char *names; /* a sentence's end: what a rule may begin with */
    bool driver;       /* whether there are out-of-memory, wrong-abi, late... */
};

bool sim_rule_parse(const struct sim_rule_family *family, const char *text, struct rule *rule,
                    char *error, size_t size);
/* Whether a word is an entry's symbol, or the name of all its ABIs; if not, *error tells. */
bool sim_rule_entry(const struct sim_rule_family *family, const char *name, char *error,
                    size_t size);
/* Whether a rule is for an entry: its symbol, or the name of all its ABIs. */
bool sim_rule_names(const struct rule *rule, const char *symbol, size_t name_length);
/* How many letters have to change to make one name of the other. */
unsigned sim_rule_distance(const char *one, const char *other);
/* Count a call that the rule is for; whether the rule acts on this one. */
bool sim_rule_count(struct rule *rule);

/* --- start.c --- */
void sim_start(void); /* from the environment; nothing if the driver has started */
/* With these settings. Faults and log are the environment's unless the caller has its own. False:
 * the driver has started. */
bool sim_start_with(const struct sim_config *config, bool own_faults, bool own_log);
extern bool sim_start_done; /* if not, the next call starts it */
/* The process ends, or what holds this code is unloaded. */
void sim_start_unload(void);

/* --- summary.c --- What a process says at its end: what it called, and what it made and did not
 * destroy. */
/* At the process's end: lines on standard error and in the log (`text`), and a line with a JSON
 * object appended to a file (`report`, copied; NULL: none). */
void sim_summary_at_end(bool text, const char *report);
void sim_summary_end(void); /* sim_start_unload's part */
/* What there is that was not destroyed, alive or at the end of its context, and what the checks of
 * kernels found, as JSON; its length, 0 where it does not fit. */
size_t sim_summary_left(char *text, size_t size);
/* One more call, with its result, and its symbol if the driver lacks it; else NULL. */
void sim_summary_call(CUresult result, const char *lacking);

#endif
