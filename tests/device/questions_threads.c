/* SPDX-License-Identifier: MIT */
/* Barriers that name other threads than come, and instructions of a warp whose mask is wrong; what
 * 64-bit fields do with a position beyond 255; and mov to a vector of one value. */
#include <stdio.h>
#include <string.h>

#include "questions.h"

struct trial {
    unsigned threads;
    const char *body;
};

/* %r0: the thread; %d1: its own word, which a thread that goes on sets. */
#define HEAD                                                                                       \
    ".version 7.0\n.target sm_80\n.address_size 64\n"                                              \
    ".visible .entry k(.param .u64 out, .param .u64 value)\n{\n"                                   \
    " .reg .b64 %d<9>;\n .reg .b32 %r<16>;\n .reg .pred %p<9>;\n .reg .v2 .b32 %v;\n"              \
    " .shared .b32 s[64];\n"                                                                       \
    " ld.param.u64 %d0, [out];\n mov.u32 %r0, %tid.x;\n"                                           \
    " mul.wide.u32 %d1, %r0, 4;\n add.u64 %d1, %d0, %d1;\n mov.u32 %r1, 1;\n"                      \
    " setp.lt.u32 %p0, %r0, 32;\n and.b32 %r2, %r0, 1;\n setp.eq.u32 %p1, %r2, 0;\n"               \
    " setp.lt.u32 %p2, %r0, 16;\n"
#define TAIL "\n st.global.u32 [%d1], %r1;\n ret;\n}\n"

static void ask(const struct cushim_api *cu, const void *data)
{
    const struct trial *trial = data;
    const unsigned *words;
    char text[4096];

    snprintf(text, sizeof text, "%s%s%s", HEAD, trial->body, TAIL);
    question_context(cu, NULL);
    words = question_run(cu, text, trial->threads, 0);
    if (words)
        question_words("words", words, trial->threads);
}

#define ASK(name, threads, body)                                                                   \
    {                                                                                              \
        name, ask, &(const struct trial)                                                           \
        {                                                                                          \
            threads, body                                                                          \
        }                                                                                          \
    }
#define HALF_EXIT "@%p0 bra A;\n ret;\nA: "
#define ZERO "ld.param.u32 %r9, [value];\n " /* of which no compiler knows that it is 0 */
#define TWO_MASKS "mov.u32 %r3, 0xffff;\n @!%p2 mov.u32 %r3, 0xffff0000;\n "
#define APART(odd, even)                                                                           \
    "@%p1 bra A;\n st.volatile.shared.u32 [s + 4], %r0;\n " odd "\n bra E;\n"                      \
    "A: st.volatile.shared.u32 [s], %r0;\n " even "\nE:"
#define FIELD(op, source)                                                                          \
    " mov.u64 %d2, 0x8123456789abcdef;\n mov.u64 %d5, 0;\n"                                        \
    " and.b32 %r3, %r0, 15;\n mov.u32 %r4, 0;\n"                                                   \
    " setp.eq.u32 %p3, %r3, 1;\n @%p3 mov.u32 %r4, 4;\n"                                           \
    " setp.eq.u32 %p3, %r3, 2;\n @%p3 mov.u32 %r4, 63;\n"                                          \
    " setp.eq.u32 %p3, %r3, 3;\n @%p3 mov.u32 %r4, 64;\n"                                          \
    " setp.eq.u32 %p3, %r3, 4;\n @%p3 mov.u32 %r4, 100;\n"                                         \
    " setp.eq.u32 %p3, %r3, 5;\n @%p3 mov.u32 %r4, 255;\n"                                         \
    " setp.eq.u32 %p3, %r3, 6;\n @%p3 mov.u32 %r4, 256;\n"                                         \
    " setp.eq.u32 %p3, %r3, 7;\n @%p3 mov.u32 %r4, 260;\n"                                         \
    " setp.eq.u32 %p3, %r3, 8;\n @%p3 mov.u32 %r4, 0x10004;\n"                                     \
    " setp.eq.u32 %p3, %r3, 9;\n @%p3 mov.u32 %r4, 0x7fffffff;\n"                                  \
    " setp.ge.u32 %p3, %r3, 10;\n @%p3 mov.u32 %r4, 0xffffffff;\n"                                 \
    " " op " %d3, " source ";\n"                                                                   \
    " cvt.u32.u64 %r1, %d3;\n shr.u64 %d4, %d3, 32;\n cvt.u32.u64 %r5, %d4;\n"                     \
    " xor.b32 %r1, %r1, %r5;\n"

