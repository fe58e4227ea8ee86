/* SPDX-License-Identifier: MIT */
#include "scan_sources.h"

#include "known.h"
#include "mapped.h"
#include "names.h"
#include "output.h"
#include "scan_text.h"
#include "scan_wheel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void scan_sources_add(struct scan_sources *sources, const struct scan_source *source,
                      const char *name)
{
    sources->item = scan_grow(sources->item, sources->count, sizeof *sources->item);
    sources->item[sources->count] = *source;
    sources->item[sources->count++].name = scan_copy(name, strlen(name));
}

/* How often: what one file tells by what another one tells by what a third one asks. */
enum { MOST_ROUNDS = 6 };

static void read_again(struct scan_sources *sources, size_t which, const struct mapped *mapped,
                       const struct option_list *defines)
{
    struct scan_source *source = &sources->item[which];
    const struct scan_source_text text = {mapped->data, mapped->size, which,
                                          scan_text_is_header(source->name)};
    struct scan_source again;

    if (!scan_shared_concerns(&sources->shared, which, mapped->data, mapped->size,
                              source->count > 0))
        return;
    again = scan_source_read(&text, defines, &sources->shared);
    again.named = source->named;
    again.name = source->name;
    source->name = NULL;
    scan_source_free(source);
    *source = again;
}

void scan_sources_share(struct scan_sources *sources, const struct option_list *defines)
{
    const char *problem;

    for (int round = 0; round < MOST_ROUNDS && scan_shared_begin(&sources->shared); round++) {
        for (size_t i = 0; i < 2 * sources->count; i++) { /* each is counted before one is read */
            const size_t which = i % sources->count;
            struct mapped mapped;
            if (sources->item[which].own ||
                !mapped_open(&mapped, sources->item[which].name, &problem))
                continue;
            if (i < sources->count && mapped.data)
                scan_shared_count(&sources->shared, mapped.data, mapped.size);
            else if (mapped.data)
                read_again(sources, which, &mapped, defines);
            mapped_close(&mapped);
        }
    }
}

static bool has_entry(const struct scan_source_require *require, size_t index)
{
    if (known_entry(index).since <= require->release)
        return true;
    for (size_t i = 0; i < require->count; i++) {
        if (require->entries[i] == index)
            return true;
    }
    return false;
}

/* Whether it counts for a call; without one, for those of other functions and files. In its own
 * function a call is behind it, or has to be in its branch: that is scan_guard's part. */
static bool counts_for(const struct scan_source_require *require,
                       const struct scan_source_call *call)
{
    return require->use == SCAN_REQUIRE_COUNTS &&
           (!call || call->function == SCOPE_FILE || call->function != require->function ||
            (require->checked && require->line <= call->line));
}

/* One that counts, or does not. */
static const struct scan_source_require *find_in(const struct scan_source *source, size_t index,
                                                 const struct scan_source_call *call, bool counts)
{
    for (size_t i = 0; i < source->require_count; i++) {
        const struct scan_source_require *require = &source->requirements[i];
        if (counts_for(require, call) == counts && has_entry(require, index))
            return &source->requirements[i];
    }
    return NULL;
}

/* Whether a file has a name. */
static bool has_name(const struct scan_source *source, const char *name)
{
    const char *problem;
    struct mapped mapped;
    bool has = false;

    if (!mapped_open(&mapped, source->name, &problem))
        return true; /* nobody knows */
    if (mapped.data)
        has = scan_text_find_word(mapped.data, (const char *)mapped.data + mapped.size,
                                  (struct scan_word){name, strlen(name)});
    mapped_close(&mapped);
    return has;
}

/* In a program, a function that nothing calls requires nothing. That of a library may be called by
 * others. */
static void judge_require(const struct scan_sources *sources, const struct scan_source *source,
                          struct scan_source_require *require, size_t mains)
{
    bool called = !require->caller || mains == 0;

    for (size_t i = 0; i < sources->count && !called; i++)
        called = &sources->item[i] != source && has_name(&sources->item[i], require->caller);
    if (!called && require->use == SCAN_REQUIRE_COUNTS)
        require->use = SCAN_REQUIRE_DEAD;
}

static size_t count_mains(const struct scan_sources *sources)
{
    size_t count = 0;

    for (size_t i = 0; i < sources->count; i++)
        count += sources->item[i].main > 0;
    return count;
}

