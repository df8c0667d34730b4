/* The hub: the NATS servers through which a fleet shares its jobs. One connection that is restored
 * when it breaks, and requests to JetStream over it. Any thread; nothing waits longer than its
 * comment says.
 *
 *     JOBS    sluice.jobs.CLASS.ID    a work queue: an acknowledged message is removed
 *     DONE    sluice.done.ID          results, one for each id
 *     DEAD    sluice.dead.CLASS.ID    jobs that were given up
 *
 * docs/fleet.md describes the messages. */
#ifndef SLUICE_RELAY_HUB_H
#define SLUICE_RELAY_HUB_H

#include "base/fault.h"
#include "config/settings.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define JOB_WORD_MAX 64 /* of a class and an id: A-Z a-z 0-9 _ - */
bool job_is_word(const char *text);

/* SHA-256 in hexadecimal, of which ids are made. */
#define DIGEST_TEXT_MAX 65
int digest_text(const void *data, size_t size, char text[DIGEST_TEXT_MAX], struct fault *fault);

/* A URL for the log, without user, password, query and fragment. Returns `shown`. */
char *hub_show_url(const char *url, char *shown, size_t size);

enum hub_answer {
    HUB_OK,
    HUB_NONE,    /* there is no such message */
    HUB_THERE,   /* the subject has a message already */
    HUB_FULL,    /* the stream is full */
    HUB_LARGE,   /* more bytes than the server or the stream takes */
    HUB_MISSING, /* no such stream or consumer (yet), or JetStream does not run */
    HUB_OLD,     /* a server before 2.10, which can lose messages that it has acknowledged */
    HUB_UNCLEAR, /* no answer, because the connection broke or permission is missing; it may have
                    happened all the same */
    HUB_OTHER,   /* any other error; the fault tells it */
};

struct hub;

/* Reads the credentials (after which this process writes no core dump) and connects, for at most
 * `patience` nanoseconds, while `stopped` is false. FAULT_CONFIG: a named file is missing, or the
 * server wants TLS and the URL is not tls://; FAULT_PERMISSION: credentials or a certificate are
 * refused; FAULT_NO_DEVICE: no server answers. The settings must outlive the hub. */
int hub_open(struct hub **hub, const struct relay_settings *settings, const char *name,
             uint64_t patience, bool (*stopped)(void *context), void *context, struct fault *fault);

/* Sends what waits, for at most two seconds, and closes. Takes NULL; clears the pointer. */
void hub_close(struct hub **hub);

bool hub_is_up(const struct hub *hub);

/* True once the server has refused a subject for lack of permission; the log names it. */
bool hub_is_denied(const struct hub *hub);

/* How often a connection was made. Requests on an earlier connection get no answer. */
unsigned hub_connections(const struct hub *hub);

/* To be called now and then by one thread: connects again where the library has given up. Returns
 * FAULT_PERMISSION when credentials or certificate are refused now, otherwise 0. */
int hub_mend(struct hub *hub, struct fault *fault);

/* The most bytes that a message may hold, not counting 64 KiB of headers. */
uint64_t hub_payload_max(struct hub *hub);

/* ---- checks of the streams ---- */

struct hub_consumer {
    /* nanoseconds after which a job without a sign of life goes to another machine */
    uint64_t ack_wait;
    char warning[240]; /* a setting that does not suit the relay; "": none */
};

/* Asks for the consumer of jobs. HUB_OK, HUB_MISSING, HUB_OLD, HUB_UNCLEAR, HUB_OTHER. */
enum hub_answer hub_look_at_consumer(struct hub *hub, struct hub_consumer *consumer,
                                     struct fault *fault);

/* The same for the stream only, for programs that send jobs. */
enum hub_answer hub_look_at_stream(struct hub *hub, struct fault *fault);

/* ---- messages ---- */

struct hub_message {
    const char *subject;
    const void *data;
    size_t size;
    uint64_t delivery; /* of a job: number of this delivery, from 1 */
    uint64_t behind;   /* of a job: how many wait in the stream */
    void *native;      /* owns the rest; NULL: there is nothing */
};

void hub_message_finish(struct hub_message *message);

/* A header by its name, in any case; NULL: there is none. */
const char *hub_header(const struct hub_message *message, const char *name);

/* Calls `read` for each header, and again for each further value of one that occurs more than once.
 * Returns false if the library cannot read them: libnats before 3.11 when the last has no value. */
bool hub_each_header(const struct hub_message *message,
                     void (*read)(void *context, const char *name, const char *value),
                     void *context);

struct hub_header {
    const char *name, *value; /* `value` NULL or "": the header is left out */
};

/* ---- jobs ---- */

/* Where jobs for one thread arrive. Begins as {0}. */
struct hub_mailbox {
    void *subscription;
    unsigned connection;
    uint64_t asked_until; /* monotonic nanoseconds */
    char inbox[128];
};

/* Waits up to ten seconds for a job, while `stopped` is false. HUB_OK, HUB_NONE, HUB_MISSING,
 * HUB_UNCLEAR; HUB_OTHER with the server's text, for instance that too many machines wait. */
enum hub_answer hub_fetch(struct hub *hub, struct hub_mailbox *mailbox, struct hub_message *message,
                          bool (*stopped)(void *context), void *context, struct fault *fault);

void hub_mailbox_close(struct hub_mailbox *mailbox);

enum hub_verb {
    HUB_ACK,     /* it has its result, and leaves the stream */
    HUB_NAK,     /* to be delivered again after `delay` nanoseconds */
    HUB_WORKING, /* work goes on: the server shall wait for as long again */
    HUB_TERM,    /* it will never have a result, and leaves the stream */
};

/* Tells the server what to do with a job. There is no answer. */
void hub_say(struct hub *hub, const struct hub_message *job, enum hub_verb verb, uint64_t delay);

/* ---- into and out of streams ---- */

/* Publishes a message and waits for the acknowledgement, 5 s plus 2 s for each MiB. `first`:
 * refused with HUB_THERE if the subject has a message. `headers` end with a NULL name. */
enum hub_answer hub_publish(struct hub *hub, const char *subject, const struct hub_header *headers,
                            const void *data, size_t size, bool first, struct fault *fault);

/* Reads the result of an id from DONE. Waits up to 5 s. HUB_OK, HUB_NONE, HUB_MISSING, HUB_UNCLEAR,
 * HUB_OTHER. */
enum hub_answer hub_result(struct hub *hub, const char *id, struct hub_message *message,
                           struct fault *fault);

#endif
