/* SPDX-License-Identifier: MIT */
/* What is asked of a device: questions.c runs one question in a process and prints its answers as
 * lines of "what: answer". A process that ends by a signal is an answer too. */
#ifndef TESTS_DEVICE_QUESTIONS_H
#define TESTS_DEVICE_QUESTIONS_H

#include <cushim/cushim.h>

struct question {
    const char *name;
    void (*ask)(const struct cushim_api *cu, const void *data);
    const void *data;
};

/* Ends with an entry without a name. */
extern const struct question questions_contexts[], questions_textures[], questions_threads[];

/* Print an answer at once, as the next call may end the process. */
void question_answer(const char *what, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Must succeed, or the question cannot be asked: its code is printed and the process ends. */
void question_need(const char *what, CUresult code);

/* A device with its primary context current. */
CUdevice question_context(const struct cushim_api *cu, CUcontext *context);

enum { QUESTION_WORDS = 4096 };

/* Print words as "value x count" for each run of equal ones. */
void question_words(const char *what, const unsigned *words, unsigned count);

/* Launch the kernel `k` of a PTX text on one block, with the address of QUESTION_WORDS words, which
 * are 0xffffffff, and the value as its parameters. Prints the code, or that it hangs, and ends the
 * process then. The words, or NULL if it failed. */
const unsigned *question_run(const struct cushim_api *cu, const char *text, unsigned threads,
                             unsigned long long value);

#endif
