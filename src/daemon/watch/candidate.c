#include "daemon/watch/candidate.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/hash.h"

#define BUCKETS_FIRST 256

/* A file that somebody keeps open for writing is taken when it has not changed for this many times
 * `stable`: programs leak descriptors. */
#define PATIENCE 30

static bool is_due(const struct candidate_facts *facts, enum spool_writer writer, uint64_t now,
                   uint64_t stable)
{
    uint64_t unchanged = now - facts->since;
    if (writer == SPOOL_WRITTEN)
        return unchanged >= PATIENCE * stable;
    return (facts->closed && !facts->truncated) || unchanged >= stable;
}

enum candidate_verdict candidate_judge(struct candidate_facts *facts, enum spool_sight sight,
                                       const struct identity *identity, enum spool_writer writer,
                                       uint64_t now, uint64_t stable)
{
    if (sight == SPOOL_GONE || sight == SPOOL_NO_FILE)
        return CANDIDATE_DROP;
    facts->unreadable = sight == SPOOL_UNREADABLE;
    if (facts->unreadable)
        return CANDIDATE_WAIT;
    if (identity->size == 0)
        return CANDIDATE_REST;
    if (!facts->has_seen || !identity_equal(&facts->seen, identity)) {
        facts->has_seen = true;
        facts->seen = *identity;
        facts->since = now;
        facts->truncated = false;
    }
    return is_due(facts, writer, now, stable) ? CANDIDATE_TAKE : CANDIDATE_WAIT;
}

int candidates_init(struct candidates *candidates, struct fault *fault)
{
    *candidates = (struct candidates){.n_buckets = BUCKETS_FIRST};
    for (int i = 0; i < CANDIDATE_STATES; i++)
        TAILQ_INIT(&candidates->lists[i]);
    if (getrandom(&candidates->seed, sizeof candidates->seed, 0) < 0)
        candidates->seed = (uintptr_t)candidates;
    candidates->buckets = calloc(candidates->n_buckets, sizeof *candidates->buckets);
    return candidates->buckets ? 0 : fault_set(fault, FAULT_MEMORY, "no memory for names");
}

void candidates_finish(struct candidates *candidates)
{
    for (int i = 0; i < CANDIDATE_STATES && candidates->buckets; i++)
        while (!TAILQ_EMPTY(&candidates->lists[i]))
            candidates_remove(candidates, TAILQ_FIRST(&candidates->lists[i]));
    free(candidates->buckets);
    *candidates = (struct candidates){0};
}

void candidates_clear(struct candidates *candidates)
{
    for (int i = 0; i < CANDIDATE_STATES; i++)
        while (i != CANDIDATE_LOOKING && i != CANDIDATE_TAKEN &&
               !TAILQ_EMPTY(&candidates->lists[i]))
            candidates_remove(candidates, TAILQ_FIRST(&candidates->lists[i]));
    candidates->overflowed = false;
}

static struct candidate **bucket_of(const struct candidates *candidates, const char *name)
{
    uint64_t hash = hash_bytes(HASH_INIT ^ candidates->seed, name, strlen(name));
    hash ^= hash >> 32; /* FNV's low bits are the weaker ones for short names */
    return &candidates->buckets[hash & (candidates->n_buckets - 1)];
}

struct candidate *candidates_find(const struct candidates *candidates, const char *name)
{
    struct candidate *c = *bucket_of(candidates, name);
    while (c && strcmp(c->name, name) != 0)
        c = c->next_in_bucket;
    return c;
}

/* Twice as many buckets; without the memory for them chains just grow. */
static void grow(struct candidates *candidates)
{
    size_t n_old = candidates->n_buckets;
    struct candidate **old = candidates->buckets;
    struct candidate **buckets = calloc(2 * n_old, sizeof *buckets);
    if (!buckets)
        return;
    candidates->buckets = buckets;
    candidates->n_buckets = 2 * n_old;
    for (size_t i = 0; i < n_old; i++) {
        for (struct candidate *c = old[i], *next; c; c = next) {
            struct candidate **bucket = bucket_of(candidates, c->name);
            next = c->next_in_bucket;
            c->next_in_bucket = *bucket;
            *bucket = c;
        }
    }
    free(old);
}

