#include "daemon/watch/candidate.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

/* A file that somebody keeps open for writing is taken when it has not changed for this many times
 * `stable`: programs leak descriptors. */
#define PATIENCE 30

enum candidate_verdict candidate_judge(struct candidate_facts *facts,
                                       const struct candidate_heard *heard, enum spool_sight sight,
                                       const struct identity *identity, enum spool_writer writer,
                                       uint64_t now, const struct candidate_times *times)
{
    if (sight == SPOOL_GONE || sight == SPOOL_NO_FILE)
        return CANDIDATE_DROP;
    facts->unreadable = sight == SPOOL_UNREADABLE;
    if (facts->unreadable)
        return CANDIDATE_WAIT;
    if (identity->size == 0)
        return CANDIDATE_REST;
    facts->written = writer == SPOOL_WRITTEN;
    bool left = heard->closed && !heard->open; /* closed, also by whoever opened it since */
    if (!facts->has_seen || !identity_equal(&facts->seen, identity)) {
        facts->has_seen = true;
        facts->seen = *identity;
        /* Time counts from the close: writing before it says nothing about the file now. */
        facts->since = left && heard->touched > facts->since ? heard->touched : now;
        facts->truncated = false;
    }
    uint64_t unchanged = now - facts->since;
    uint64_t touched = heard->touched > facts->since ? heard->touched : facts->since;
    bool told = heard->whole || (left && now - touched >= times->settle);
    bool due = facts->written ? unchanged >= PATIENCE * times->stable
                              : unchanged >= times->stable || (!facts->truncated && told);
    return due ? CANDIDATE_TAKE : CANDIDATE_WAIT;
}

void candidates_init(struct candidates *candidates, struct candidate_times times)
{
    *candidates = (struct candidates){.times = times};
    for (int i = 0; i < CANDIDATE_STATES; i++)
        TAILQ_INIT(&candidates->lists[i]);
}

void candidates_finish(struct candidates *candidates)
{
    for (int i = 0; i < CANDIDATE_STATES; i++)
        while (!TAILQ_EMPTY(&candidates->lists[i]))
            candidates_remove(candidates, TAILQ_FIRST(&candidates->lists[i]));
}

void candidates_clear(struct candidates *candidates)
{
    for (int i = 0; i < CANDIDATE_STATES; i++)
        while (i != CANDIDATE_TAKEN && !TAILQ_EMPTY(&candidates->lists[i]))
            candidates_remove(candidates, TAILQ_FIRST(&candidates->lists[i]));
    candidates->overflowed = false;
}

static int compare(const void *a, const void *b)
{
    return strcmp(((const struct candidate *)a)->name, ((const struct candidate *)b)->name);
}

struct candidate *candidates_find(const struct candidates *candidates, const char *name)
{
    struct candidate wanted = {.name = (char *)(uintptr_t)name}, **found;
    found = tfind(&wanted, &candidates->by_name, compare);
    return found ? *found : NULL;
}

/* Finds or adds a name (state CANDIDATE_HINTED, no facts). NULL when there is no room. */
static struct candidate *add_candidate(struct candidates *candidates, const char *name)
{
    struct candidate *c = candidates_find(candidates, name);
    if (c)
        return c;
    if (candidates->count < CANDIDATES_MAX)
        c = calloc(1, sizeof *c);
    if (!c || (c->name = strdup(name)) == NULL ||
        tsearch(c, &candidates->by_name, compare) == NULL) {
        free(c ? c->name : NULL);
        free(c);
        candidates->overflowed = true;
        return NULL;
    }
    c->state = CANDIDATE_HINTED;
    TAILQ_INSERT_TAIL(&candidates->lists[CANDIDATE_HINTED], c, in_state);
    candidates->counts[CANDIDATE_HINTED]++;
    candidates->count++;
    return c;
}

void candidates_remove(struct candidates *candidates, struct candidate *candidate)
{
    tdelete(candidate, &candidates->by_name, compare);
    TAILQ_REMOVE(&candidates->lists[candidate->state], candidate, in_state);
    candidates->counts[candidate->state]--;
    candidates->count--;
    free(candidate->name);
    free(candidate);
}

void candidates_move(struct candidates *candidates, struct candidate *candidate,
                     enum candidate_state state)
{
    TAILQ_REMOVE(&candidates->lists[candidate->state], candidate, in_state);
    candidates->counts[candidate->state]--;
    candidate->state = state;
    TAILQ_INSERT_TAIL(&candidates->lists[state], candidate, in_state);
    candidates->counts[state]++;
}

/* True when the file may be complete after `settle`. */
static bool settles(const struct candidates *candidates, const struct candidate *c)
{
    const struct candidate_times *times = &candidates->times;
    return c->heard.closed && !c->heard.open && !c->facts.truncated && !c->facts.unreadable &&
           !c->facts.written && times->settle > 0 && times->settle < times->stable;
}

