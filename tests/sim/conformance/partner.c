/* SPDX-License-Identifier: MIT */
#include "partner.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static int line; /* a socket to the other process */
static pid_t partner;

static void context(void)
{
    MUST(cu->cuInit(0));
    MUST(cu->cuDevicePrimaryCtxRetain(&ctx, dev));
    MUST(cu->cuCtxSetCurrent(ctx));
}

void partner_begin(void (*work)(void))
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
        _exit(4);
    signal(SIGPIPE, SIG_IGN);
    partner = fork();
    if (partner < 0)
        _exit(4);
    line = ends[partner == 0];
    close(ends[partner != 0]);
    if (partner == 0) {
        char word;
        conform_who("> ");
        partner_take(&word, 1); /* one after the other, so that records stay in order */
        context();
        partner_give("", 1);
        work();
        _exit(0);
    }
    context();
    partner_turn();
}

static _Noreturn void lost(void)
{
    int status = 0;
    close(line); /* what the partner waits for never comes */
    if (partner) {
        waitpid(partner, &status, 0);
        NOTE("the partner ended: %s %d", WIFSIGNALED(status) ? "signal" : "exit",
             WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    }
    _exit(3);
}

void partner_give(const void *bytes, size_t size)
{
    if (write(line, bytes, size) != (ssize_t)size)
        lost();
}

void partner_take(void *bytes, size_t size)
{
    if (recv(line, bytes, size, MSG_WAITALL) != (ssize_t)size)
        lost();
}

union control { /* room for one file, aligned */
    struct cmsghdr head;
    char bytes[CMSG_SPACE(sizeof(int))];
};

static struct msghdr message(struct iovec *part, union control *control)
{
    memset(control, 0, sizeof *control);
    struct msghdr made = {.msg_iov = part, .msg_iovlen = 1};
    made.msg_control = control;
    made.msg_controllen = sizeof *control;
    return made;
}

void partner_give_file(int file)
{
    char word = 0;
    union control control;
    struct iovec part = {&word, 1};
    struct msghdr sent = message(&part, &control);
    struct cmsghdr *head = CMSG_FIRSTHDR(&sent);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof file);
    memcpy(CMSG_DATA(head), &file, sizeof file);
    if (sendmsg(line, &sent, 0) != 1)
        lost();
}

int partner_take_file(void)
{
    char word;
    int file = -1;
    union control control;
    struct iovec part = {&word, 1};
    struct msghdr got = message(&part, &control);
    if (recvmsg(line, &got, 0) != 1 || !CMSG_FIRSTHDR(&got))
        lost();
    memcpy(&file, CMSG_DATA(CMSG_FIRSTHDR(&got)), sizeof file);
    return file;
}

void partner_turn(void)
{
    char word;
    partner_give("", 1);
    partner_take(&word, 1);
}

void partner_end(void)
{
    int status;
    close(line);
    waitpid(partner, &status, 0);
    if (status != 0)
        NOTE("the partner ended: %s %d", WIFSIGNALED(status) ? "signal" : "exit",
             WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
}

void partner_kill(void)
{
    int status;
    kill(partner, SIGKILL);
    waitpid(partner, &status, 0);
}