struct candidate *candidates_add(struct candidates *candidates, const char *name)
{
    struct candidate *c = candidates_find(candidates, name);
    if (c)
        return c;
    if (candidates->count < CANDIDATES_MAX)
        c = calloc(1, sizeof *c);
    if (c && (c->name = strdup(name)) == NULL) {
        free(c);
        c = NULL;
    }
    if (!c) {
        candidates->overflowed = true;
        return NULL;
    }
    if (candidates->count >= candidates->n_buckets)
        grow(candidates);
    struct candidate **bucket = bucket_of(candidates, name);
    c->next_in_bucket = *bucket;
    *bucket = c;
    c->state = CANDIDATE_HINTED;
    TAILQ_INSERT_TAIL(&candidates->lists[CANDIDATE_HINTED], c, in_state);
    candidates->counts[CANDIDATE_HINTED]++;
    candidates->count++;
    return c;
}

void candidates_remove(struct candidates *candidates, struct candidate *candidate)
{
    struct candidate **link = bucket_of(candidates, candidate->name);
    while (*link != candidate)
        link = &(*link)->next_in_bucket;
    *link = candidate->next_in_bucket;
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

void candidates_hint(struct candidates *candidates, const char *name, bool closed)
{
    struct candidate *c = candidates_add(candidates, name);
    if (!c)
        return;
    if (closed && c->returned > 0) { /* our own doing: it says nothing */
        c->returned--;
        return;
    }
    c->facts.closed |= closed;
    if (c->state == CANDIDATE_LOOKING || c->state == CANDIDATE_TAKEN)
        c->hinted = true;
    else if (c->state == CANDIDATE_WAITING || c->state == CANDIDATE_EMPTY)
        candidates_move(candidates, c, CANDIDATE_HINTED);
}

/* All wait equally long, so the list of those that wait is in the order in which they are due. */
void candidates_wait(struct candidates *candidates, struct candidate *c, uint64_t now,
                     uint64_t stable)
{
    c->due = now + stable;
    candidates_move(candidates, c, CANDIDATE_WAITING);
}

void candidates_found(struct candidates *candidates, const char *name,
                      const struct identity *identity, uint64_t now, uint64_t stable)
{
    struct candidate *c = candidates_find(candidates, name);
    if (c || (c = candidates_add(candidates, name)) == NULL)
        return; /* known already: it has its own course */
    if (candidate_judge(&c->facts, SPOOL_FILE, identity, SPOOL_WRITER_UNKNOWN, now, stable) ==
        CANDIDATE_REST)
        candidates_rest(candidates, c);
    else
        candidates_wait(candidates, c, now, stable);
}

void candidates_rest(struct candidates *candidates, struct candidate *c)
{
    c->facts = (struct candidate_facts){0};
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
                       const struct identity *identity, bool truncated, uint64_t now,
                       uint64_t stable)
{
    struct candidate *c = candidates_add(candidates, name);
    if (!c)
        return;
    if (c->state != CANDIDATE_TAKEN)
        c->returned++;
    if (c->state == CANDIDATE_LOOKING) /* at another file of this name */
        return;
    c->facts = (struct candidate_facts){
        .has_seen = true, .seen = *identity, .since = now, .truncated = truncated};
    candidates_wait(candidates, c, now, stable);
}

void candidates_take(struct candidates *candidates, const char *name)
{
    struct candidate *c = candidates_add(candidates, name);
    if (!c || c->state == CANDIDATE_LOOKING)
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

uint64_t candidates_wake(struct candidates *candidates, uint64_t now)
{
    struct candidate *c;
    while ((c = TAILQ_FIRST(&candidates->lists[CANDIDATE_WAITING])) != NULL) {
        if (c->due > now)
            return c->due;
        candidates_move(candidates, c, CANDIDATE_HINTED);
    }
    return 0;
}
