/* SPDX-License-Identifier: MIT */
#include "scan_switch.h"

#include "scan_answer.h"
#include "scan_condition.h"
#include "scan_version.h"
#include "scan_wheel.h"

void scan_switch_begin(struct flow *flow, struct flow_switch *own, struct flow_facts facts)
{
    const struct flow_list version = {facts.version, facts.version};

    own->facts = facts;
    own->outer = flow->choice;
    flow->choice = own;
    scan_flow_drop(flow, facts.yes, SCAN_WHY_SWITCH);
    scan_flow_drop(flow, facts.no, SCAN_WHY_SWITCH);
    scan_flow_drop(flow, version, SCAN_WHY_SWITCH);
}

/* The labels that are open hold up to here. */
static void close_labels(struct flow *flow, const char *until)
{
    struct flow_switch *own = flow->choice;
    struct scan_guards *guards = flow->guards;

    for (size_t i = own->list.first; i > 0; i = scan_flow_guard(flow, i)->next) {
        guards->cases = scan_grow(guards->cases, guards->case_count, sizeof *guards->cases);
        guards->cases[guards->case_count++] = (struct scan_case){
            .guard = i - 1, .release = own->release, .from = own->from, .until = until};
    }
    own->list = (struct flow_list){0, 0};
}

/* What a label tells; `release` receives that of a version. */
static struct flow_list read_value(struct flow *flow, int *release)
{
    struct flow_switch *own = flow->choice;
    const struct flow_facts *facts = &own->facts;
    bool other = scan_word_is(flow->now.word, "default"), more;

    scan_flow_step(flow);
    own->all |= other;
    if (other)
        return own->no == own->yes ? (struct flow_list){0, 0} : own->no ? facts->yes : facts->no;
    bool one = scan_flow_peek(flow) == ':';
    bool yes = one && scan_answer_literal(flow->now.word, true);
    bool no = one && scan_answer_literal(flow->now.word, false);
    *release = one && facts->version > 0 ? scan_version_number(flow) : 0;
    *release *= facts->part == FLOW_VERSION ? 1 : facts->part == FLOW_MAJOR ? SCAN_THOUSAND : 0;
    own->yes |= yes;
    own->no |= no;
    struct flow_facts value = scan_condition_read(flow, false, &more);
    scan_flow_drop_facts(flow, &value);
    if (*release > 0)
        return (struct flow_list){facts->version, facts->version};
    return yes ? facts->yes : no ? facts->no : (struct flow_list){0, 0};
}

void scan_switch_label(struct flow *flow)
{
    struct flow_switch *own = flow->choice, none = {.from = NULL};
    const char *at = flow->now.at;
    int release = 0;

    if (!own)
        flow->choice = &none;
    bool first = !flow->choice->from, next = flow->choice->from == flow->passed;
    bool deeper = !first && flow->choice->depth != flow->depth;
    bool entered = deeper || (!first && !next && flow->reached);
    const struct flow_list before = flow->choice->list;
    if (!next)
        close_labels(flow, at);
    if (first)
        flow->choice->depth = flow->depth;
    struct flow_list list = read_value(flow, &release);
    if (entered || (next && before.first != list.first))
        list = (struct flow_list){0, 0};
    if (next && flow->choice->release < release)
        release = flow->choice->release;
    scan_flow_cut(flow, (struct flow_cut){at, flow->choice->at, flow->choice->at, false});
    flow->choice->list = list;
    flow->choice->release = release;
    if (flow->now.kind == ':')
        scan_flow_step(flow);
    flow->choice->from = flow->passed;
    flow->choice = own;
}

void scan_switch_leave(struct flow *flow)
{
    struct flow_switch *own = flow->choice;

    if (own)
        own->other |= own->list.first == 0 || own->list.first != own->facts.no.first;
}

struct flow_list scan_switch_end(struct flow *flow, bool leaves)
{
    const struct flow_switch *own = flow->choice;

    if (!leaves)
        scan_switch_leave(flow);
    close_labels(flow, flow->passed);
    flow->choice = own->outer;
    return own->all && !own->other ? own->facts.no : (struct flow_list){0, 0};
}
