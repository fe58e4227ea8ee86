/* SPDX-License-Identifier: MIT */
/* Faults: the first of a launch is reported, and all of its workers stop. */
#include "ptx/ops/ops.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "ptx/ops/state.h"

enum { MOST_PATH = 96 };

const struct ptx_world *fault_world(const struct ptx_warp *warp)
{
    return warp->block->launch->world;
}

/* The steps of which function? A fault may come from the running frame or from a waiting one. */
const struct step_source *fault_source(const struct ptx_module *module, const struct ptx_step *step)
{
    for (uint32_t i = 0; i < module->code_count; i++) {
        const struct ptx_code *code = &module->codes[i];

        if (step >= code->steps && step < code->steps + code->step_count)
            return &code->sources[step - code->steps];
        if (code->team && step >= code->team->steps &&
            step < code->team->steps + code->team->step_count)
            return &code->sources[code->team->general[step - code->team->steps]];
    }
    return NULL;
}

/* A source's path: from the working directory on if it lies below that, and its name alone if the
 * rest is long. */
static const char *path_of(const char *name)
{
    char here[1024];
    const size_t length = getcwd(here, sizeof here) ? strlen(here) : 0;
    const char *slash = strrchr(name, '/');

    if (length > 1 && strncmp(name, here, length) == 0 && name[length] == '/')
        name += length + 1;
    return strlen(name) > MOST_PATH && slash ? slash + 1 : name;
}

void fault_describe(const struct ptx_module *module, const struct step_source *source, char *text,
                    size_t size)
{
    const struct ir_insn *insn = source ? source->insn : NULL;
    const unsigned line = insn ? (unsigned)insn->line : 0;
    const char *file = insn && insn->source_line && insn->source_file < module->ir->file_count
                           ? module->ir->files[insn->source_file].name
                           : NULL;
    char place[MOST_PATH + 64];

    if (file)
        snprintf(place, sizeof place, "%.*s:%u (PTX line %u)", MOST_PATH, path_of(file),
                 (unsigned)insn->source_line, line);
    else
        snprintf(place, sizeof place, "PTX line %u", line);
    snprintf(text, size, "%s, %s", place, insn ? opcodes_text[insn->op] : "?");
}

bool fault_warp(struct ptx_warp *warp, const struct ptx_step *step, unsigned lane,
                enum ptx_fault_kind kind, uint64_t address, const char *what)
{
    struct ptx_block *block = warp->block;
    struct launch *launch = block->launch;
    struct ptx_fault *fault = launch->fault;
    const uint32_t *tids = launch->tids + warp->index * 3 * PTX_LANES + lane;
    const struct ptx_module *module = launch->image->module;
    const struct step_source *source = fault_source(module, step);
    char where[32] = "", insn[192];

    warp->state->stopped = true;
    if (kind == PTX_FAULT_ILLEGAL_ADDRESS || kind == PTX_FAULT_MISALIGNED ||
        kind == PTX_FAULT_INVALID_PC || kind == PTX_FAULT_ADDRESS_SPACE)
        snprintf(where, sizeof where, " at 0x%llx", (unsigned long long)address);
    pthread_mutex_lock(&launch->lock);
    if (fault->kind == PTX_FAULT_NONE) {
        fault->kind = kind;
        fault->address = address;
        fault->line = source ? source->insn->line : 0;
        for (unsigned i = 0; i < 3; i++) {
            fault->block[i] = block->index[i];
            fault->thread[i] = tids[i * PTX_LANES];
        }
        fault_describe(module, source, insn, sizeof insn);
        snprintf(fault->report, sizeof fault->report,
                 "kernel '%s', block (%u,%u,%u), thread (%u,%u,%u), %s: %s%s",
                 launch->entry->info.name, (unsigned)fault->block[0], (unsigned)fault->block[1],
                 (unsigned)fault->block[2], (unsigned)fault->thread[0], (unsigned)fault->thread[1],
                 (unsigned)fault->thread[2], insn, what ? what : "fault", where);
    }
    pthread_mutex_unlock(&launch->lock);
    atomic_store(&launch->stop, true);
    return false;
}

/* A fault that is nobody's instruction. */
void fault_launch(struct launch *launch, enum ptx_fault_kind kind, const char *what)
{
    pthread_mutex_lock(&launch->lock);
    if (launch->fault->kind == PTX_FAULT_NONE) {
        launch->fault->kind = kind;
        snprintf(launch->fault->report, sizeof launch->fault->report, "kernel '%s': %s",
                 launch->entry->info.name, what);
    }
    pthread_mutex_unlock(&launch->lock);
    atomic_store(&launch->stop, true);
}
