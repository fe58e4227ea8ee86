/* SPDX-License-Identifier: MIT */
#include "scan_output.h"

#include "known.h"
#include "names.h"
#include "output.h"
#include "scan_table.h"
#include "scan_wheel.h"

#include <stdlib.h>
#include <string.h>

enum { PLACE_SIZE = 640, SENTENCE_SIZE = 2 * VERDICT_TEXT_SIZE + 64 };

static bool is_failure(const struct scan_outcome *outcome, size_t cell)
{
    return outcome->cell[cell].answer == VERDICT_FAILS ||
           (outcome->strict && outcome->cell[cell].answer == VERDICT_UNKNOWN);
}

/* Of a call in a source. */
static bool is_failure_too(const struct scan_outcome *outcome, const struct scan_finding *finding)
{
    return !finding->unknown || outcome->strict;
}

static const char *file_of(const struct scan_outcome *outcome, size_t cell)
{
    return outcome->file[cell] ? outcome->file[cell] : "";
}

/* "fails 35: REASON; fix: FIX" */
static const char *sentence(char text[SENTENCE_SIZE], const struct verdict *verdict)
{
    char code[16] = "";

    if (verdict->code > 0)
        snprintf(code, sizeof code, " %d", verdict->code);
    snprintf(text, SENTENCE_SIZE, "%s%s: %s%s%s", verdict_name(verdict->answer), code,
             verdict->reason, verdict->fix[0] ? "; fix: " : "", verdict->fix);
    return text;
}

/* Whether a source has a test case without a finding: findings are in the order of the sources. */
static bool has_case(const struct scan_outcome *outcome, size_t source, size_t *next)
{
    const struct scan_findings *findings = outcome->findings;
    const struct scan_source *one = &outcome->sources->item[source];
    const size_t before = *next;

    while (*next < findings->count && strcmp(findings->item[*next].file, one->name) == 0)
        ++*next;
    return *next == before && outcome->sources->oldest > 0 && scan_sources_uses(one);
}

static void junit_finding(FILE *file, const struct scan_outcome *outcome,
                          const struct scan_finding *finding)
{
    fputs("  <testcase classname=\"cushim scan\" name=\"", file);
    output_xml(file, finding->file);
    fprintf(file, ":%zu\" file=\"", finding->line);
    output_xml(file, finding->file);
    fprintf(file, "\" line=\"%zu\" time=\"0\">\n    ", finding->line);
    if (is_failure_too(outcome, finding)) {
        fprintf(file, "<failure type=\"%s\" message=\"", finding->rule);
        output_xml(file, finding->text);
        fputs("\">", file);
        output_xml(file, finding->file);
        fprintf(file, ":%zu: ", finding->line);
        output_xml(file, finding->text);
        fputs("</failure>\n", file);
    } else {
        fputs("<skipped message=\"", file);
        output_xml(file, finding->text);
        fputs("\"/>\n", file);
    }
    fputs("  </testcase>\n", file);
}

/* Of a source without a finding. */
static void junit_source(FILE *file, const struct scan_sources *sources,
                         const struct scan_source *source)
{
    fputs("  <testcase classname=\"cushim scan\" name=\"", file);
    output_xml(file, source->name);
    fputs("\" file=\"", file);
    output_xml(file, source->name);
    fputs("\" time=\"0\">\n    <system-out>", file);
    scan_sources_print_counts(file, sources, source);
    fputs("</system-out>\n  </testcase>\n", file);
}

void scan_output_junit(FILE *file, const struct scan_outcome *outcome)
{
    size_t count = outcome->cells, failures = 0, skipped = 0, sources = 0;
    char place[PLACE_SIZE], text[SENTENCE_SIZE];

    for (size_t i = 0; i < count; i++) {
        failures += is_failure(outcome, i);
        skipped += !is_failure(outcome, i) && outcome->cell[i].answer == VERDICT_UNKNOWN;
    }
    for (size_t i = 0; i < outcome->findings->count; i++) {
        bool failure = is_failure_too(outcome, &outcome->findings->item[i]);
        failures += failure;
        skipped += !failure;
    }
    for (size_t i = 0, next = 0; i < outcome->sources->count; i++)
        sources += has_case(outcome, i, &next);
    fprintf(file,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
            "<testsuite name=\"cushim scan\" tests=\"%zu\" failures=\"%zu\" errors=\"0\" "
            "skipped=\"%zu\">\n",
            count + outcome->findings->count + sources, failures, skipped);
    for (size_t i = 0; i < count; i++) {
        const struct verdict *verdict = &outcome->cell[i];
        fputs("  <testcase classname=\"cushim scan\" name=\"", file);
        output_xml(file, scan_table_place(place, sizeof place, outcome->options, i));
        fputs("\" time=\"0\">\n", file);
        if (is_failure(outcome, i)) {
            fprintf(file, "    <failure type=\"%s\" message=\"", verdict->rule);
            output_xml(file, sentence(text, verdict));
            fputs("\">", file);
            output_xml(file, file_of(outcome, i));
            fputs("</failure>\n", file);
        } else if (verdict->answer == VERDICT_UNKNOWN) {
            fputs("    <skipped message=\"", file);
            output_xml(file, sentence(text, verdict));
            fputs("\"/>\n", file);
        } else {
            fputs("    <system-out>", file);
            output_xml(file, sentence(text, verdict));
            fputs("</system-out>\n", file);
        }
        fputs("  </testcase>\n", file);
    }
    for (size_t i = 0; i < outcome->findings->count; i++)
        junit_finding(file, outcome, &outcome->findings->item[i]);
    for (size_t i = 0, next = 0; i < outcome->sources->count; i++) {
        if (has_case(outcome, i, &next))
            junit_source(file, outcome->sources, &outcome->sources->item[i]);
    }
    fputs("</testsuite>\n", file);
}

