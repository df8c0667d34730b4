/* Shared by the files of sluice enqueue: enqueue.c (options, output), enqueue_files.c (jobs from
 * inputs), enqueue_jobs.c (sending jobs, receiving results). */
#ifndef SLUICE_CLI_ENQUEUE_INTERNAL_H
#define SLUICE_CLI_ENQUEUE_INTERNAL_H

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

/* Makes an entry for each input or, with --collect, for each line of each list; makes the folder
 * OUT/, too. */
int enqueue_add_all(struct enqueue *enqueue, char **inputs, size_t count, struct fault *fault);

/* Sends all entries. A fault of one entry is stored in it and reported; one that would meet all
 * others is returned. */
int enqueue_put_all(struct enqueue *enqueue);

/* Waits for the results of all entries that were sent, and writes them. */
void enqueue_collect(struct enqueue *enqueue);

#endif