/* A program requires once, at its start, in any of its files. Files with a main() each are several
 * programs, and none of them requires for another. */
static bool counts_for_all(const struct scan_source *source, size_t mains)
{
    return source->main == 0 || mains == 1;
}

/* Where no source names cushim, names alone are those of another loader. */
static void drop_others(struct scan_sources *sources)
{
    for (size_t i = 0; i < sources->count; i++) {
        if (sources->dropin || sources->item[i].has_cushim)
            return;
    }
    for (size_t i = 0; i < sources->count; i++) {
        struct scan_source *source = &sources->item[i];
        size_t count = 0;
        for (size_t k = 0; k < source->count; k++) {
            if (!source->calls[k].alone)
                source->calls[count++] = source->calls[k];
        }
        sources->dropped |= count < source->count;
        source->count = count;
    }
}

void scan_sources_judge(struct scan_sources *sources)
{
    const struct scan_source_require *shared[CUSHIM_ENTRY_COUNT] = {NULL};
    const struct scan_source_require *lost[CUSHIM_ENTRY_COUNT] = {NULL};
    size_t mains = count_mains(sources);

    drop_others(sources);
    for (size_t i = 0; i < sources->count; i++) {
        const struct scan_source *source = &sources->item[i];
        for (size_t k = 0; k < source->require_count; k++)
            source->requirements[k].file = source->name,
            judge_require(sources, source, &source->requirements[k], mains);
        if (source->require_count == 0 || !counts_for_all(source, mains))
            continue;
        for (size_t k = 0; k < CUSHIM_ENTRY_COUNT; k++) {
            shared[k] = shared[k] ? shared[k] : find_in(source, k, NULL, true);
            lost[k] = lost[k] ? lost[k] : find_in(source, k, NULL, false);
        }
    }
    for (size_t i = 0; i < sources->count; i++) {
        const struct scan_source *source = &sources->item[i];
        for (size_t k = 0; k < source->count; k++) {
            struct scan_source_call *call = &source->calls[k];
            const struct scan_source_require *own = find_in(source, call->index, call, true);
            const struct scan_source_require *own_lost = find_in(source, call->index, call, false);
            const struct scan_source_require *other = shared[call->index];
            const bool elsewhere = other && other->file != source->name;
            call->require = own ? own : elsewhere ? other : NULL;
            call->lost = own_lost ? own_lost : lost[call->index];
        }
    }
}

static bool is_newer(const struct scan_source_call *call, int oldest)
{
    return oldest > 0 && known_entry(call->index).since > oldest;
}

static bool is_finding(const struct scan_source_call *call, int oldest)
{
    return is_newer(call, oldest) && !call->has && !call->require;
}

/* A guard is there that does not count, and may guard the call all the same. */
static bool is_unknown(const struct scan_source_call *call)
{
    if (call->asked + call->late + call->old > 0 || !call->lost)
        return call->asked > 0 && !call->certain;
    const enum scan_require use = call->lost->use;
    return use == SCAN_REQUIRE_STAYS || use == SCAN_REQUIRE_DEAD ||
           (use == SCAN_REQUIRE_COUNTS && call->lost->line <= call->line);
}

