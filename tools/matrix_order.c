/* SPDX-License-Identifier: MIT */
/* Which wait, or which order of streams, a program lacks that fails if its work runs late or in
 * another order: found by runs in which less of it does. A program that also fails if each piece
 * of work is done when the call that queues it returns fails for another reason. */
#include "matrix.h"

#include "sim_check.h"
#include "output.h"
#include "call/fault.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_CHAINS = 8, MOST_AGAIN = 8, MOST_SECONDS = 60, LEAST_TIMEOUT = 5, MOST_WORK = 1 << 24 };

struct search {
    const struct matrix_plan *plan;
    const struct matrix_case *of;
    char rule[64];                    /* MATRIX_LATE or MATRIX_REORDER; under which it fails */
    struct matrix_case fails, passes; /* the last ones of each */
    double seconds;                   /* of all so far */
    bool given_up;                    /* they took too long */
};

/* The plan of runs beside those of the user. */
static struct matrix_plan plan_of(const struct matrix_plan *plan, double seconds)
{
    const double timeout = LEAST_TIMEOUT + 10 * seconds;
    struct matrix_plan own = *plan;

    own.quiet = true;
    own.timeout = timeout < plan->timeout ? timeout : plan->timeout;
    return own;
}

/* Run it under a rule. Returns whether it passes. */
static bool passes(struct search *search, const char *rule)
{
    struct matrix_plan plan = plan_of(search->plan, search->of->seconds);
    struct matrix_case one = {.end = MATRIX_NOT_RUN};

    if (search->given_up)
        return false;
    memcpy(one.cuda, search->of->cuda, sizeof one.cuda);
    snprintf(one.fault, sizeof one.fault, "%s", rule);
    search->given_up = !matrix_run(&plan, &one, 0, 1, NULL) || one.end == MATRIX_NOT_RUN;
    search->seconds += one.seconds;
    search->given_up |= search->seconds > MOST_SECONDS;
    const bool good = one.end < MATRIX_FAILS;
    struct matrix_case *last = good ? &search->passes : &search->fails;
    matrix_place_free(last);
    *last = one;
    return good;
}

static char option_behind(const struct search *search)
{
    return strchr(search->rule, ':') ? ',' : ':';
}

static bool passes_from(struct search *search, long from)
{
    char rule[128];

    snprintf(rule, sizeof rule, "%s%cfrom=%ld", search->rule, option_behind(search), from);
    return passes(search, rule);
}

static bool fails_before(struct search *search, long from, long before)
{
    char rule[160];

    snprintf(rule, sizeof rule, "%s%cfrom=%ld,before=%ld", search->rule, option_behind(search),
             from, before);
    return !passes(search, rule);
}

/* The last piece of work for which it fails if that and all behind it is late; 0: none is known.
 * A program that stops for long by itself may pass once: asked again. */
static long find_from(struct search *search)
{
    long fails = 0, good = 1;

    for (int tries = 0; tries < 3; tries++) {
        for (long step = 1; !passes_from(search, good); step *= 2) {
            if (search->given_up || good > MOST_WORK)
                return 0;
            fails = good;
            good += step;
        }
        while (fails + 1 < good) {
            long middle = fails + (good - fails) / 2;
            if (passes_from(search, middle))
                good = middle;
            else if (search->given_up)
                return 0;
            else
                fails = middle;
        }
        if (passes_from(search, good)) /* once more */
            break;
    }
    return search->given_up || fails == 0 || passes_from(search, fails) ? 0 : fails;
}

/* The last piece of work before which that one must run for it to pass; 0: none is known. */
static long find_before(struct search *search, long from)
{
    long good = from + 1, fails = from + 2;

    if (fails_before(search, from, good))
        return 0;
    for (long step = 1; !fails_before(search, from, fails); step *= 2) {
        if (fails > MOST_WORK)
            return 0;
        good = fails;
        fails += step;
    }
    while (good + 1 < fails) {
        long middle = good + (fails - good) / 2;
        if (fails_before(search, from, middle))
            fails = middle;
        else
            good = middle;
    }
    return !search->given_up && !fails_before(search, from, good) ? good : 0;
}

static void move(char **to, char **from)
{
    free(*to);
    *to = *from;
    *from = NULL;
}

