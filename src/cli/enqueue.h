/* sluice enqueue: its options and inputs (enqueue.c), sending jobs and receiving results
 * (enqueue_jobs.c). */
#ifndef SLUICE_CLI_ENQUEUE_H
#define SLUICE_CLI_ENQUEUE_H

#include "cli/common.h"
#include "cli/progress.h"
#include "relay/hub.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct enqueue_options {
    struct common_options common;
    const char *chain, *format, *input, *class, *id, *output, *result;
    const char *server, *credentials, *ca;
    uint64_t timeout;
    bool again, wait, collect;
};

enum entry_state {
    ENTRY_NEW,
    ENTRY_QUEUED,
    ENTRY_DONE,
    ENTRY_FAILED
};

struct entry {
    char *input, *output; /* owned; `output` NULL: nothing is written */
    char *name;           /* the input without a URL's query, which may be secret; owned */
    char id[JOB_WORD_MAX + 1];
    enum entry_state state;
    struct fault fault;
    char media_type[100], machine[80];
    int64_t size;
};

struct enqueue {
    struct enqueue_options options;
    struct relay_settings settings;
    struct hub *hub;
    struct progress progress;
    const char *format;
    char extension[32]; /* of results */
    size_t n_entries, n_queued, n_ended, n_failed;
    struct entry *entries;
};

/* True when the command waits for results. */
bool enqueue_waits(const struct enqueue *enqueue);

bool enqueue_is_url(const char *text);

/* Sends all entries. A fault of one entry is stored in it and reported; one that would meet all
 * others is returned. */
int enqueue_put_all(struct enqueue *enqueue);

/* Waits for the results of all entries that were sent, and writes them. */
void enqueue_collect(struct enqueue *enqueue);

#endif
