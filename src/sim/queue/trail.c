/* SPDX-License-Identifier: MIT */
/* A trail is a point, what was given back since the points before it, and those points. A point
 * that nothing but its stream knows grows in place; one that an event stands for does not change
 * any more. */
#include "queue/queue.h"

#define MOST_POINTS 4096 /* of programs that never wait: nothing is put off any more then */

struct share { /* what one owner got back */
    void *owner;
    size_t size;
    struct share *next;
};
struct sim_trail {
    unsigned references;
    const struct sim_context *context;
    struct share *shares;
    struct sim_trail *before[2];
    struct sim_trail *newer, *older; /* all that there are */
    struct sim_trail *next;          /* of a list of work */
    bool listed;
};

static struct sim_trail *oldest, *newest;
static size_t points;
void (*sim_trail_learn)(void *owner, size_t size);

static void tell(struct sim_trail *trail)
{
    while (trail->shares) {
        struct share *share = trail->shares;
        trail->shares = share->next;
        sim_trail_learn(share->owner, share->size);
        free(share);
    }
}

static struct sim_trail *make(const struct sim_context *context, struct sim_trail *one,
                              struct sim_trail *other)
{
    struct sim_trail *made = points < MOST_POINTS ? calloc(1, sizeof *made) : NULL;
    if (!made)
        return NULL;
    *made = (struct sim_trail){.references = 1, .context = context, .before = {one, other}};
    SIM_LIST_ADD(oldest, newest, made, newer, older);
    points++;
    return made;
}

static void unlink_point(struct sim_trail *trail)
{
    SIM_LIST_REMOVE(oldest, newest, trail, newer, older);
    points--;
    free(trail);
}

struct sim_trail *sim_trail_retain(struct sim_trail *trail)
{
    if (trail)
        trail->references++;
    return trail;
}

static void drop(struct sim_trail *trail, struct sim_trail **dead)
{
    if (trail && --trail->references == 0) {
        trail->next = *dead;
        *dead = trail;
    }
}

/* A chain may be long: no recursion. */
void sim_trail_release(struct sim_trail *trail)
{
    struct sim_trail *dead = NULL;
    drop(trail, &dead);
    while (dead) {
        struct sim_trail *point = dead;
        dead = point->next;
        tell(point);
        for (int i = 0; i < 2; i++)
            drop(point->before[i], &dead);
        unlink_point(point);
    }
}

/* The list takes the caller's reference. */
static void list(struct sim_trail **todo, struct sim_trail *trail)
{
    if (trail && trail->listed) {
        trail->references--; /* the list has one */
    } else if (trail) {
        trail->listed = true;
        trail->next = *todo;
        *todo = trail;
    }
}

/* All of it is known; what lies before it goes on the list. */
static void settle(struct sim_trail *trail, struct sim_trail **todo)
{
    tell(trail);
    for (int i = 0; i < 2; i++) {
        list(todo, trail->before[i]);
        trail->before[i] = NULL;
    }
}

static void settle_listed(struct sim_trail *todo)
{
    while (todo) {
        struct sim_trail *point = todo;
        todo = point->next;
        point->listed = false;
        settle(point, &todo);
        sim_trail_release(point);
    }
}

void sim_trail_settle(struct sim_trail *trail)
{
    struct sim_trail *todo = NULL;
    list(&todo, sim_trail_retain(trail));
    settle_listed(todo);
}

void sim_trail_settle_context(const struct sim_context *context)
{
    struct sim_trail *todo = NULL;
    for (struct sim_trail *point = newest; point; point = point->older)
        if (point->context == context)
            settle(point, &todo);
    settle_listed(todo);
}

/* Points that this one alone knows become part of it. */
static void shorten(struct sim_trail *trail)
{
    struct sim_trail *before;
    while ((before = trail->before[0]) && before->references == 1 && !before->before[1] &&
           before->context == trail->context) {
        struct share **end = &trail->shares;
        while (*end)
            end = &(*end)->next;
        *end = before->shares;
        before->shares = NULL;
        trail->before[0] = before->before[0];
        unlink_point(before);
    }
}

void sim_trail_add(struct sim_trail **trail, const struct sim_context *context, void *owner,
                   size_t size)
{
    struct sim_trail *head = *trail;
    if (!head || head->references > 1 || head->context != context) {
        if (head)
            shorten(head);
        head = make(context, head, NULL);
        if (head)
            *trail = head;
    }
    struct share *share = head ? head->shares : NULL;
    while (share && share->owner != owner)
        share = share->next;
    if (share) {
        share->size += size;
        return;
    }
    share = head ? malloc(sizeof *share) : NULL;
    if (!share) {
        sim_trail_learn(owner, size);
        return;
    }
    *share = (struct share){owner, size, head->shares};
    head->shares = share;
}

static bool is_settled(const struct sim_trail *trail)
{
    return !trail || (!trail->shares && !trail->before[0] && !trail->before[1]);
}

void sim_trail_join(struct sim_trail **trail, const struct sim_context *context,
                    struct sim_trail *other)
{
    if (is_settled(other) || other == *trail)
        return;
    struct sim_trail *made = is_settled(*trail) ? NULL : make(context, *trail, other);
    if (made) {
        other->references++;
        *trail = made;
    } else if (is_settled(*trail)) {
        sim_trail_release(*trail);
        *trail = sim_trail_retain(other);
    }
}