void scan_output_markdown(FILE *file, const struct scan_outcome *outcome)
{
    size_t count = outcome->cells;
    size_t columns = outcome->options->gpu_count > 0 ? outcome->options->gpu_count : 1;
    char word[PLACE_SIZE];

    for (size_t i = 0; i < outcome->findings->count; i++) {
        const struct scan_finding *finding = &outcome->findings->item[i];
        fprintf(file, "%s|", i == 0 ? "| file | line | call |\n|---|---|---|\n" : "");
        output_markdown(file, finding->file);
        fprintf(file, " %zu |", finding->line);
        output_markdown(file, finding->text);
        fputs("\n", file);
    }
    if (scan_sources_count(outcome->sources) > 0) {
        fputs(outcome->findings->count > 0 ? "\n" : "", file);
        scan_sources_print_all(file, outcome->sources);
    }
    if (count == 0)
        return;
    fprintf(file, "%s|  |", scan_sources_count(outcome->sources) > 0 ? "\n" : "");
    for (size_t i = 0; i < columns; i++)
        output_markdown(file, scan_table_gpu(word, sizeof word, outcome->options, i));
    fputs("\n|---|", file);
    for (size_t i = 0; i < columns; i++)
        fputs("---|", file);
    for (size_t i = 0; i < count; i++) {
        if (i % columns == 0) {
            fputs("\n|", file);
            output_markdown(file, scan_table_driver(outcome->options, i));
        }
        snprintf(word, sizeof word, outcome->cell[i].code > 0 ? "%s %d" : "%s",
                 verdict_name(outcome->cell[i].answer), outcome->cell[i].code);
        output_markdown(file, word);
    }
    fputs("\n", file);
    for (size_t i = 0, rows = 0; i < count; i++) {
        const struct verdict *verdict = &outcome->cell[i];
        if (verdict->answer == VERDICT_RUNS)
            continue;
        if (rows++ == 0)
            fputs("\n| driver and GPU | file | rule | reason | fix |\n|---|---|---|---|---|\n",
                  file);
        fputs("|", file);
        output_markdown(file, scan_table_place(word, sizeof word, outcome->options, i));
        output_markdown(file, file_of(outcome, i));
        output_markdown(file, verdict->rule);
        output_markdown(file, verdict->reason);
        output_markdown(file, verdict->fix);
        fputs("\n", file);
    }
}

/* ---- SARIF */

static json_t *text_json(const char *text)
{
    json_t *object = json_object();

    output_json_set(object, "text", output_json_text(text));
    return object;
}

/* What a rule of sources means; others are explained by their results. */
static const char *rule_words(const char *rule)
{
    static const struct {
        const char *rule, *words;
    } rules[] = {
        {"unguarded-call", "A call of an entry that the oldest driver lacks has no guard: put it "
                           "into if (CUSHIM_HAS(...))"},
        {"asked-elsewhere", "Another function asks for the entry that is called: ask here, too, or "
                            "begin a comment before the call with CUSHIM_HAS(...)"},
        {"guard-unproved", "Nothing shows that the guard of a call decides about it: put the call "
                           "into if (CUSHIM_HAS(...))"},
    };

    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        if (strcmp(rules[i].rule, rule) == 0)
            return rules[i].words;
    }
    return rule;
}

