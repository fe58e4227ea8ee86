/* SPDX-License-Identifier: MIT */
#include "scan_jump.h"

#include "scan_wheel.h"

#include <string.h>

/* Whether a part of the text is entered from outside of it. */
static bool is_entered(const struct flow_cut *cut, const char *from, const char *end)
{
    return from <= cut->at && cut->at < end &&
           (cut->low < from || cut->low >= end || cut->high < from || cut->high >= end);
}

static void apply_cut(struct scan_guard *guard, const struct flow_cut *cut)
{
    bool within = cut->condition && cut->low < guard->at && guard->at < cut->at;
    bool first = guard->until > cut->at && (within || is_entered(cut, guard->at, guard->until));
    bool second = guard->end > cut->at && (within || is_entered(cut, guard->from, guard->end));

    if (first)
        guard->until = cut->at;
    if (second)
        guard->end = cut->at;
    if (first || second)
        guard->why = SCAN_WHY_JUMP;
    if (guard->contrary_end > cut->at &&
        (within || is_entered(cut, guard->contrary, guard->contrary_end)))
        guard->contrary_end = cut->at;
}

/* What holds behind a label of a switch. */
static void settle_cases(struct flow *flow, size_t first)
{
    struct scan_guards *guards = flow->guards;

    guards->work += flow->cut_count * (guards->case_count - first);
    if (flow->lost || guards->work > FLOW_MOST_WORK)
        guards->case_count = first;
    for (size_t i = first; i < guards->case_count; i++) {
        struct scan_case *one = &guards->cases[i];
        for (size_t k = 0; k < flow->cut_count; k++) {
            const struct flow_cut *cut = &flow->cuts[k];
            bool within = cut->condition && cut->low < one->from && one->from < cut->at;
            if (one->until > cut->at && (within || is_entered(cut, one->from, one->until)))
                one->until = cut->at;
        }
    }
}

static void add_labels(struct flow *flow)
{
    for (size_t i = 0; i < flow->label_count; i++) {
        struct flow_cut cut = {.at = flow->labels[i].at};
        for (size_t k = 0; k < flow->goto_count; k++) {
            const struct flow_label *from = &flow->gotos[k];
            if (from->name.length != flow->labels[i].name.length ||
                memcmp(from->name.text, flow->labels[i].name.text, from->name.length) != 0)
                continue;
            cut.low = cut.low ? cut.low : from->at;
            cut.high = from->at;
        }
        if (cut.low)
            scan_flow_cut(flow, cut);
    }
}

void scan_jump_settle(struct flow *flow, size_t first_case)
{
    struct scan_guards *guards = flow->guards;
    size_t count = flow->next - flow->first;

    add_labels(flow);
    guards->work += flow->cut_count > 0 ? count * flow->cut_count : 0;
    flow->lost |= guards->work > FLOW_MOST_WORK;
    for (size_t i = flow->first; i < flow->next; i++) {
        struct scan_guard *guard = &guards->guards[i];
        if (guard->function != flow->function)
            continue;
        if (flow->lost) {
            guard->until = guard->end = NULL;
            guard->why = SCAN_WHY_FORM;
        }
        for (size_t k = 0; k < flow->cut_count && !flow->lost; k++)
            apply_cut(guard, &flow->cuts[k]);
    }
    settle_cases(flow, first_case);
}

struct flow_label *scan_jump_label(struct flow_label *labels, size_t *count,
                                   const struct scan_token *name)
{
    labels = scan_grow(labels, *count, sizeof *labels);
    labels[(*count)++] = (struct flow_label){name->word, name->at};
    return labels;
}