/* The call's name in "cuX\t..." */
static const char *name_of(const char *by, char name[128])
{
    snprintf(name, 128, "%.*s", (int)strcspn(by, "\t"), by);
    return name;
}

static void put(struct matrix_case *one, bool changed)
{
    char text[MATRIX_CALL_SIZE], name[2][128];

    if (one->first_by && one->second_by && strcmp(one->first_by, one->second_by) == 0)
        snprintf(text, sizeof text,
                 "a piece of work of %s ran before an older one, and nothing orders them",
                 name_of(one->first_by, name[0]));
    else if (one->first_by && one->second_by)
        snprintf(text, sizeof text, "%s ran before %s, and nothing orders them",
                 name_of(one->first_by, name[0]), name_of(one->second_by, name[1]));
    else if (one->late_by && changed)
        snprintf(text, sizeof text, "the host changed what %s reads, before anything waited for it",
                 name_of(one->late_by, name[0]));
    else if (one->late_by && one->wait_by)
        snprintf(text, sizeof text, "%s was waited for too late, by %s",
                 name_of(one->late_by, name[0]), name_of(one->wait_by, name[1]));
    else if (one->late_by)
        snprintf(text, sizeof text, "%s was not waited for", name_of(one->late_by, name[0]));
    else
        snprintf(text, sizeof text, "%s",
                 strcmp(one->fault, MATRIX_LATE) == 0 ? "a wait for queued work is missing"
                                                      : "a wait or an order of streams is missing");
    matrix_put_before(one, text);
    one->ordered = true;
}

/* What ends objects, and what made the work, is no wait for it. */
static bool is_wait(const char *by, const char *work)
{
    char name[128];

    return by && !sim_fault_is_release(name_of(by, name)) && strcmp(by, work) != 0;
}

/* Of a run that failed while others ran, and passes alone. */
static void put_beside(struct matrix_case *one)
{
    matrix_put_before(one, "it passes when no other run is beside it: does it write a file of a "
                           "fixed name, or use a port? --jobs=1");
    one->beside = true;
}

/* A program that passes under one order may fail under another: each stream, or other chain of
 * work, is the last one once. */
static void find_order(struct search *search, struct matrix_case *one)
{
    struct matrix_case *failed = &search->fails;

    for (long last = 1; one->chains > 1 && last <= one->chains && last <= MOST_CHAINS; last++) {
        snprintf(search->rule, sizeof search->rule, MATRIX_REORDER ":last=%ld", last);
        if (passes(search, search->rule) || search->given_up)
            continue;
        memcpy(failed->name, one->name, sizeof one->name);
        memcpy(failed->fault, one->fault, sizeof one->fault);
        failed->must = one->must;
        matrix_place_free(one);
        *one = *failed;
        *failed = (struct matrix_case){.end = MATRIX_NOT_RUN};
        return;
    }
}

void matrix_order(const struct matrix_plan *plan, struct matrix_case *one)
{
    bool reorder = strcmp(one->fault, MATRIX_REORDER) == 0, changed = false;
    struct search search = {.plan = plan, .of = one, .rule = MATRIX_LATE};
    long from = 0;

    if (reorder)
        memcpy(search.rule, MATRIX_REORDER, sizeof MATRIX_REORDER);
    else if (strcmp(one->fault, MATRIX_LATE) != 0)
        return;
    if (reorder && one->end == MATRIX_PASSES)
        find_order(&search, one);
    if (one->end < MATRIX_FAILS || one->end > MATRIX_HANGS)
        ; /* it is good, or was not run */
    else if (plan->jobs > 1 && one->end != MATRIX_HANGS && one->kernel[0] == '\0' &&
             passes(&search, search.rule) && passes(&search, search.rule))
        put_beside(one);
    else if (passes(&search, MATRIX_EARLY)) {
        one->crossed = reorder || passes(&search, MATRIX_LATE ":streams=1");
        if (!one->crossed) /* it lacks a wait also if nothing lacks an order */
            memcpy(search.rule, MATRIX_LATE ":streams=1", sizeof MATRIX_LATE ":streams=1");
        if (one->end != MATRIX_HANGS)
            from = find_from(&search);
        if (from > 0 && reorder && find_before(&search, from) > 0) {
            move(&one->first_by, &search.passes.first_by);
            move(&one->second_by, &search.passes.late_by);
        } else if (from > 0 && !passes_from(&search, from)) {
            move(&one->late_by, &search.fails.late_by);
            changed = search.fails.changed;
            if (one->late_by && is_wait(search.fails.wait_by, one->late_by))
                move(&one->wait_by, &search.fails.wait_by);
        }
        put(one, changed);
    }
    matrix_place_free(&search.fails);
    matrix_place_free(&search.passes);
}

