/* The NATS servers that a fleet shares its jobs through: one connection that mends itself, and what
 * is asked of JetStream over it. Any thread; nothing here waits longer than it says.
 *
 *     JOBS    sluice.jobs.CLASS.ID    a work queue: a message is gone when it is acknowledged
 *     DONE    sluice.done.ID          results, one for each id
 *     DEAD    sluice.dead.CLASS.ID    jobs that were given up
 *
 * docs/fleet.md says what the messages hold. */
#ifndef SLUICE_RELAY_HUB_H
#define SLUICE_RELAY_HUB_H

#include "base/fault.h"
#include "config/settings.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A URL as it may be logged: without user, password, query and fragment. Returns `shown`. */
char *hub_show_url(const char *url, char *shown, size_t size);

enum hub_answer {
    HUB_OK,
    HUB_NONE,    /* there is no such message */
    HUB_THERE,   /* a message of this subject is there already */
    HUB_FULL,    /* the stream is full */
    HUB_LARGE,   /* more bytes than server or stream take */
    HUB_MISSING, /* there is no such stream or consumer (yet), or JetStream does not run */
    HUB_OLD,     /* a server before 2.10, which loses what it acknowledged */
    HUB_UNCLEAR, /* no answer: the link is down, or the right is missing. It may have happened */
    HUB_OTHER,   /* any other error; the fault tells it */
};

struct hub;

/* Reads the credentials, after which this process leaves no core dump, and connects, for at most
 * `patience` nanoseconds, while `stopped` is false.
 * FAULT_CONFIG: a file that is named is missing, or the server wants TLS and no tls:// was said;
 * FAULT_PERMISSION: credentials or a certificate are refused; FAULT_NO_DEVICE: no server answers.
 * The settings must outlive it. */
int hub_open(struct hub **hub, const struct relay_settings *settings, const char *name,
             uint64_t patience, bool (*stopped)(void *context), void *context, struct fault *fault);

/* Sends what is on its way, for at most two seconds, and closes. Takes NULL; clears the pointer. */
void hub_close(struct hub **hub);

bool hub_is_up(const struct hub *hub);

/* True once the server has refused a subject for want of permission; the log tells which. */
bool hub_is_denied(const struct hub *hub);

/* How often a connection was made; what was asked of an earlier one gets no answer. */
unsigned hub_connections(const struct hub *hub);

/* To be called now and then by one thread: connects anew where the library has given up. Says
 * FAULT_PERMISSION when credentials or certificate are refused now, else 0. */
int hub_mend(struct hub *hub, struct fault *fault);

/* The most bytes that a message may hold besides 64 KiB of headers. */
uint64_t hub_payload_max(struct hub *hub);

/* ---- what the streams are ---- */

struct hub_consumer {
    uint64_t
        ack_wait; /* nanoseconds after which a job that nobody speaks for goes to somebody else */
    char warning[240]; /* what does not suit the relay; "": nothing */
};

/* Asks for the consumer of jobs. HUB_OK, HUB_MISSING, HUB_OLD, HUB_UNCLEAR, HUB_OTHER. */
enum hub_answer hub_look_at_consumer(struct hub *hub, struct hub_consumer *consumer,
                                     struct fault *fault);

/* The same for the stream alone, for those who put jobs in. */
enum hub_answer hub_look_at_stream(struct hub *hub, struct fault *fault);

/* ---- messages ---- */

struct hub_message {
    const char *subject;
    const void *data;
    size_t size;
    uint64_t delivery; /* of a job: which one this is, from 1 */
    uint64_t behind;   /* of a job: how many wait in the stream */
    void *native;      /* what all of it belongs to; NULL: nothing */
};

void hub_message_finish(struct hub_message *message);

/* A header, by its name in any case; NULL: there is none. */
const char *hub_header(const struct hub_message *message, const char *name);

/* Calls `read` for each header; `many`: it is there more than once. */
void hub_each_header(const struct hub_message *message,
                     void (*read)(void *context, const char *name, const char *value, bool many),
                     void *context);

struct hub_header {
    const char *name, *value; /* NULL value: it is left out */
};

/* ---- jobs ---- */

/* Where one thread's jobs arrive. {0} at first. */
struct hub_mailbox {
    void *subscription;
    unsigned connection;
    uint64_t asked_until; /* monotonic nanoseconds */
    char inbox[128];
};

/* Waits up to ten seconds for a job, while `stopped` is false. HUB_OK, HUB_NONE, HUB_MISSING,
 * HUB_UNCLEAR; HUB_OTHER with what the server says, such as too many machines that wait. */
enum hub_answer hub_fetch(struct hub *hub, struct hub_mailbox *mailbox, struct hub_message *message,
                          bool (*stopped)(void *context), void *context, struct fault *fault);

void hub_mailbox_close(struct hub_mailbox *mailbox);

enum hub_verb {
    HUB_ACK,     /* it has its result: it leaves the stream */
    HUB_NAK,     /* to be delivered again, after `delay` nanoseconds */
    HUB_WORKING, /* somebody is at it: the server is to wait for as long again */
    HUB_TERM,    /* it will never have one: it leaves the stream */
};

/* Says what becomes of a job; nobody answers. */
void hub_say(struct hub *hub, const struct hub_message *job, enum hub_verb verb, uint64_t delay);

/* ---- into and out of streams ---- */

/* Publishes a message and waits for the server's acknowledgement, 5 s and 2 s more for each MiB.
 * `first`: refused with HUB_THERE where the subject has a message. `headers` end with a NULL name.
 */
enum hub_answer hub_publish(struct hub *hub, const char *subject, const struct hub_header *headers,
                            const void *data, size_t size, bool first, struct fault *fault);

/* The result of an id, from DONE. HUB_OK, HUB_NONE, HUB_MISSING, HUB_UNCLEAR, HUB_OTHER. Waits up
 * to 5 s. */
enum hub_answer hub_result(struct hub *hub, const char *id, struct hub_message *message,
                           struct fault *fault);

#endif
