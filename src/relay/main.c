/* sluice-relay: takes jobs of a fleet from NATS JetStream to this machine's sluiced, and returns
 * results (docs/fleet.md). */
#include <curl/curl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/text.h"
#include "config/config.h"
#include "param/options.h"
#include "relay/relay.h"
#include "version.h"

#define START_TIME    (60 * SECOND) /* for a server to answer */
#define LOOK_EVERY    (30 * SECOND) /* between checks of the streams while everything works */
#define METRICS_EVERY (10 * SECOND)
#define LAST_TIME     (10 * SECOND) /* time for giving jobs back */

struct relay_options {
    const char *config;
    bool quiet, verbose, version;
};

#define AT(member) offsetof(struct relay_options, member)
static const struct options_row rows[] = {
    OPTION(0, "FILE", TEXT, "config", AT(config),
           "configuration, with a section relay (docs/fleet.md); else SLUICE_CONFIG"),
    OPTION('q', NULL, FLAG, "quiet", AT(quiet), "log errors only"),
    OPTION('v', NULL, FLAG, "verbose", AT(verbose), "log each step of each job"),
    OPTION('V', NULL, FLAG, "version", AT(version), "print the version"),
    {0},
};

static const struct options_usage usage = {
    .program = "sluice-relay",
    .operands = "--config FILE",
    .summary = "Takes jobs from a NATS JetStream, has this machine's sluiced do them, and stores "
               "the results.",
    .details = "Ends at SIGTERM, when its jobs are done or given back.\n",
    .tables = {rows},
};

/* ---- settings ---- */

static int complain_all(struct text *errors, const struct fault *fault)
{
    const char *lines = text_string(errors);
    for (size_t length; (length = strcspn(lines, "\n")) > 0; lines += length + 1)
        fprintf(stderr, "sluice-relay: %.*s\n", (int)length, lines);
    if (errors->length == 0)
        options_complain("sluice-relay", NULL, fault);
    text_finish(errors);
    return fault->code == FAULT_PERMISSION ? 77 : 78;
}

/* Returns 0, or the exit status after a complaint. A missing file that was named counts as a wrong
 * configuration. */
static int load(const struct relay_options *options, struct config *config)
{
    struct settings *settings = &config->settings;
    struct text errors = {0};
    struct fault fault = FAULT_INIT;
    const char *path = options->config ? options->config : getenv("SLUICE_CONFIG"), *key;
    size_t at = 0;
    if (!path || !path[0]) {
        fputs("sluice-relay: which configuration? --config FILE is missing\n", stderr);
        return 64;
    }
    if (config_read_settings(config, path, &errors, &fault) != 0) {
        if (errors.length == 0)
            text_printf(&errors, "%s: %s\n", path, fault.text);
        return complain_all(&errors, &fault);
    }
    settings_read_environment(settings, false, &errors);
    for (; relay_settings_check(&settings->relay, &at, &key, &fault) != 0; fault_clear(&fault))
        text_printf(&errors, "%s\n", fault.text);
    if (!settings->relay.servers)
        text_printf(&errors, "%s: relay: servers is missing\n", path);
    if (errors.length > 0)
        return complain_all(&errors, &fault);
    settings_complete(settings);
    if (options->quiet || options->verbose)
        settings->log_level = options->quiet ? LOG_LEVEL_ERROR : LOG_LEVEL_DEBUG;
    log_init("sluice-relay", (enum log_level)settings->log_level);
    log_set_format((enum log_format)settings->log_format);
    return 0;
}

/* ---- signals ---- */

static struct relay relay;

/* The second signal gives unfinished jobs back. */
static void on_signal(int number)
{
    if (relay.stopping)
        relay.giving_back = true;
    relay.stopping = true;
}

static bool is_stopping(void *context)
{
    return ((struct relay *)context)->stopping;
}

/* ---- what main watches: daemon, hub and streams ---- */

/* A state that is logged when it changes. */
struct told {
    char text[480];
};

static void tell(struct told *told, bool good, const char *text, const char *fine)
{
    const char *now = good ? "" : text;
    if (strcmp(told->text, now) == 0)
        return;
    if (good)
        log_info("%s", fine);
    else
        log_warning("%s; nothing is fetched until that changes", text);
    snprintf(told->text, sizeof told->text, "%s", now);
}

