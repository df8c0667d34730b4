/* Files seen in a watched directory and not taken yet, and the rule that says when one is complete.
 * Pure: no files, no clock, no loop. One thread.
 *
 * The rule (docs/spool.md says why): renamed or linked in: at once. Closed after writing: when
 * nobody has opened or changed it for `settle`. Found in any other way, or opened again: when size
 * and time have not changed for `stable`. Nobody may have it open for writing, where the kernel
 * tells; a file that stays open but does not change is taken after a while all the same. Empty
 * files wait until there is news of them, or a scan is over. A file that the decoder called
 * truncated waits until it has not changed for `stable` since then. */
#ifndef SLUICE_DAEMON_WATCH_CANDIDATE_H
#define SLUICE_DAEMON_WATCH_CANDIDATE_H

#include "daemon/spool/identity.h"
#include "daemon/spool/spool.h"
#include <stddef.h>
#include <sys/queue.h>

/* How many names are remembered. What does not fit stays in its directory and is found again. */
#define CANDIDATES_MAX 65536

/* How many of them may be empty files, which are remembered to be counted alone. */
#define CANDIDATES_EMPTY_MAX 4096

/* What the kernel tells of a name. */
enum candidate_news {
    NEWS_CREATED, /* or linked in: then nobody opens it */
    NEWS_RENAMED, /* in */
    NEWS_CLOSED,  /* after writing */
    NEWS_OPENED,
    NEWS_LEFT,    /* closed after reading */
    NEWS_CHANGED, /* its mode, owner, times … */
};

/* What was heard of one file; times in nanoseconds of the monotonic clock. */
struct candidate_heard {
    uint64_t touched; /* the latest news */
    bool whole;       /* renamed or linked in */
    bool closed;      /* after writing */
    bool open;        /* opened since it was closed */
    bool created;     /* and not opened since, as far as the news go */
};

/* What is known of it by looking. */
struct candidate_facts {
    bool has_seen;
    struct identity seen; /* as it was last seen */
    uint64_t since;       /* when it was first seen so, or called truncated */
    bool truncated;       /* the decoder said so of exactly what is in `seen` */
    bool unreadable;      /* we may not open it */
    bool written;         /* somebody has it open for writing, by its lease */
};

/* How long a file must be left alone, in nanoseconds: closed ones, and found ones. */
struct candidate_times {
    uint64_t settle, stable;
};

enum candidate_verdict {
    CANDIDATE_TAKE,
    CANDIDATE_WAIT,
    CANDIDATE_REST, /* it is empty: wait for news */
    CANDIDATE_DROP, /* forget the name */
};

/* The rule. Updates the facts by what was seen at `now`. */
enum candidate_verdict candidate_judge(struct candidate_facts *facts,
                                       const struct candidate_heard *heard, enum spool_sight sight,
                                       const struct identity *identity, enum spool_writer writer,
                                       uint64_t now, const struct candidate_times *times);

enum candidate_state {
    CANDIDATE_HINTED,   /* to be looked at */
    CANDIDATE_LOOKING,  /* a thread looks at it */
    CANDIDATE_SETTLING, /* to be looked at when it is due: after `settle` */
    CANDIDATE_WAITING,  /* … after `stable` */
    CANDIDATE_EMPTY,    /* to be looked at when there is news of it, or after a scan */
    CANDIDATE_READY,    /* complete, but there was no room for it */
    CANDIDATE_TAKEN,    /* a job, while the file stays in its place */
    CANDIDATE_STATES
};

struct candidate {
    char *name; /* owned */
    struct candidate_heard heard;
    struct candidate_facts facts;
    enum candidate_state state;
    bool hinted;       /* while it was looked at there was news */
    bool complained;   /* its latest trouble was logged */
    unsigned returned; /* events that our own giving back will cause */
    uint64_t due;
    TAILQ_ENTRY(candidate) in_state;
    struct candidate *next_in_bucket;
};

TAILQ_HEAD(candidate_list, candidate);

struct candidates {
    struct candidate_times times;
    size_t count, n_buckets;
    struct candidate **buckets;
    uint64_t seed; /* of the hash */
    struct candidate_list lists[CANDIDATE_STATES];
    size_t counts[CANDIDATE_STATES];
    bool overflowed; /* a name was dropped for want of room: scan again when there is some */
};

int candidates_init(struct candidates *candidates, struct candidate_times times,
                    struct fault *fault);
void candidates_finish(struct candidates *candidates);

/* Forgets all names but those that a thread looks at or that are taken. */
void candidates_clear(struct candidates *candidates);

struct candidate *candidates_find(const struct candidates *candidates, const char *name);

/* Finds or adds a name (state CANDIDATE_HINTED, no facts). NULL when there is no room. */
struct candidate *candidates_add(struct candidates *candidates, const char *name);
void candidates_remove(struct candidates *candidates, struct candidate *candidate);
void candidates_move(struct candidates *candidates, struct candidate *candidate,
                     enum candidate_state state);

/* The next steps for one name: */

/* There was an event. */
void candidates_hear(struct candidates *candidates, const char *name, enum candidate_news news,
                     uint64_t now);

/* A scan found it. */
void candidates_found(struct candidates *candidates, const char *name,
                      const struct identity *identity, uint64_t now);

/* It is given back after the decoder saw its end too early (or, not `truncated`, after it changed
 * while it was read). To be called before it appears in the directory. */
void candidates_return(struct candidates *candidates, const char *name,
                       const struct identity *identity, bool truncated, uint64_t now);

/* It is a job from now on, and stays in its place (no directory of work was made for it). */
void candidates_take(struct candidates *candidates, const char *name);

/* The job is over. If something happened to the file meanwhile it is looked at again. */
void candidates_let_go(struct candidates *candidates, const char *name);

/* An empty file has no course of its own; beyond CANDIDATES_EMPTY_MAX it is forgotten. */
void candidates_rest(struct candidates *candidates, struct candidate *candidate);

/* A scan is over: the empty ones become hinted, since they may have been filled, or removed. */
void candidates_stir(struct candidates *candidates);

/* It is looked at again after `stable`, or after `settle` if it may be complete by then. */
void candidates_wait(struct candidates *candidates, struct candidate *candidate, uint64_t now);

/* Those that wait and are due become hinted. Returns when the next one is due; 0: none waits. */
uint64_t candidates_wake(struct candidates *candidates, uint64_t now);

#endif
