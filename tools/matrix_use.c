/* SPDX-License-Identifier: MIT */
/* Whether the program used the GPU in any run. */
#include "matrix.h"

#include <string.h>

/* A run of a simulated release in which nothing was made to fail. */
static bool is_base(const struct matrix_case *one)
{
    return one->cuda[0] != '\0' && !one->bare && one->fault[0] == '\0';
}

/* What a real driver was called for is not known, nor where the log is not whole. */
static bool may_use(const struct matrix_case *one)
{
    bool real = one->driver && strcmp(one->driver, MATRIX_NO_DRIVER) != 0;

    return real || (is_base(one) && (one->works || one->calls < 0 || one->end == MATRIX_UNKNOWN));
}

bool matrix_use(const struct matrix_case *cases, size_t count, char text[MATRIX_WORDS_SIZE])
{
    const struct matrix_case *first = NULL;
    bool passed = false, red = true, must = false;
    char place[PLACE_SIZE];

    text[0] = '\0';
    for (size_t i = 0; i < count; i++) {
        if (may_use(&cases[i]))
            return false;
        passed |= is_base(&cases[i]) && cases[i].end == MATRIX_PASSES;
        must |= cases[i].must;
    }
    for (size_t i = 0; i < count; i++) {
        if (!is_base(&cases[i]) || (must && !cases[i].must))
            continue;
        red = red && cases[i].refused_by;
        first = first ? first : &cases[i];
    }
    if (!passed)
        return false;
    red = red && first;
    snprintf(text, MATRIX_WORDS_SIZE, "no run launched a kernel, copied or filled memory");
    if (red) {
        bool known = matrix_place_by(first->refused_by, place)[0] != '\0';
        snprintf(text + strlen(text), MATRIX_WORDS_SIZE - strlen(text),
                 ", and a call failed in each, such as %.*s%s%s",
                 (int)strcspn(first->refused_by, "\t"), first->refused_by, known ? " at " : "",
                 place);
    }
    strncat(text, ": does the program use the GPU?", MATRIX_WORDS_SIZE - strlen(text) - 1);
    return red;
}
