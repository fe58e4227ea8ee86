/* SPDX-License-Identifier: MIT */
/* Where the program was when a signal ended it: a line of the log, if callers are wanted there. It
 * is for signals that the program leaves to the system, which then ends it as it would have done.
 * The handler calls nothing that takes memory: the program may have been in malloc. */
#include "core/core.h"

#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>

#define STACK_SIZE (128 << 10)

static const int watched[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTERM};
static atomic_bool told;
static void (*_Atomic hurry)(void);

#if defined __x86_64__ || defined __i386__
typedef greg_t word;
#elif defined __aarch64__
typedef unsigned long long word;
#else
typedef uintptr_t word;
#endif

struct state { /* NULL: not known on this machine, or not there */
    word *counter;
    word *stack; /* its top has where to return to */
    word *link;  /* this has it */
};

static struct state state_of(ucontext_t *context)
{
#if defined __x86_64__
    greg_t *registers = context->uc_mcontext.gregs;
    return (struct state){&registers[REG_RIP], &registers[REG_RSP], NULL};
#elif defined __i386__
    greg_t *registers = context->uc_mcontext.gregs;
    return (struct state){&registers[REG_EIP], &registers[REG_ESP], NULL};
#elif defined __aarch64__
    return (struct state){&context->uc_mcontext.pc, NULL, &context->uc_mcontext.regs[30]};
#else
    (void)context;
    return (struct state){NULL, NULL, NULL};
#endif
}

/* Back to the caller of what is no code, which has no frame. */
static void step_back(const struct state *state)
{
    if (state->stack) {
        *state->counter = (word)(*(const uintptr_t *)(uintptr_t)*state->stack - 1);
        *state->stack += (word)sizeof(uintptr_t);
    } else if (state->link) {
        *state->counter = *state->link - 1;
    }
}

static void tell(int number, const siginfo_t *info, ucontext_t *context)
{
    struct sim_report_line line = {.used = 0};
    const struct state state = state_of(context);
    const word counter = state.counter ? *state.counter : 0, stack = state.stack ? *state.stack : 0;
    const bool astray = state.counter && (number == SIGSEGV || number == SIGBUS) &&
                        (uintptr_t)info->si_addr == (uintptr_t)counter;
    if (astray)
        step_back(&state);
    sim_report_put(&line, "cushim: it was ended by signal %d", number);
    const size_t words = line.used;
    line.used += sim_callers_put_signal(line.text + words, sizeof line.text - 1 - words);
    if (line.used > words)
        sim_report_log(&line);
    if (astray) /* the fault comes again */
        *state.counter = counter;
    if (astray && state.stack)
        *state.stack = stack;
}

static void end(int number, siginfo_t *info, void *context)
{
    void (*last)(void) = number == SIGTERM ? atomic_load(&hurry) : NULL;
    signal(number, SIG_DFL);
    if (!atomic_exchange(&told, true)) {
        tell(number, info, context);
        if (last)
            last();
    }
    if (info->si_code <= 0) /* it was sent; a fault comes again */
        raise(number);
}

/* For the handler, as the stack may be full; never freed, since the thread keeps it. */
static void give_stack(void)
{
    stack_t stack = {.ss_size = STACK_SIZE}, before;
    if (sigaltstack(NULL, &before) != 0 || !(before.ss_flags & SS_DISABLE))
        return;
    stack.ss_sp =
        mmap(NULL, STACK_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (stack.ss_sp != MAP_FAILED)
        sigaltstack(&stack, NULL);
}

void sim_ended_watch(void)
{
    struct sigaction ours = {.sa_sigaction = end, .sa_flags = SA_SIGINFO | SA_ONSTACK}, before;
    if (!sim_callers_wanted || !sim_report_has_log())
        return;
    give_stack();
    sigfillset(&ours.sa_mask);
    for (size_t i = 0; i < sizeof watched / sizeof *watched; i++)
        if (sigaction(watched[i], NULL, &before) == 0 && before.sa_handler == SIG_DFL)
            sigaction(watched[i], &ours, NULL);
}

void sim_ended_hurry(void (*last)(void))
{
    atomic_store(&hurry, last);
}

void sim_ended_unload(void)
{
    struct sigaction now;
    for (size_t i = 0; i < sizeof watched / sizeof *watched; i++)
        if (sigaction(watched[i], NULL, &now) == 0 && now.sa_sigaction == end)
            signal(watched[i], SIG_DFL);
}