static json_t *rules_json(const struct scan_outcome *outcome)
{
    json_t *rules = json_array();

    for (size_t i = 0; i < outcome->cells + outcome->findings->count; i++) {
        const char *name = i < outcome->cells ? outcome->cell[i].rule
                                              : outcome->findings->item[i - outcome->cells].rule;
        bool known = i < outcome->cells && outcome->cell[i].answer == VERDICT_RUNS;
        size_t index;
        json_t *rule;
        json_array_foreach(rules, index, rule)
        {
            known |= strcmp(json_string_value(json_object_get(rule, "id")), name) == 0;
        }
        if (known)
            continue;
        rule = json_object();
        output_json_set(rule, "id", json_string(name));
        output_json_set(rule, "shortDescription", text_json(rule_words(name)));
        output_json_append(rules, rule);
    }
    return rules;
}

/* GitHub knows files by their names from the top of the repository, without "./". */
static const char *bare_path(const char *path)
{
    while (path[0] == '.' && path[1] == '/')
        path += 2;
    return path;
}

/* A path as a URI: what is not allowed in one as %XX. */
static json_t *uri_json(const char *path)
{
    char *uri = scan_grow(NULL, 3 * strlen(path) + 1, 1), *to = uri;

    for (path = bare_path(path); *path != '\0'; path++) {
        if (strchr("/-._~", *path) || (*path >= '0' && *path <= '9') ||
            (*path >= 'A' && *path <= 'Z') || (*path >= 'a' && *path <= 'z'))
            *to++ = *path;
        else
            to += sprintf(to, "%%%02X", (unsigned)(unsigned char)*path);
    }
    *to = '\0';
    json_t *text = json_string(uri);
    free(uri);
    return text;
}

/* Where a result is; line 0: the file as a whole. */
static json_t *locations_json(const char *path, size_t line)
{
    json_t *locations = json_array(), *location = json_object(), *physical = json_object(),
           *artifact = json_object(), *region = json_object();

    output_json_set(artifact, "uri", uri_json(path));
    output_json_set(physical, "artifactLocation", artifact);
    output_json_set(region, "startLine", json_integer((json_int_t)line));
    if (line > 0)
        output_json_set(physical, "region", region);
    else
        json_decref(region);
    output_json_set(location, "physicalLocation", physical);
    output_json_append(locations, location);
    return locations;
}

static json_t *finding_json(const struct scan_outcome *outcome, const struct scan_finding *finding)
{
    json_t *result = json_object();

    output_json_set(result, "ruleId", json_string(finding->rule));
    output_json_set(result, "level",
                    json_string(is_failure_too(outcome, finding) ? "error" : "warning"));
    output_json_set(result, "message", text_json(finding->text));
    output_json_set(result, "locations", locations_json(finding->file, finding->line));
    return result;
}

static json_t *result_json(const struct scan_outcome *outcome, size_t cell)
{
    static const char *const levels[] = {"none", "note", "warning", "error"};
    const struct verdict *verdict = &outcome->cell[cell];
    json_t *result = json_object();
    char place[PLACE_SIZE], text[SENTENCE_SIZE], message[PLACE_SIZE + SENTENCE_SIZE];

    snprintf(message, sizeof message, "%s: %s",
             scan_table_place(place, sizeof place, outcome->options, cell),
             sentence(text, verdict));
    output_json_set(result, "ruleId", json_string(verdict->rule));
    output_json_set(result, "level",
                    json_string(is_failure(outcome, cell) ? "error" : levels[verdict->answer]));
    output_json_set(result, "message", text_json(message));
    output_json_set(result, "locations",
                    outcome->file[cell] ? locations_json(outcome->file[cell], 0) : json_array());
    return result;
}

void scan_output_sarif(FILE *file, const struct scan_outcome *outcome)
{
    json_t *root = json_object(), *runs = json_array(), *run = json_object(), *tool = json_object(),
           *driver = json_object(), *results = json_array();

    for (size_t i = 0; i < outcome->cells; i++) {
        if (outcome->cell[i].answer != VERDICT_RUNS)
            output_json_append(results, result_json(outcome, i));
    }
    for (size_t i = 0; i < outcome->findings->count; i++)
        output_json_append(results, finding_json(outcome, &outcome->findings->item[i]));
    output_json_set(driver, "name", json_string("cushim scan"));
    output_json_set(driver, "version", json_string(CUSHIM_VERSION_TEXT));
    output_json_set(driver, "rules", rules_json(outcome));
    output_json_set(tool, "driver", driver);
    output_json_set(run, "tool", tool);
    output_json_set(run, "results", results);
    output_json_append(runs, run);
    output_json_set(root, "$schema",
                    json_string("https://github.com/oasis-tcs/sarif-spec/blob/main/sarif-2.1/"
                                "schema/sarif-schema-2.1.0.json"));
    output_json_set(root, "version", json_string("2.1.0"));
    output_json_set(root, "runs", runs);
    if (json_dumpf(root, file, JSON_INDENT(2)) == 0)
        fputc('\n', file);
    json_decref(root);
}