/* Line of the guard, line where its branch ends. */
static const char *const words_of_why[] = {
    [SCAN_WHY_FORM] = "the guard of line %zu is in no form that is understood: put the call into "
                      "its if",
    [SCAN_WHY_ELSEWHERE] = "another function asks for it (line %zu): ask here, too, or begin a "
                           "comment before the call with CUSHIM_HAS(...)",
    [SCAN_WHY_OR] = "the guard of line %zu is joined by ||: the call is reached without it",
    [SCAN_WHY_AND] = "the guard of line %zu is inverted and joined by &&: the call is reached "
                     "without it",
    [SCAN_WHY_INVERTED] = "the guard of line %zu is inverted: it leads here without the entry",
    [SCAN_WHY_ELSE] = "the call is in the else of line %zu, which has no such entry",
    [SCAN_WHY_ENDED] = "the branch of line %zu ends in line %zu without leaving: return there, or "
                       "put the call into the branch",
    [SCAN_WHY_JUMP] = "goto, case or #if leads past the guard of line %zu: ask behind it",
    [SCAN_WHY_SWITCH] = "this part of the `switch` of line %zu is not understood as a guard: use "
                        "an if",
    [SCAN_WHY_MACRO] = "the macro of line %zu asks, and does not leave: put the call into an if",
    [SCAN_WHY_ARGUMENT] = "the guard of line %zu is an argument of what may go on without it: put "
                          "the call into an if",
    [SCAN_WHY_LAMBDA] = "the call is in a lambda, and the guard of line %zu comes after it: ask in "
                        "the lambda",
    [SCAN_WHY_NUMBER] = "line %zu compares the driver's version with no number that is known: "
                        "write one, as 12000",
    [SCAN_WHY_FOREIGN] = "this file does not show whether the condition of line %zu asks for it: "
                         "ask here, too, or begin a comment before the call with "
                         "CUSHIM_HAS(...)",
    [SCAN_WHY_ATTRIBUTE] = "line %zu asks for an attribute of the device, which does not tell the "
                           "driver's release: ask for the entry, too",
    [SCAN_WHY_RESULT] = "line %zu names the error of a missing entry, and not for the result of "
                        "this call: put the call into an if",
    [SCAN_WHY_CALLERS] = "line %zu is in a function before which some of its callers ask, and some "
                         "do not: ask here, too",
    [SCAN_WHY_FALLBACK] = "line %zu goes on after any error of this call: compare its result with "
                          "CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER, or put the call into an if",
    [SCAN_WHY_TABLE] = "the guard of line %zu asks another table: ask the one that is called",
};

/* File and line of the cushim_require. */
static const char *const words_of_lost[] = {
    [SCAN_REQUIRE_UNUSED] = "cushim_require in %s:%zu has it, and its result is not used: leave if "
                            "it is not CUSHIM_OK",
    [SCAN_REQUIRE_INVERTED] = "cushim_require in %s:%zu has it, and its result is used inverted: "
                              "leave if it is not CUSHIM_OK",
    [SCAN_REQUIRE_STAYS] = "cushim_require in %s:%zu has it, and nothing shows that the program "
                           "leaves if it is not CUSHIM_OK: return there",
    [SCAN_REQUIRE_DEAD] = "cushim_require in %s:%zu has it, and is in a function that nothing "
                          "calls",
    [SCAN_REQUIRE_COUNTS] = "cushim_require in %s:%zu has it, and does not decide whether the call "
                            "is reached: require it before",
};

static char *words_of(const struct scan_source_call *call)
{
    struct cushim_entry entry = known_entry(call->index);
    char release[VERSION_TEXT_SIZE], old[VERSION_TEXT_SIZE], *why, *text;
    int length;

    version_text(release, entry.since);
    const bool known = call->late + call->old + call->compared > 0 || call->lost;
    const bool nearer =
        call->asked > 0 &&
        ((call->why == SCAN_WHY_RESULT && known) ||
         (call->old > call->asked && (call->why == SCAN_WHY_FORM || call->why == SCAN_WHY_ENDED)));
    if (call->asked > 0 && !nearer)
        length = asprintf(&why, words_of_why[call->why], call->asked, call->why_line);
    else if (call->late > 0)
        length = asprintf(&why, "CUSHIM_HAS(..., %s) comes after it (line %zu)", entry.symbol,
                          call->late);
    else if (call->old > 0)
        length = asprintf(
            &why, "the guard of line %zu is of CUDA %s: put the call into if (CUSHIM_HAS(..., %s))",
            call->old, version_text(old, call->old_release), entry.symbol);
    else if (call->lost)
        length = asprintf(&why, words_of_lost[call->lost->use], call->lost->file, call->lost->line);
    else if (call->odd > 0)
        length = asprintf(&why, words_of_why[SCAN_WHY_NUMBER], call->odd);
    else if (call->compared > 0)
        length = asprintf(
            &why,
            "line %zu asks whether its slot is NULL, which no slot is: put the call into if "
            "(CUSHIM_HAS(..., %s))",
            call->compared, entry.symbol);
    else
        length = asprintf(&why, "put the call into if (CUSHIM_HAS(..., %s))", entry.symbol);
    if (length >= 0)
        length = asprintf(&text, "%s: %s came with CUDA %s; %s",
                          is_unknown(call) ? "unknown" : "no guard", entry.symbol, release, why);
    if (length >= 0)
        free(why);
    if (length < 0)
        output_no_memory();
    return text;
}