/* Returns 0; FAULT_NO_DEVICE when the first check finds a server before 2.10. */
static int watch_streams(struct told *told, struct told *warned, struct fault *fault)
{
    static bool was_usable;
    struct hub_consumer consumer;
    struct hub_message none = {0};
    enum hub_answer answer = hub_look_at_consumer(relay.hub, &consumer, fault);
    if (answer == HUB_OLD && !was_usable)
        return FAULT_NO_DEVICE;
    if (answer == HUB_OK && hub_result(relay.hub, "-", &none, fault) == HUB_MISSING)
        answer = HUB_MISSING;
    hub_message_finish(&none);
    relay.usable = answer == HUB_OK;
    was_usable |= relay.usable;
    relay.keep_every = consumer.ack_wait / 3 < 10 * SECOND ? consumer.ack_wait / 3 : 10 * SECOND;
    tell(told, answer == HUB_OK, fault->text, "the streams are there");
    if (answer == HUB_OK && strcmp(warned->text, consumer.warning) != 0 && consumer.warning[0])
        log_warning("%s (docs/fleet.md)", consumer.warning);
    snprintf(warned->text, sizeof warned->text, "%s", consumer.warning);
    return 0;
}

/* Returns the exit status: 0 after a signal. */
static int watch(void)
{
    struct told daemon = {"?"}, streams = {"?"}, consumer = {""};
    uint64_t looked = 0, asked = 0;
    unsigned connection = 0;
    while (!relay.stopping) {
        struct fault fault = FAULT_INIT;
        uint64_t now = clock_now();
        if (hub_mend(relay.hub, &fault) == FAULT_PERMISSION)
            return options_complain("sluice-relay", "hub", &fault);
        if (now - asked >= SECOND || asked == 0) {
            struct fault why = FAULT_INIT;
            bool ready = daemon_is_ready(relay.socket, &why);
            relay.ready = ready;
            tell(&daemon, ready, why.text, "sluiced takes jobs");
            asked = now;
        }
        bool changed = connection != hub_connections(relay.hub);
        uint64_t every = relay.usable ? LOOK_EVERY : 2 * SECOND;
        if (hub_is_up(relay.hub) && (changed || looked == 0 || now - looked >= every)) {
            connection = hub_connections(relay.hub);
            looked = now;
            if (watch_streams(&streams, &consumer, &fault) != 0)
                return options_complain("sluice-relay", "hub", &fault);
        }
        clock_sleep(SECOND / 10);
    }
    return 0;
}

/* ---- the keeper ---- */

/* A thread that tells the server that this machine works on its jobs, and writes the file of
 * metrics. */

/* If a job's step takes longer than allowed, no more signs of life are sent, and another machine
 * gets the job. */
static void keep(struct slot *slot)
{
    uint64_t now = clock_now();
    pthread_mutex_lock(&slot->lock);
    if (slot->holds && now < slot->limit)
        hub_say(relay.hub, &slot->message, HUB_WORKING, 0);
    else if (slot->holds)
        log_warning("%s: %s for too long; it is left to others", slot->message.subject, slot->step);
    pthread_mutex_unlock(&slot->lock);
}

/* ---- metrics ---- */

static unsigned long long holding(void)
{
    unsigned long long count = 0;
    for (size_t i = 0; i < relay.n_slots; i++) {
        pthread_mutex_lock(&relay.slots[i].lock);
        count += relay.slots[i].holds;
        pthread_mutex_unlock(&relay.slots[i].lock);
    }
    return count;
}

static void print_metrics(struct text *text)
{
    const struct figures *f = &relay.figures;
    const struct {
        const char *name, *kind, *help; /* `kind` NULL: a further value of the metric before */
        double value;
    } metrics[] = {
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
        {"link_up", "gauge", "1 while the hub is connected", hub_is_up(relay.hub)},
        {"connections_total", "counter", "Connections to the hub since the start",
         hub_connections(relay.hub)},
        {"daemon_ready", "gauge", "1 while sluiced takes jobs", relay.ready},
        {"pending", "gauge", "Jobs in the stream when one was last asked for", (double)f->behind},
        {"held", "gauge", "Jobs that this machine holds", (double)holding()},
    };
    for (size_t i = 0; i < sizeof metrics / sizeof *metrics; i++) {
        int name = (int)strcspn(metrics[i].name, "{");
        if (metrics[i].kind)
            text_printf(text, "# HELP sluice_relay_%.*s %s.\n# TYPE sluice_relay_%.*s %s\n", name,
                        metrics[i].name, metrics[i].help, name, metrics[i].name, metrics[i].kind);
        text_printf(text, "sluice_relay_%s %.17g\n", metrics[i].name, metrics[i].value);
    }
}