void candidates_hear(struct candidates *candidates, const char *name, enum candidate_news news,
                     uint64_t now)
{
    /* the file will stay in the folder after this, so its name has to be kept */
    bool comes = news == NEWS_CREATED || news == NEWS_RENAMED || news == NEWS_CLOSED;
    struct candidate *c = comes ? add_candidate(candidates, name) : candidates_find(candidates, name);
    if (!c)
        return;
    if (news == NEWS_RENAMED && c->returned > 0) { /* caused by our own rename */
        c->returned--;
        return;
    }
    struct candidate_heard *heard = &c->heard;
    if (news == NEWS_CREATED || news == NEWS_RENAMED) /* a new file of that name */
        *heard = (struct candidate_heard){.whole = news == NEWS_RENAMED};
    heard->touched = now;
    heard->created = news == NEWS_CREATED || (heard->created && news == NEWS_CHANGED);
    heard->closed |= news == NEWS_CLOSED;
    if (news == NEWS_OPENED || news == NEWS_CLOSED || news == NEWS_LEFT)
        heard->open = news == NEWS_OPENED;
    c->facts.written &= news != NEWS_CLOSED;
    if (c->state == CANDIDATE_LOOKING || c->state == CANDIDATE_TAKEN)
        c->hinted |= comes;
    else if (settles(candidates, c) && (comes || c->state == CANDIDATE_WAITING))
        candidates_wait(candidates, c, now);
    else if (comes && c->state != CANDIDATE_HINTED && c->state != CANDIDATE_READY)
        candidates_move(candidates, c, CANDIDATE_HINTED);
}

/* All names in one list wait for the same time, so the list is in the order in which they are due.
 */
void candidates_wait(struct candidates *candidates, struct candidate *c, uint64_t now)
{
    bool soon = settles(candidates, c);
    c->due = now + (soon ? candidates->times.settle : candidates->times.stable);
    candidates_move(candidates, c, soon ? CANDIDATE_SETTLING : CANDIDATE_WAITING);
}

void candidates_found(struct candidates *candidates, const char *name,
                      const struct identity *identity, uint64_t now)
{
    struct candidate *c = candidates_find(candidates, name);
    if (c || (c = add_candidate(candidates, name)) == NULL)
        return; /* its own events decide */
    enum spool_sight sight = identity->inode != 0 ? SPOOL_FILE : SPOOL_UNREADABLE;
    if (candidate_judge(&c->facts, &c->heard, sight, identity, SPOOL_WRITER_UNKNOWN, now,
                        &candidates->times) == CANDIDATE_REST)
        candidates_rest(candidates, c);
    else
        candidates_wait(candidates, c, now);
}

void candidates_rest(struct candidates *candidates, struct candidate *c)
{
    c->facts = (struct candidate_facts){0};
    c->heard = (struct candidate_heard){0};
    if (candidates->counts[CANDIDATE_EMPTY] < CANDIDATES_EMPTY_MAX)
        candidates_move(candidates, c, CANDIDATE_EMPTY);
    else
        candidates_remove(candidates, c);
}

void candidates_stir(struct candidates *candidates)
{
    while (!TAILQ_EMPTY(&candidates->lists[CANDIDATE_EMPTY]))
        candidates_move(candidates, TAILQ_FIRST(&candidates->lists[CANDIDATE_EMPTY]),
                        CANDIDATE_HINTED);
}

void candidates_return(struct candidates *candidates, const char *name,
                       const struct identity *identity, bool truncated, uint64_t now)
{
    struct candidate *c = add_candidate(candidates, name);
    if (!c)
        return;
    if (c->state != CANDIDATE_TAKEN)
        c->returned++;
    c->facts = (struct candidate_facts){
        .has_seen = true, .seen = *identity, .since = now, .truncated = truncated};
    c->heard = (struct candidate_heard){0};
    candidates_wait(candidates, c, now);
}

void candidates_take(struct candidates *candidates, const char *name)
{
    struct candidate *c = add_candidate(candidates, name);
    if (!c)
        return;
    c->hinted = false;
    candidates_move(candidates, c, CANDIDATE_TAKEN);
}

void candidates_let_go(struct candidates *candidates, const char *name)
{
    struct candidate *c = candidates_find(candidates, name);
    if (!c || c->state != CANDIDATE_TAKEN)
        return;
    if (c->hinted)
        candidates_move(candidates, c, CANDIDATE_HINTED);
    else
        candidates_remove(candidates, c);
}

void candidates_wake(struct candidates *candidates, uint64_t now)
{
    static const enum candidate_state states[] = {CANDIDATE_SETTLING, CANDIDATE_WAITING};
    for (int i = 0; i < 2; i++) {
        struct candidate *c;
        while ((c = TAILQ_FIRST(&candidates->lists[states[i]])) != NULL && c->due <= now)
            candidates_move(candidates, c, CANDIDATE_HINTED);
    }
}