char *scan_sources_words(const struct scan_source_call *call, int oldest, bool *unknown)
{
    *unknown = is_unknown(call);
    return is_finding(call, oldest) ? words_of(call) : NULL;
}

static const char *rule_of(const struct scan_source_call *call)
{
    if (!is_unknown(call))
        return "unguarded-call";
    return call->why == SCAN_WHY_ELSEWHERE ? "asked-elsewhere" : "guard-unproved";
}

struct scan_findings scan_sources_find(const struct scan_sources *sources)
{
    struct scan_findings findings = {NULL, 0};

    for (size_t i = 0; i < sources->count; i++) {
        const struct scan_source *source = &sources->item[i];
        for (size_t k = 0; k < source->count; k++) {
            const struct scan_source_call *call = &source->calls[k];
            if (!is_finding(call, sources->oldest))
                continue;
            findings.item = scan_grow(findings.item, findings.count, sizeof *findings.item);
            findings.item[findings.count++] =
                (struct scan_finding){scan_copy(source->name, strlen(source->name)), words_of(call),
                                      call->line, rule_of(call), is_unknown(call)};
        }
    }
    return findings;
}

bool scan_sources_fail(const struct scan_findings *findings, bool strict)
{
    for (size_t i = 0; i < findings->count; i++) {
        if (strict || !findings->item[i].unknown)
            return true;
    }
    return false;
}

void scan_sources_forget(struct scan_findings *findings)
{
    for (size_t i = 0; i < findings->count; i++) {
        free(findings->item[i].file);
        free(findings->item[i].text);
    }
    free(findings->item);
    *findings = (struct scan_findings){NULL, 0};
}

/* Each entry once, at its first call. */
static void print_entries(const struct scan_source *source)
{
    bool seen[CUSHIM_ENTRY_COUNT] = {false};
    char release[VERSION_TEXT_SIZE];

    for (size_t i = 0; i < source->count; i++) {
        const struct scan_source_call *call = &source->calls[i];
        struct cushim_entry entry = known_entry(call->index);
        if (!seen[call->index])
            printf("%s:%zu: %s came with CUDA %s\n", source->name, call->line, entry.symbol,
                   version_text(release, entry.since));
        seen[call->index] = true;
    }
}

/* Which cushim_require was taken, and for how many calls: wherever it is, it is named. */
static void print_required(const struct scan_sources *sources, const struct scan_source *source)
{
    for (size_t i = 0; i < sources->count; i++) {
        const struct scan_source *other = &sources->item[i];
        for (size_t k = 0; k < other->require_count; k++) {
            size_t count = 0;
            for (size_t j = 0; j < source->count; j++) {
                const struct scan_source_call *call = &source->calls[j];
                count += is_newer(call, sources->oldest) && !call->has &&
                         call->require == &other->requirements[k];
            }
            if (count > 0)
                printf(", %zu required in %s:%zu", count, other->name, other->requirements[k].line);
        }
    }
}

/* How many calls are of newer entries, and of them those behind a guard, required, without
 * guard, and with one that is not understood. */
struct counts {
    size_t calls, newer, asked, required, found, unknown;
};

static struct counts count_calls(const struct scan_source *source, int oldest)
{
    struct counts counts = {.calls = source->count};

    for (size_t i = 0; i < source->count; i++) {
        bool newer = is_newer(&source->calls[i], oldest);
        counts.newer += newer;
        counts.asked += newer && source->calls[i].has;
        counts.required += newer && !source->calls[i].has && source->calls[i].require;
        bool unknown = is_unknown(&source->calls[i]);
        counts.found += !unknown && is_finding(&source->calls[i], oldest);
        counts.unknown += unknown && is_finding(&source->calls[i], oldest);
    }
    return counts;
}

static void print_counts(FILE *file, const struct counts *counts, int oldest)
{
    char release[VERSION_TEXT_SIZE];

    fprintf(file, "calls through cushim's table: %zu; newer than CUDA %s: %zu, %zu of them guarded",
            counts->calls, version_text(release, oldest), counts->newer, counts->asked);
    if (counts->found > 0)
        fprintf(file, ", %zu without guard", counts->found);
    if (counts->unknown > 0)
        fprintf(file, ", %zu unknown", counts->unknown);
    if (counts->required > 0)
        fprintf(file, ", %zu required", counts->required);
}