static void write_metrics(void)
{
    const char *path = relay.settings->relay.metrics;
    struct fault fault = FAULT_INIT;
    struct file_draft draft = {.fd = -1};
    struct text text = {0};
    static bool told;
    if (!path)
        return;
    print_metrics(&text);
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

/* Sends signs of life for each job, and writes the metrics. Ends when no slot runs any more. */
static void *run_keeper(void *unused)
{
    uint64_t kept = clock_now(), written = 0;
    while (relay.n_running > 0) {
        uint64_t now = clock_now();
        if (now - kept >= relay.keep_every) {
            kept = now;
            for (size_t i = 0; i < relay.n_slots; i++)
                keep(&relay.slots[i]);
        }
        if (now - written >= METRICS_EVERY) {
            written = now;
            write_metrics();
        }
        clock_sleep(SECOND / 10);
    }
    write_metrics();
    return NULL;
}

/* ---- threads ---- */

static int start_threads(pthread_t *keeper)
{
    relay.n_slots = relay.settings->relay.jobs;
    relay.slots = calloc(relay.n_slots, sizeof *relay.slots);
    if (!relay.slots)
        return 70;
    relay.n_running = relay.n_slots;
    for (size_t i = 0; i < relay.n_slots; i++) {
        struct slot *slot = &relay.slots[i];
        *slot = (struct slot){.relay = &relay, .socket = -1};
        pthread_mutex_init(&slot->lock, NULL);
        if (pthread_create(&slot->thread, NULL, slot_run, slot) != 0)
            return 70;
    }
    return pthread_create(keeper, NULL, run_keeper, NULL) == 0 ? 0 : 70;
}

/* Waits for running jobs, then gives them back. Jobs that cannot be given back get no more signs of
 * life, so the server gives them to another machine. */
static void end_threads(pthread_t keeper)
{
    relay.stopping = true;
    for (uint64_t end = clock_now() + relay.settings->shutdown;
         relay.n_running > 0 && clock_now() < end && !relay.giving_back;)
        clock_sleep(SECOND / 10);
    relay.giving_back = true;
    for (uint64_t end = clock_now() + LAST_TIME; relay.n_running > 0 && clock_now() < end;)
        clock_sleep(SECOND / 10);
    if (relay.n_running > 0) {
        log_error("%zu jobs do not end; the server passes them on", (size_t)relay.n_running);
        _exit(70);
    }
    for (size_t i = 0; i < relay.n_slots; i++)
        pthread_join(relay.slots[i].thread, NULL);
    pthread_join(keeper, NULL);
    free(relay.slots);
}

static void prepare(const struct settings *settings)
{
    struct sigaction action = {.sa_handler = on_signal};
    relay.settings = settings;
    relay.socket = settings->jobs_socket.unix_path;
    relay.keep_every = 10 * SECOND;
    if (settings->relay.name)
        snprintf(relay.machine, sizeof relay.machine, "%s", settings->relay.name);
    else
        gethostname(relay.machine, sizeof relay.machine - 1);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
    signal(SIGPIPE, SIG_IGN);
    curl_global_init(CURL_GLOBAL_DEFAULT);
}

static int serve(const struct settings *settings)
{
    struct fault fault = FAULT_INIT;
    pthread_t keeper;
    char name[100];
    prepare(settings);
    snprintf(name, sizeof name, "sluice-relay %s", relay.machine);
    if (hub_open(&relay.hub, &settings->relay, name, START_TIME, is_stopping, &relay, &fault) != 0)
        return relay.stopping ? 0 : options_complain("sluice-relay", "hub", &fault);
    int status = start_threads(&keeper);
    if (status != 0) {
        log_error("no memory for %zu jobs", relay.n_slots);
        _exit(status);
    }
    status = watch();
    relay.giving_back |= status != 0;
    end_threads(keeper);
    hub_close(&relay.hub);
    curl_global_cleanup();
    return status;
}

int main(int argc, char **argv)
{
    struct relay_options options = {0};
    struct config config = {0};
    log_show_time();
    log_init("sluice-relay", LOG_LEVEL_WARNING);
    int first = options_parse(&usage, &options, argc, argv, stdout);
    if (first < 0)
        return first == OPTIONS_HELP_SHOWN ? 0 : -first;
    if (options.version) {
        puts("sluice-relay " SLUICE_VERSION);
        return 0;
    }
    if (first < argc) {
        fputs("sluice-relay: there are no operands (see sluice-relay --help)\n", stderr);
        return 64;
    }
    int status = load(&options, &config);
    if (status == 0)
        status = serve(&config.settings);
    config_finish(&config);
    return status;
}
