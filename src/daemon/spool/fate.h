/* What has become of a file ("fate"), from what is on disk and what the ledger remembers.
 * folder_explain adds what is under way. Waits for the disk: not on the loop. */
#ifndef SLUICE_DAEMON_SPOOL_FATE_H
#define SLUICE_DAEMON_SPOOL_FATE_H

#include "daemon/spool/spool.h"
#include <jansson.h>

/* Where the original lies; requeuing needs it. */
enum fate_where {
    FATE_NOWHERE,   /* deleted, or never claimed by us */
    FATE_IN_PLACE,  /* where it was dropped, not done yet */
    FATE_KEPT,      /* where it was dropped; done, or failed, by the ledger */
    FATE_IN_DONE,   /* in done */
    FATE_IN_FAILED, /* in failed */
};

struct fate {
    /* "waiting", "queued", "running", "retrying", "done", "failed", "ignored", "unknown" */
    const char *state;
    const char *reason; /* a word; NULL: none */
    char message[600];
    char name[PATH_MAX]; /* of the original, below IN */
    enum fate_where where;
    char original[PATH_MAX];  /* below IN, done or failed */
    struct identity identity; /* of the original, where there is one */
    json_t *results;          /* their paths, and whether each is there; NULL: none is known */
    unsigned attempts;
    int64_t time;     /* Unix, when it ended; 0: not known */
    double age, next; /* seconds in this state; until the next try; −1: not known */
    json_t *told;     /* NAME.error.json; NULL: none */
};

void fate_init(struct fate *fate);

/* By what the ledger remembers of a file that is done or failed; of a fate that is fresh. */
struct ledger_row;
void fate_of_row(struct fate *fate, const struct spool *spool, const struct ledger_row *row);

/* For a place in one of the spool's folders; to be ended by fate_finish. */
void fate_find(struct fate *fate, const struct spool *spool, const struct spot *place);
void fate_finish(struct fate *fate);

/* fate_find for a name in failed: that of a file or, with claims in place, of a reason. */
void fate_find_failed(struct fate *fate, const struct spool *spool, const char *name);

void fate_set(struct fate *fate, const char *state, const char *reason, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* As people are told; a new reference, NULL without memory. `folder`: IN as configured. */
json_t *fate_json(const struct fate *fate, const char *folder);

/* Why a file failed, with the present time: the text of NAME.error.json, which the caller frees.
 * NULL without memory. `file`: its name when it was dropped; `step`: what the worker did: "read",
 * "decode", "plan", "device", … */
char *fate_print_reason(const char *file, const struct fault *fault, const char *step,
                        unsigned attempts, const char *chain, const char *format);

/* Reads a reason under any name in its folder. */
json_t *fate_read_told(int directory_fd, const char *name);

/* With claims in place: finds the reason in failed that is about `name`, and gives the name of the
 * file to which it belongs. False: there is none. */
bool fate_find_reason(const struct spool *spool, const char *name, char found[PATH_MAX]);

/* The original's name as the reason gives it, checked; "" if it gives none. JSON cannot hold bytes
 * that are no UTF-8: if `like` (may be NULL) would be written as what the reason says, the name is
 * `like`. */
void fate_name_of(const json_t *told, const char *like, char name[PATH_MAX]);

#endif