/* ---- GitHub */

void scan_output_github(FILE *file, const struct scan_outcome *outcome)
{
    static const char *const levels[] = {"", "notice", "warning", "error"};
    char place[PLACE_SIZE], text[SENTENCE_SIZE];

    for (size_t i = 0; i < outcome->findings->count; i++) {
        const struct scan_finding *finding = &outcome->findings->item[i];
        fprintf(file, "::%s file=", is_failure_too(outcome, finding) ? "error" : "warning");
        output_command(file, bare_path(finding->file), true);
        fprintf(file, ",line=%zu,title=%s::", finding->line, finding->rule);
        output_command(file, finding->text, false);
        fputs("\n", file);
    }
    for (size_t i = 0; i < outcome->cells; i++) {
        const struct verdict *verdict = &outcome->cell[i];
        if (verdict->answer == VERDICT_RUNS)
            continue;
        fprintf(file, "::%s ", is_failure(outcome, i) ? "error" : levels[verdict->answer]);
        if (outcome->file[i]) {
            fputs("file=", file);
            output_command(file, bare_path(outcome->file[i]), true);
            fputs(",", file);
        }
        fputs("title=", file);
        output_command(file, scan_table_place(place, sizeof place, outcome->options, i), true);
        fputs("::", file);
        output_command(file, sentence(text, verdict), false);
        fputs("\n", file);
    }
}

/* ---- JSON */

/* What is behind the last ": " of a reason is its cure, but for these, which tell more of it. */
static bool has_cure(const struct scan_source_call *call)
{
    if (call->asked == 0)
        return call->late == 0;
    return call->why != SCAN_WHY_OR && call->why != SCAN_WHY_AND &&
           call->why != SCAN_WHY_INVERTED && call->why != SCAN_WHY_ELSE;
}

/* The verdict on a call, and of a finding the words that are printed. */
static void set_verdict(json_t *row, const struct scan_source_call *call, int oldest)
{
    bool unknown;
    char *words = scan_sources_words(call, oldest, &unknown), *fix = NULL, *other = NULL;
    char *const reason = words ? strstr(words, ": ") + 2 : NULL;
    const bool plain = call->asked + call->late + call->old + call->odd == 0 && !call->lost;

    for (char *at = reason; at && has_cure(call) && (at = strstr(at + 1, plain ? "; " : ": "));)
        fix = at;
    if (fix)
        *fix = '\0';
    else if (words && asprintf(&other, "put the call into if (CUSHIM_HAS(..., %s))",
                               known_entry(call->index).symbol) < 0)
        output_no_memory();
    const char *const verdict = !words ? "runs" : unknown ? "unknown" : "no guard";
    output_json_set(row, "verdict", output_json_text(oldest > 0 ? verdict : NULL));
    output_json_set(row, "reason", output_json_text(reason));
    output_json_set(row, "fix", output_json_text(fix ? fix + 2 : other));
    free(words);
    free(other);
}

static json_t *call_json(const struct scan_source_call *call, int oldest)
{
    struct cushim_entry entry = known_entry(call->index);
    json_t *row = json_object();
    char *place = NULL;

    if (call->require && asprintf(&place, "%s:%zu", call->require->file, call->require->line) < 0)
        output_no_memory();
    output_json_set(row, "line", json_integer((json_int_t)call->line));
    output_json_set(row, "symbol", output_json_text(entry.symbol));
    output_json_set(row, "since", json_integer(entry.since));
    output_json_set(row, "newer", json_boolean(oldest > 0 && entry.since > oldest));
    output_json_set(row, "guarded", json_boolean(call->has || call->require));
    output_json_set(row, "required", output_json_text(place));
    output_json_set(row, "asked",
                    call->asked > 0 && !call->certain && !call->require
                        ? json_integer((json_int_t)call->asked)
                        : json_null());
    set_verdict(row, call, oldest);
    free(place);
    return row;
}

json_t *scan_output_sources(const struct scan_sources *sources)
{
    json_t *array = json_array();

    for (size_t i = 0; i < sources->count; i++) {
        const struct scan_source *source = &sources->item[i];
        json_t *object = json_object(), *calls = json_array();
        if (source->count == 0) {
            json_decref(object);
            json_decref(calls);
            continue;
        }
        for (size_t k = 0; k < source->count; k++)
            output_json_append(calls, call_json(&source->calls[k], sources->oldest));
        output_json_set(object, "file", output_json_text(source->name));
        output_json_set(object, "calls", calls);
        output_json_append(array, object);
    }
    return array;
}
