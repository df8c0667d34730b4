/* Files that were seen in a watched directory and not taken yet ("candidates"), and the rule that
 * says when one is complete. Pure: no files, no clock, no loop. One thread's, the folder's.
 *
 * The rule (docs/spool.md gives the reasons) takes a file
 *
 *     renamed or linked in             at once
 *     closed after writing             when nobody has opened or changed it for `settle`
 *     found otherwise, opened again    when size and time have not changed for `stable`
 *
 * but not while somebody has it open for writing, where the kernel tells; one that stays open
 * without a change is taken after a longer time. An empty file waits for an event, or for the end
 * of a scan. A file that the decoder called truncated waits until it has not changed for `stable`
 * since then.
 */
#ifndef SLUICE_DAEMON_WATCH_CANDIDATE_H
#define SLUICE_DAEMON_WATCH_CANDIDATE_H

#include "daemon/spool/spool.h"
#include <stddef.h>
#include <sys/queue.h>

/* How many names are kept in memory. Other files stay in their directory and are found by a later
 * scan. */
#define CANDIDATES_MAX 65536

/* How many of them may be empty files, which are kept only to be counted. */
#define CANDIDATES_EMPTY_MAX 4096

/* Events that inotify reports for a name. */
enum candidate_news {
    NEWS_CREATED, /* created, or linked in; a linked file is never opened */
    NEWS_RENAMED, /* moved into the directory */
    NEWS_CLOSED,  /* after writing */
    NEWS_OPENED,
    NEWS_LEFT,    /* closed after reading */
    NEWS_CHANGED, /* its mode, owner, times … */
};

/* What events said about a file. Times are nanoseconds of the monotonic clock. */
struct candidate_heard {
    uint64_t touched; /* of the latest event */
    bool whole;       /* renamed or linked in, so complete */
    bool closed;      /* after writing */
    bool open;        /* opened since it was closed */
    bool created;     /* created, and no event of an open has come since */
};

/* What looking at the file showed. */
struct candidate_facts {
    bool has_seen;
    struct identity seen; /* identity at the latest look */
    uint64_t since;       /* since when it has looked so, or when the decoder called it truncated */
    bool truncated;       /* the decoder called the file truncated when it looked as in `seen` */
    bool unreadable;      /* we may not open it */
    bool written;         /* somebody has it open for writing, as an attempt at a lease showed */
};

/* How long a file must stay unchanged, in nanoseconds: a closed one, and one that a scan found. */
struct candidate_times {
    uint64_t settle, stable;
};

enum candidate_verdict {
    CANDIDATE_TAKE,
    CANDIDATE_WAIT,
    CANDIDATE_REST, /* it is empty: wait for an event */
    CANDIDATE_DROP, /* forget the name */
};

/* Applies the rule to what was seen at `now`, and updates `facts`. */
enum candidate_verdict candidate_judge(struct candidate_facts *facts,
                                       const struct candidate_heard *heard, enum spool_sight sight,
                                       const struct identity *identity, enum spool_writer writer,
                                       uint64_t now, const struct candidate_times *times);

enum candidate_state {
    CANDIDATE_HINTED,   /* an event or a scan named it: look at it next */
    CANDIDATE_LOOKING,  /* it is looked at now, and events are heard meanwhile */
    CANDIDATE_SETTLING, /* to be looked at after `settle` */
    CANDIDATE_WAITING,  /* to be looked at after `stable` */
    CANDIDATE_EMPTY,    /* empty: to be looked at after an event or a scan */
    CANDIDATE_READY,    /* complete, and no room in the queue yet */
    CANDIDATE_TAKEN,    /* a job whose file stays in the folder */
    CANDIDATE_STATES
};

struct candidate {
    char *name; /* owned */
    struct candidate_heard heard;
    struct candidate_facts facts;
    enum candidate_state state;
    bool hinted;       /* an event came while it was looked at */
    bool complained;   /* its latest fault was logged */
    unsigned returned; /* events still to come that our own rename back causes */
    uint64_t due;
    TAILQ_ENTRY(candidate) in_state;
};

TAILQ_HEAD(candidate_list, candidate);

struct candidates {
    struct candidate_times times;
    size_t count;
    void *by_name; /* a tree of them, by tsearch(3) */
    struct candidate_list lists[CANDIDATE_STATES];
    size_t counts[CANDIDATE_STATES];
    bool overflowed; /* a name did not fit: scan again when there is room */
};

void candidates_init(struct candidates *candidates, struct candidate_times times);
void candidates_finish(struct candidates *candidates);

/* Forgets all names but those that are taken. None is looked at. */
void candidates_clear(struct candidates *candidates);

struct candidate *candidates_find(const struct candidates *candidates, const char *name);

void candidates_remove(struct candidates *candidates, struct candidate *candidate);
void candidates_move(struct candidates *candidates, struct candidate *candidate,
                     enum candidate_state state);

/* ---- events and steps of one name ---- */

/* There was an event. */
void candidates_hear(struct candidates *candidates, const char *name, enum candidate_news news,
                     uint64_t now);

/* A scan found the file. */
void candidates_found(struct candidates *candidates, const char *name,
                      const struct identity *identity, uint64_t now);

/* The file is about to be moved back into the folder: the decoder found it truncated or, without
 * `truncated`, it changed while it was read. To be called before the move. */
void candidates_return(struct candidates *candidates, const char *name,
                       const struct identity *identity, bool truncated, uint64_t now);

/* The file has become a job and stays in the folder (nothing was moved for the job). */
void candidates_take(struct candidates *candidates, const char *name);

/* The job has ended. The file is looked at again if an event came meanwhile. */
void candidates_let_go(struct candidates *candidates, const char *name);

/* Puts the name among the empty files. Beyond CANDIDATES_EMPTY_MAX it is forgotten. */
void candidates_rest(struct candidates *candidates, struct candidate *candidate);

/* A scan has ended: empty files are looked at again, since they may have been filled or removed. */
void candidates_stir(struct candidates *candidates);

/* The file is looked at again after `stable`, or after `settle` if it may be complete by then. */
void candidates_wait(struct candidates *candidates, struct candidate *candidate, uint64_t now);

/* When the next name is due to be looked at; 0: none waits. */
static inline uint64_t candidates_due(const struct candidates *candidates)
{
    const struct candidate *soon = TAILQ_FIRST(&candidates->lists[CANDIDATE_SETTLING]);
    const struct candidate *later = TAILQ_FIRST(&candidates->lists[CANDIDATE_WAITING]);
    return !soon || (later && later->due < soon->due) ? later ? later->due : 0 : soon->due;
}

/* Names that are due are to be looked at. */
void candidates_wake(struct candidates *candidates, uint64_t now);

#endif
