/* What happened last: jobs that began and ended, folders that changed their state. The latest are
 * kept as texts for those who follow them (serve/http_events.c), who come back for more when they
 * have read what they had: nobody is waited for, and what nobody read is forgotten. The loop's
 * thread alone. */
#ifndef SLUICE_DAEMON_WORK_EVENTS_H
#define SLUICE_DAEMON_WORK_EVENTS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#define EVENTS_KEPT 256

struct job;

struct event {
    const char *kind; /* "begun", "done", "failed", "folder"; a constant */
    char *text;       /* JSON; owned */
};

struct events {
    struct event list[EVENTS_KEPT]; /* that of number n at n % EVENTS_KEPT */
    uint64_t next;                  /* the number that the next one gets; begins with 0 */
};

/* Adds an event, and forgets the oldest. Takes `what`; NULL, or without memory: none is added. */
void events_add(struct events *events, const char *kind, json_t *what);

/* Adds that a job has begun, is done or has failed. `events` may be NULL. */
void events_add_job(struct events *events, const char *kind, const struct job *job);

/* The event of that number; NULL: it is forgotten, or has not happened yet. */
const struct event *events_get(const struct events *events, uint64_t number);

void events_finish(struct events *events);

#endif