const struct question questions_threads[] = {
    /* A block of 64 threads. */
    ASK("barrier-of-two-warps", 64, "barrier.sync 1, 64;"),
    ASK("barrier-96-of-64", 64, "barrier.sync 1, 96;"),
    ASK("barrier-1024-of-64", 64, "barrier.sync 1, 1024;"),
    ASK("barrier-96-of-64-red", 64, "barrier.red.popc.u32 %r1, 1, 96, %p1;"),
    ASK("barrier-64-other-warp-exits", 64, HALF_EXIT "barrier.sync 1, 64;"),
    ASK("barrier-0-other-warp-exits", 64, HALF_EXIT "bar.sync 0;"),
    ASK("barrier-32-of-one-warp", 64, "@%p0 barrier.sync 1, 32;"),
    ASK("barriers-of-two-numbers", 64,
        "@%p0 bra A;\n barrier.sync 2, 64;\n bra E;\nA: barrier.sync 1, 64;\nE:"),
    ASK("barrier-of-lanes-apart", 64,
        "@%p1 bra A;\n barrier.sync 0;\n mov.u32 %r1, 2;\n bra E;\nA: barrier.sync 0;\nE:"),
    ASK("bar-of-lanes-apart", 64,
        "@%p1 bra A;\n bar.sync 0;\n mov.u32 %r1, 2;\n bra E;\nA: bar.sync 0;\nE:"),
    ASK("barrier-twice-against-once", 64,
        "@%p1 bra A;\n barrier.sync 0;\n barrier.sync 0;\n bra E;\nA: barrier.sync 0;\nE:"),
    ASK("barrier-arrive-and-exit", 32, "barrier.arrive 1, 64;"),
    ASK("barrier-arrive-64-of-64", 64, "barrier.arrive 1, 64;"),
    ASK("barrier-arrive-and-sync", 64,
        "@%p0 bra A;\n barrier.arrive 1, 64;\n bra E;\nA: barrier.sync 1, 64;\nE:"),
    ASK("barrier-arrive-and-sync-96-of-64", 64,
        "@%p0 bra A;\n barrier.arrive 1, 96;\n bra E;\nA: barrier.sync 1, 96;\nE:"),
    ASK("barrier-two-counts", 64,
        "mov.u32 %r3, 64;\n @!%p0 mov.u32 %r3, 32;\n barrier.sync 1, %r3;"),
    ASK("barrier-count-33", 64, "mov.u32 %r3, 33;\n barrier.sync 1, %r3;"),
    ASK("barrier-count-0", 64, "mov.u32 %r3, 0;\n barrier.sync 1, %r3;"),
    ASK("barrier-number-16", 64, "mov.u32 %r3, 16;\n barrier.sync %r3;"),
    ASK("barrier-number-255", 64, "mov.u32 %r3, 255;\n barrier.sync %r3;"),
    ASK("barrier-16-and-0", 64,
        ZERO "add.u32 %r3, %r9, 16;\n @%p0 mov.u32 %r3, 0;\n barrier.sync %r3;"),
    ASK("barrier-17-and-1", 64,
        ZERO "add.u32 %r3, %r9, 17;\n @%p0 mov.u32 %r3, 1;\n barrier.sync %r3, 64;"),
    ASK("barrier-16-and-1", 64,
        ZERO "add.u32 %r3, %r9, 16;\n @%p0 mov.u32 %r3, 1;\n barrier.sync %r3, 64;"),
    ASK("barrier-1000000", 64, ZERO "add.u32 %r3, %r9, 1000000;\n barrier.sync %r3, 64;"),
    ASK("barrier-count-0-of-one-warp", 64, ZERO "@%p0 barrier.sync 1, %r9;"),
    ASK("barrier-count-0-red", 64, ZERO "barrier.red.popc.u32 %r1, 1, %r9, %p1;"),
    ASK("barrier-count-2048", 64, ZERO "add.u32 %r3, %r9, 2048;\n barrier.sync 1, %r3;"),
    ASK("barrier-count-4160", 64, ZERO "add.u32 %r3, %r9, 4160;\n barrier.sync 1, %r3;"),
    ASK("barrier-count-65600", 64, ZERO "add.u32 %r3, %r9, 65600;\n barrier.sync 1, %r3;"),
    ASK("barrier-counts-96-and-64", 64,
        "mov.u32 %r3, 64;\n @%p0 mov.u32 %r3, 96;\n barrier.sync 1, %r3;"),
    ASK("barrier-counts-64-and-none", 64,
        "@%p0 bra A;\n barrier.sync 1, 64;\n bra E;\nA: barrier.sync 1;\nE:"),
    ASK("barrier-counts-of-arrive", 96,
        "@%p0 bra A;\n setp.lt.u32 %p3, %r0, 64;\n @%p3 bra B;\n nanosleep.u32 500000;\n"
        " barrier.sync 1, 64;\n bra E;\nB: barrier.arrive 1, 96;\n bra E;\nA: barrier.sync 1, "
        "96;\nE:"),
    ASK("barrier-counts-of-lanes", 32,
        "mov.u32 %r3, 32;\n @!%p2 mov.u32 %r3, 64;\n barrier.sync 1, %r3;"),
    ASK("barrier-numbers-of-lanes", 32,
        "mov.u32 %r3, 1;\n @!%p2 mov.u32 %r3, 2;\n barrier.sync %r3, 32;"),
    /* The second warp has 16 threads. */
    ASK("barrier-0-of-48", 48, "barrier.sync 0;"),
    ASK("barrier-64-of-48", 48, "barrier.sync 1, 64;"),
    ASK("barrier-96-of-48", 48, "barrier.sync 1, 96;"),
    ASK("barrier-32-of-16", 16, "barrier.sync 1, 32;"),
    ASK("barrier-64-lanes-exited", 64,
        "and.b32 %r3, %r0, 31;\n setp.lt.u32 %p3, %r3, 16;\n @!%p3 ret;\n barrier.sync 1, 64;"),
    /* One warp. */
    ASK("shfl-caller-not-in-mask", 32, "shfl.sync.idx.b32 %r1, %r0, 1, 31, 0xffff;"),
    ASK("shfl-mask-of-exited", 32, "@!%p2 ret;\n shfl.sync.idx.b32 %r1, %r0, 20, 31, -1;"),
    ASK("shfl-mask-0", 32, "shfl.sync.idx.b32 %r1, %r0, 1, 31, 0;"),
    ASK("shfl-two-masks", 32,
        "mov.u32 %r3, 0xffff;\n @!%p2 mov.u32 %r3, 0xffff0000;\n"
        " shfl.sync.bfly.b32 %r1, %r0, 1, 31, %r3;"),
    ASK("shfl-from-outside-of-mask", 32,
        "@!%p2 bra E;\n shfl.sync.idx.b32 %r1, %r0, 20, 31, "
        "0xffff;\nE:"),
    ASK("vote-in-two-branches", 32,
        "@%p1 bra A;\n vote.sync.ballot.b32 %r1, 1, -1;\n bra E;\n"
        "A: vote.sync.ballot.b32 %r1, 1, -1;\nE:"),
    ASK("vote-caller-not-in-mask", 32, "vote.sync.ballot.b32 %r1, %p1, 0xffff;"),
    ASK("vote-mask-of-exited", 32, "@!%p2 ret;\n vote.sync.ballot.b32 %r1, 1, -1;"),
    ASK("match-caller-not-in-mask", 32, "match.any.sync.b32 %r1, %r2, 0xffff;"),
    ASK("redux-caller-not-in-mask", 32, "redux.sync.add.u32 %r1, %r0, 0xffff;"),
    ASK("redux-mask-of-exited", 32, "@!%p2 ret;\n redux.sync.add.u32 %r1, %r0, -1;"),
    ASK("shfl-mask-of-exited-predicate", 32,
        "@!%p2 ret;\n shfl.sync.idx.b32 %r1|%p3, %r0, 20, 31, -1;\n selp.u32 %r1, 5, 6, %p3;"),
    ASK("shfl-down-from-exited", 32,
        "@!%p2 ret;\n add.u32 %r4, %r0, 100;\n shfl.sync.down.b32 %r1, %r4, 4, 31, -1;"),
    ASK("shfl-up-from-exited", 32,
        "@%p2 ret;\n add.u32 %r4, %r0, 100;\n shfl.sync.up.b32 %r1, %r4, 4, 0, -1;"),
    ASK("shfl-bfly-from-exited", 32,
        "@!%p2 ret;\n add.u32 %r4, %r0, 100;\n shfl.sync.bfly.b32 %r1, %r4, 16, 31, -1;"),
    ASK("shfl-from-outside-of-guard", 32, "@%p2 shfl.sync.idx.b32 %r1, %r0, 20, 31, 0xffff;"),
    ASK("shfl-two-masks-across", 32, TWO_MASKS "shfl.sync.bfly.b32 %r1, %r0, 16, 31, %r3;"),
    ASK("shfl-in-two-branches", 32,
        APART("shfl.sync.idx.b32 %r1, %r0, 0, 31, -1;", "shfl.sync.idx.b32 %r1, %r0, 1, 31, -1;")),
    ASK("vote-in-branches-apart", 32,
        APART("vote.sync.ballot.b32 %r1, 1, -1;", "vote.sync.ballot.b32 %r1, 1, -1;")),
    ASK("vote-in-branch", 32, "@!%p2 bra E;\n vote.sync.ballot.b32 %r1, 1, -1;\nE:"),
    ASK("vote-two-masks", 32, TWO_MASKS "vote.sync.ballot.b32 %r1, 1, %r3;"),
    ASK("vote-masks-overlap", 32,
        "mov.u32 %r3, 0xffff;\n @!%p2 mov.u32 %r3, -1;\n vote.sync.ballot.b32 %r1, 1, %r3;"),
    ASK("vote-all-caller-not-in-mask", 32,
        "vote.sync.all.pred %p3, %p2, 0xffff;\n selp.u32 %r1, 5, 6, %p3;"),
    ASK("vote-any-caller-not-in-mask", 32,
        "vote.sync.any.pred %p3, %p2, 0xffff0000;\n selp.u32 %r1, 5, 6, %p3;"),
    ASK("vote-mask-0", 32, "vote.sync.ballot.b32 %r1, 1, 0;"),
    ASK("match-two-masks", 32, TWO_MASKS "match.any.sync.b32 %r1, %r2, %r3;"),
    ASK("match-all-caller-not-in-mask", 32,
        "selp.u32 %r4, 1, 2, %p2;\n match.all.sync.b32 %r1|%p3, %r4, 0xffff;"),
    ASK("redux-two-masks", 32, TWO_MASKS "redux.sync.add.u32 %r1, %r0, %r3;"),
    ASK("redux-in-two-branches", 32,
        APART("redux.sync.add.u32 %r1, %r0, -1;", "redux.sync.add.u32 %r1, %r0, -1;")),
    ASK("redux-mask-0", 32, "redux.sync.add.u32 %r1, %r0, 0;"),
    ASK("warp-sync-caller-not-in-mask", 32, "bar.warp.sync 0xffff;"),
    ASK("warp-sync-mask-of-exited", 32, "@!%p2 ret;\n bar.warp.sync -1;"),
    ASK("warp-sync-mask-of-branch", 32, "@!%p2 bra E;\n bar.warp.sync -1;\nE:"),
    ASK("warp-sync-in-two-branches", 32,
        "@%p1 bra A;\n bar.warp.sync -1;\n bra E;\nA: bar.warp.sync -1;\nE:"),
    ASK("warp-sync-mask-0", 32, "bar.warp.sync 0;"),
    ASK("bfe-u64", 32, FIELD("bfe.u64", "%d2, %r4, 16")),
    ASK("bfe-s64", 32, FIELD("bfe.s64", "%d2, %r4, 16")),
    ASK("bfe-s64-length", 32, FIELD("bfe.s64", "%d2, 8, %r4")),
    ASK("bfe-u64-length", 32, FIELD("bfe.u64", "%d2, 8, %r4")),
    ASK("bfi-b64", 32, FIELD("bfi.b64", "%d2, %d5, %r4, 16")),
    ASK("bfi-b64-length", 32, FIELD("bfi.b64", "%d2, %d5, 8, %r4")),
    /* What ptxas takes: two registers from one value. */
    ASK("mov-v2-of-one-value", 32,
        "mov.u32 %v.x, 77;\n mov.u32 %v.y, 78;\n mov.v2.u32 %v, %r0;\n"
        " shl.b32 %r1, %v.y, 16;\n or.b32 %r1, %r1, %v.x;"),
    ASK("mov-v2-of-one-constant", 32,
        "mov.u32 %v.x, 77;\n mov.u32 %v.y, 78;\n mov.v2.u32 %v, 5;\n"
        " shl.b32 %r1, %v.y, 16;\n or.b32 %r1, %r1, %v.x;"),
    {NULL, NULL, NULL},
};
