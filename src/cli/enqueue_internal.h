/* What the files of sluice enqueue share: enqueue.c (options, the end), enqueue_files.c (what
 * inputs become), enqueue_jobs.c (jobs and results). */
#ifndef SLUICE_CLI_ENQUEUE_INTERNAL_H
#define SLUICE_CLI_ENQUEUE_INTERNAL_H

#include "cli/common.h"
#include "cli/progress.h"
#include "relay/hub.h"
#include "relay/job.h"
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
    char *input, *output; /* owned; NULL output: nothing is written */
    char *name;           /* owned: the input, without a URL's query, which may be secret */
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
    char extension[32]; /* of the results' names */
    size_t n_entries, n_queued, n_ended, n_failed;
    struct entry *entries;
};

/* True when results are waited for. */
bool enqueue_waits(const struct enqueue *enqueue);

bool enqueue_is_url(const char *text);

/* Makes an entry of each input, or with --collect of each line of each list; the folder OUT/, too.
 */
int enqueue_add_all(struct enqueue *enqueue, char **inputs, size_t count, struct fault *fault);

/* Puts all entries into the queue. An entry's own fault is in it, and told; the code of one that
 * would meet all others comes back. */
int enqueue_put_all(struct enqueue *enqueue);

/* Waits for the results of all that are queued, and writes them. */
void enqueue_collect(struct enqueue *enqueue);

#endif
