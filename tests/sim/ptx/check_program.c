/* SPDX-License-Identifier: MIT */
/* What the statements of a program mean for a thread. */
#include "check_model.h"

uint32_t model_element(const struct model_program *program, const struct model_statement *statement,
                       uint32_t thread, uint32_t turn)
{
    uint32_t mask = 1;

    while (mask < program->threads)
        mask *= 2;
    switch (statement->index) {
    case MODEL_XOR:
        return thread ^ statement->a;
    case MODEL_WRAPPED:
        return (thread + statement->a) & (mask - 1);
    case MODEL_LANE:
        return thread % 32;
    case MODEL_WARP:
        return thread / 32;
    case MODEL_ONE:
        return statement->a;
    case MODEL_SPREAD:
        return thread * statement->a;
    case MODEL_REVERSED:
        return 255 - thread;
    case MODEL_SHARED_BY:
        return thread / statement->a;
    case MODEL_NEXT:
        return thread + statement->a;
    case MODEL_TURN:
        return thread + turn * statement->a;
    case MODEL_HALVES:
        return thread % 16 + thread / 16 * statement->a;
    default:
        return thread;
    }
}

bool model_is_vector(const struct model_statement *statement)
{
    return statement->size == 16 ||
           (statement->size == 8 && statement->offset % 16 == 0 && !statement->atomic);
}

bool model_holds(const struct model_test *test, uint32_t thread, uint32_t block)
{
    switch (test->kind) {
    case MODEL_BELOW:
        return thread < test->value;
    case MODEL_FROM:
        return thread >= test->value;
    case MODEL_BIT:
        return thread & test->value;
    case MODEL_WARP_IS:
        return thread / 32 == test->value;
    default:
        return block == test->value;
    }
}