static void print_calls(const struct scan_sources *sources, const struct scan_source *source)
{
    struct counts counts = count_calls(source, sources->oldest);
    char level[VERSION_TEXT_SIZE];

    for (size_t i = 0; i < source->count; i++) {
        const struct scan_source_call *call = &source->calls[i];
        if (!is_finding(call, sources->oldest))
            continue;
        char *words = words_of(call);
        printf("%s:%zu: ", source->name, call->line);
        output_text(is_unknown(call) ? OUTPUT_WARNING : OUTPUT_BAD, words);
        printf("\n");
        free(words);
    }
    if (sources->summary)
        return;
    printf("%s: ", source->name);
    counts.required = 0;
    print_counts(stdout, &counts, sources->oldest);
    print_required(sources, source);
    printf("; plain names are those of CUDA %s\n", version_text(level, source->level));
}

/* Whether it would guard a finding, if it counted. */
static bool would_guard(const struct scan_sources *sources,
                        const struct scan_source_require *require)
{
    for (size_t i = 0; i < sources->count; i++) {
        const struct scan_source *source = &sources->item[i];
        for (size_t k = 0; k < source->count; k++) {
            if (is_finding(&source->calls[k], sources->oldest) &&
                has_entry(require, source->calls[k].index))
                return true;
        }
    }
    return false;
}

static void print_not_taken(const struct scan_sources *sources)
{
    size_t mains = count_mains(sources);

    for (size_t i = 0; i < sources->count; i++) {
        const struct scan_source *source = &sources->item[i];
        for (size_t k = 0; k < source->require_count && !counts_for_all(source, mains); k++) {
            if (source->requirements[k].use == SCAN_REQUIRE_COUNTS &&
                would_guard(sources, &source->requirements[k]))
                printf("%s:%zu: this cushim_require counts for its own file alone: %zu files have "
                       "a main()\n",
                       source->name, source->requirements[k].line, mains);
        }
    }
}

bool scan_sources_uses(const struct scan_source *source)
{
    return source->count > 0 || source->includes_cushim;
}

size_t scan_sources_count(const struct scan_sources *sources)
{
    size_t count = 0;

    for (size_t i = 0; i < sources->count && sources->oldest > 0; i++)
        count += scan_sources_uses(&sources->item[i]);
    return count;
}

void scan_sources_print_counts(FILE *file, const struct scan_sources *sources,
                               const struct scan_source *source)
{
    const struct counts counts = count_calls(source, sources->oldest);

    print_counts(file, &counts, sources->oldest);
}

void scan_sources_print_all(FILE *file, const struct scan_sources *sources)
{
    struct counts all = {0};

    for (size_t i = 0; i < sources->count; i++) {
        const struct counts counts = count_calls(&sources->item[i], sources->oldest);
        all.calls += counts.calls;
        all.newer += counts.newer;
        all.asked += counts.asked;
        all.required += counts.required;
        all.found += counts.found;
        all.unknown += counts.unknown;
    }
    fprintf(file, "all %zu source%s: ", sources->count, output_plural(sources->count));
    print_counts(file, &all, sources->oldest);
    fputs("\n", file);
}

void scan_sources_print(const struct scan_sources *sources)
{
    const size_t count = scan_sources_count(sources);
    size_t files = 0;

    for (size_t i = 0; i < sources->count; i++)
        files += sources->item[i].count > 0;
    for (size_t i = 0; i < sources->count; i++) {
        const struct scan_source *source = &sources->item[i];
        const struct counts counts = count_calls(source, sources->oldest);
        if (sources->oldest == 0)
            print_entries(source);
        else if (counts.calls > 0 && (files == 1 || counts.newer > 0))
            print_calls(sources, source);
    }
    if (count > 0 &&
        (sources->summary || sources->count > 1 || (files == 0 && !sources->item[0].named)))
        scan_sources_print_all(stdout, sources);
    print_not_taken(sources);
}

void scan_sources_free(struct scan_sources *sources)
{
    for (size_t i = 0; i < sources->count; i++)
        scan_source_free(&sources->item[i]);
    scan_shared_free(&sources->shared);
    free(sources->item);
    *sources = (struct scan_sources){0};
}