/* Whether it is a release that fails by itself, and not for want of an entry. */
static bool may_be_chance(const struct matrix_case *one)
{
    return matrix_is_release(one) && one->end >= MATRIX_FAILS && one->end <= MATRIX_HANGS &&
           !one->told && !one->missed;
}

void matrix_order_chance(const struct matrix_plan *plan, struct matrix_case *cases, size_t count)
{
    struct matrix_case *early = calloc(count + 1, sizeof *early);
    size_t *of = calloc(count + 1, sizeof *of), runs = 0;
    struct matrix_plan own;
    double longest = 0;
    bool ordered = false;

    if (!early || !of)
        output_no_memory();
    for (size_t i = 0; i < count; i++) {
        ordered |= matrix_has_order(&cases[i]);
        if (!may_be_chance(&cases[i]))
            continue;
        longest = cases[i].seconds > longest ? cases[i].seconds : longest;
        memcpy(early[runs].cuda, cases[i].cuda, sizeof early->cuda);
        memcpy(early[runs].fault, MATRIX_EARLY, sizeof MATRIX_EARLY);
        of[runs++] = i;
    }
    own = plan_of(plan, longest);
    if (ordered && runs > 0 && matrix_run(&own, early, 0, runs, NULL)) {
        for (size_t i = 0; i < runs; i++)
            cases[of[i]].by_chance = early[i].end < MATRIX_FAILS;
    }
    for (size_t i = 0; i < runs; i++)
        matrix_place_free(&early[i]);
    free(early);
    free(of);
}

/* Whether something of the program's own made it fail, perhaps another run. */
static bool may_be_beside(const struct matrix_case *one)
{
    bool good = one->code == 0 || (one->code == COMMAND_CHECK && one->check[0] != '\0');

    return (one->end == MATRIX_FAILS || one->end == MATRIX_CRASHES) && !good && !one->told &&
           !one->missed && one->kernel[0] == '\0' && !one->by_chance && !one->ordered &&
           !one->beside && !matrix_ignored(one);
}

static bool is_alike(const struct matrix_case *one, const struct matrix_case *other)
{
    return matrix_is_same(one, other) && strcmp(one->call, other->call) == 0;
}

/* Run it once more, alone. */
static bool passes_alone(const struct matrix_plan *plan, const struct matrix_case *one)
{
    struct matrix_plan own = plan_of(plan, one->seconds);
    struct matrix_case again = {.end = MATRIX_NOT_RUN, .devices = one->devices};

    memcpy(again.cuda, one->cuda, sizeof again.cuda);
    memcpy(again.fault, one->fault, sizeof again.fault);
    again.driver = one->driver ? strdup(one->driver) : NULL;
    if (one->driver && !again.driver)
        output_no_memory();
    const bool good = matrix_run(&own, &again, 0, 1, NULL) && again.end < MATRIX_FAILS &&
                      again.ruled == one->ruled;
    matrix_place_free(&again);
    return good;
}

void matrix_order_beside(const struct matrix_plan *plan, struct matrix_case *cases, size_t count)
{
    size_t tried[MOST_AGAIN], tries = 0;
    bool alone[MOST_AGAIN], ordered = false, *good = calloc(count + 1, sizeof *good);

    if (!good)
        output_no_memory();
    for (size_t i = 0; i < count; i++)
        ordered |= matrix_has_order(&cases[i]); /* others may fail by chance, for want of that */
    for (size_t i = 0; i < count && plan->jobs > 1 && !ordered; i++) {
        size_t k = 0;
        if (!may_be_beside(&cases[i]))
            continue;
        while (k < tries && !is_alike(&cases[tried[k]], &cases[i]))
            k++;
        if (k == MOST_AGAIN)
            continue;
        if (k == tries) {
            alone[k] = passes_alone(plan, &cases[i]);
            tried[tries++] = i;
        }
        good[i] = alone[k];
    }
    for (size_t i = 0; i < count; i++) {
        if (good[i])
            put_beside(&cases[i]);
    }
    free(good);
}
