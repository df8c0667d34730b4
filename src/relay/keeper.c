/* The keeper: a thread that tells the server that this machine works on its jobs, and writes the
 * file of metrics. */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/text.h"
#include "relay/relay.h"

#define METRICS_EVERY (10 * SECOND)

/* If a job's step takes longer than allowed, no more signs of life are sent, and another machine
 * gets the job. */
static void keep(struct slot *slot)
{
    uint64_t now = clock_now();
    pthread_mutex_lock(&slot->lock);
    if (slot->holds && now < slot->limit)
        hub_say(slot->relay->hub, &slot->message, HUB_WORKING, 0);
    else if (slot->holds)
        log_warning("%s: %s for too long; it is left to others", slot->message.subject, slot->step);
    pthread_mutex_unlock(&slot->lock);
}

/* ---- metrics ---- */

static unsigned long long holding(struct relay *relay)
{
    unsigned long long count = 0;
    for (size_t i = 0; i < relay->n_slots; i++) {
        pthread_mutex_lock(&relay->slots[i].lock);
        count += relay->slots[i].holds;
        pthread_mutex_unlock(&relay->slots[i].lock);
    }
    return count;
}

static void print_metrics(struct relay *relay, struct text *text)
{
    const struct figures *f = &relay->figures;
    const struct {
        const char *name, *kind, *help; /* `kind` NULL: a further value of the metric before */
        double value;
    } rows[] = {
        {"jobs_total{result=\"ok\"}", "counter", "Jobs whose result this machine stored",
         (double)f->ok},
        {"jobs_total{result=\"failed\"}", NULL, NULL, (double)f->failed},
        {"jobs_total{result=\"given_back\"}", NULL, NULL, (double)f->given_back},
        {"jobs_total{result=\"dead\"}", NULL, NULL, (double)f->dead},
        {"redelivered_total", "counter", "Jobs that arrived, not for the first time",
         (double)f->redelivered},
        {"refused_total", "counter", "Results that another machine had stored already",
         (double)f->refused},
        {"store_retries_total", "counter", "Transfers that the store was asked for again",
         (double)f->retries},
        {"get_seconds_sum", "counter", "Time of the pictures' transfers",
         (double)f->get_time * 1e-9},
        {"get_seconds_count", "counter", "Pictures fetched by URL", (double)f->gets},
        {"put_seconds_sum", "counter", "Time of the results' transfers",
         (double)f->put_time * 1e-9},
        {"put_seconds_count", "counter", "Results stored by URL", (double)f->puts},
        {"link_up", "gauge", "1 while the hub is connected", hub_is_up(relay->hub)},
        {"connections_total", "counter", "Connections to the hub since the start",
         hub_connections(relay->hub)},
        {"daemon_ready", "gauge", "1 while sluiced takes jobs", relay->ready},
        {"pending", "gauge", "Jobs in the stream when one was last asked for", (double)f->behind},
        {"held", "gauge", "Jobs that this machine holds", (double)holding(relay)},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int name = (int)strcspn(rows[i].name, "{");
        if (rows[i].kind)
            text_printf(text, "# HELP sluice_relay_%.*s %s.\n# TYPE sluice_relay_%.*s %s\n", name,
                        rows[i].name, rows[i].help, name, rows[i].name, rows[i].kind);
        text_printf(text, "sluice_relay_%s %.17g\n", rows[i].name, rows[i].value);
    }
}

static void write_metrics(struct relay *relay)
{
    const char *path = relay->settings->relay.metrics;
    struct fault fault = FAULT_INIT;
    struct file_draft draft = {.fd = -1};
    struct text text = {0};
    static bool told;
    if (!path)
        return;
    print_metrics(relay, &text);
    int result = file_draft_open(&draft, path, &fault);
    if (result == 0)
        result = file_write(draft.fd, text_string(&text), text.length, &fault);
    if (result == 0)
        result = file_draft_commit(&draft, false, &fault);
    else
        file_draft_discard(&draft);
    if (result != 0 && !told)
        log_warning("metrics: %s: %s", path, fault.text);
    told = result != 0;
    text_finish(&text);
}

void *keeper_run(void *argument)
{
    struct relay *relay = argument;
    uint64_t kept = clock_now(), written = 0;
    while (relay->n_running > 0) {
        uint64_t now = clock_now();
        if (now - kept >= relay->keep_every) {
            kept = now;
            for (size_t i = 0; i < relay->n_slots; i++)
                keep(&relay->slots[i]);
        }
        if (now - written >= METRICS_EVERY) {
            written = now;
            write_metrics(relay);
        }
        clock_sleep(SECOND / 10);
    }
    write_metrics(relay);
    return NULL;
}
