/* Requests to JetStream over the hub's connection. */
#include <inttypes.h>
#include <jansson.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/clock.h"
#include "relay/hub_internal.h"

#define ASK_TIME    5000 /* milliseconds to wait for an answer */
#define FETCH_TIME  (10 * SECOND)
#define FETCH_LATE  (2 * SECOND) /* after so long without an answer a fetch is repeated */
#define SLICE       250          /* milliseconds between checks of `stopped` */
#define HEADER_ROOM (64 * 1024)

/* Servers before 2.10 do not give the time in their answers about streams and consumers. */
#define KNOWN_SINCE_2_10 "ts"

static enum hub_answer answer_of(natsStatus status, jsErrCode code, const char *what,
                                 struct fault *fault)
{
    if (status == NATS_OK)
        return HUB_OK;
    enum hub_answer answer = HUB_OTHER;
    const char *text = hub_error_text(status);
    if (code == JSStreamWrongLastSequenceErr)
        answer = HUB_THERE;
    else if (code == JSStreamStoreFailedErr && strstr(text, "per subject"))
        answer = HUB_THERE;
    else if (code == JSStreamStoreFailedErr || code == JSInsufficientResourcesErr ||
             code == JSStorageResourcesExceededErr)
        answer = HUB_FULL;
    else if (code == JSStreamMessageExceedsMaximumErr || status == NATS_MAX_PAYLOAD)
        answer = HUB_LARGE;
    else if (code == JSNoMessageFoundErr || status == NATS_NOT_FOUND)
        answer = HUB_NONE;
    else if (code == JSStreamNotFoundErr || code == JSConsumerNotFoundErr ||
             code == JSNotEnabledErr || code == JSNotEnabledForAccountErr ||
             status == NATS_NO_RESPONDERS)
        answer = HUB_MISSING;
    else if (code == 0 && status != NATS_ERR)
        answer = HUB_UNCLEAR;
    fault_set(fault, FAULT_IO, "%s: %.200s%s", what, text,
              status == NATS_NO_RESPONDERS ? ": no stream takes this subject" : "");
    return answer;
}

uint64_t hub_payload_max(struct hub *hub)
{
    pthread_rwlock_rdlock(&hub->lock);
    int64_t server = natsConnection_GetMaxPayload(hub->nats);
    pthread_rwlock_unlock(&hub->lock);
    uint64_t room = server > HEADER_ROOM ? (uint64_t)server - HEADER_ROOM : 0;
    return room < hub->settings->inline_max ? room : hub->settings->inline_max;
}

/* ---- what the streams are ---- */

/* Returns the answer's object, which the caller releases; NULL: *answer says why there is none. */
static json_t *ask(struct hub *hub, const char *subject, enum hub_answer *answer,
                   struct fault *fault)
{
    natsMsg *reply = NULL;
    pthread_rwlock_rdlock(&hub->lock);
    natsStatus status = natsConnection_Request(&reply, hub->nats, subject, NULL, 0, ASK_TIME);
    pthread_rwlock_unlock(&hub->lock);
    *answer = answer_of(status, 0, subject + strlen("$JS.API."), fault);
    if (status != NATS_OK)
        return NULL;
    json_t *object =
        json_loadb(natsMsg_GetData(reply), (size_t)natsMsg_GetDataLength(reply), 0, NULL);
    natsMsg_Destroy(reply);
    const json_t *error = json_object_get(object, "error");
    const char *text = json_string_value(json_object_get(error, "description"));
    json_int_t code = json_integer_value(json_object_get(error, "err_code"));
    if (json_is_object(object) && !error)
        return object;
    bool missing = code == JSStreamNotFoundErr || code == JSConsumerNotFoundErr;
    *answer = missing ? HUB_MISSING : HUB_OTHER;
    fault_set(fault, FAULT_IO, "%s: %s", subject + strlen("$JS.API."), text ? text : "no answer");
    json_decref(object);
    return NULL;
}

static enum hub_answer check_age(const json_t *object, struct fault *fault)
{
    if (json_object_get(object, KNOWN_SINCE_2_10))
        return HUB_OK;
    fault_set(fault, FAULT_NO_DEVICE,
              "the hub's nats-server is older than 2.10: it acknowledges what it may lose, and "
              "finished jobs stay in the stream; see docs/fleet.md");
    return HUB_OLD;
}

/* Checks settings of the consumer on which the relay relies. */
static void check_settings(const json_t *config, const struct relay_settings *settings,
                           struct hub_consumer *consumer)
{
    const char *policy = json_string_value(json_object_get(config, "ack_policy"));
    json_int_t deliver = json_integer_value(json_object_get(config, "max_deliver"));
    json_int_t pending = json_integer_value(json_object_get(config, "max_ack_pending"));
    const char *wrong = NULL;
    if (!policy || strcmp(policy, "explicit") != 0)
        wrong = "ack_policy is not explicit: jobs get lost";
    else if (deliver > 0)
        wrong = "max_deliver is not -1: jobs that it gives up stay in the stream, undone";
    else if (consumer->ack_wait < FETCH_TIME + 5 * SECOND)
        wrong = "ack_wait is below 15 s: what a machine without a link had asked for is sent to it "
                "again";
    else if (pending > 0 && pending < settings->jobs)
        wrong = "max_ack_pending is below this machine's jobs";
    if (wrong)
        snprintf(consumer->warning, sizeof consumer->warning, "consumer %.64s: %s",
                 settings->consumer, wrong);
}

enum hub_answer hub_look_at_consumer(struct hub *hub, struct hub_consumer *consumer,
                                     struct fault *fault)
{
    char subject[200];
    enum hub_answer answer;
    snprintf(subject, sizeof subject, "$JS.API.CONSUMER.INFO.%s.%s", hub->settings->stream,
             hub->settings->consumer);
    json_t *info = ask(hub, subject, &answer, fault);
    *consumer = (struct hub_consumer){.ack_wait = 30 * SECOND};
    if (!info)
        return answer;
    const json_t *config = json_object_get(info, "config");
    json_int_t wait = json_integer_value(json_object_get(config, "ack_wait"));
    if (wait > 0)
        consumer->ack_wait = (uint64_t)wait;
    check_settings(config, hub->settings, consumer);
    answer = check_age(info, fault);
    json_decref(info);
    return answer;
}

enum hub_answer hub_look_at_stream(struct hub *hub, struct fault *fault)
{
    char subject[100];
    enum hub_answer answer;
    snprintf(subject, sizeof subject, "$JS.API.STREAM.INFO.%s", hub->settings->stream);
    json_t *info = ask(hub, subject, &answer, fault);
    if (info)
        answer = check_age(info, fault);
    json_decref(info);
    return answer;
}

/* ---- messages ---- */

static void take(struct hub_message *message, natsMsg *native)
{
    *message = (struct hub_message){.subject = natsMsg_GetSubject(native),
                                    .data = natsMsg_GetData(native),
                                    .size = (size_t)natsMsg_GetDataLength(native),
                                    .native = native};
}

void hub_message_finish(struct hub_message *message)
{
    natsMsg_Destroy(message->native);
    *message = (struct hub_message){0};
}

bool hub_each_header(const struct hub_message *message,
                     void (*read)(void *context, const char *name, const char *value),
                     void *context)
{
    const char **names = NULL;
    int count = 0;
    natsStatus status = natsMsgHeader_Keys(message->native, &names, &count);
    for (int i = 0; status == NATS_OK && i < count; i++) {
        const char **values = NULL;
        int n = 0;
        natsMsgHeader_Values(message->native, names[i], &values, &n);
        for (int k = 0; k < n; k++)
            read(context, names[i], values[k]);
        free(values);
    }
    free(names);
    return status == NATS_OK || status == NATS_NOT_FOUND; /* there are none */
}

struct search {
    const char *name, *value;
};

static void compare_name(void *context, const char *name, const char *value)
{
    struct search *search = context;
    if (!search->value && strcasecmp(name, search->name) == 0)
        search->value = value;
}

const char *hub_header(const struct hub_message *message, const char *name)
{
    struct search search = {.name = name};
    hub_each_header(message, compare_name, &search);
    return search.value;
}

/* ---- jobs ---- */

void hub_mailbox_close(struct hub_mailbox *mailbox)
{
    natsSubscription_Destroy(mailbox->subscription);
    *mailbox = (struct hub_mailbox){0};
}

static natsStatus open_mailbox(struct hub *hub, struct hub_mailbox *mailbox)
{
    natsInbox *unique = NULL;
    natsSubscription *subscription = NULL;
    const char *prefix = hub->settings->inbox ? hub->settings->inbox : "_INBOX";
    natsStatus status = natsInbox_Create(&unique);
    if (status != NATS_OK)
        return status;
    snprintf(mailbox->inbox, sizeof mailbox->inbox, "%s%s", prefix, strrchr(unique, '.'));
    natsInbox_Destroy(unique);
    status = natsConnection_SubscribeSync(&subscription, hub->nats, mailbox->inbox);
    mailbox->subscription = subscription;
    mailbox->connection = hub->connections;
    mailbox->asked_until = 0;
    return status;
}

static natsStatus ask_for_job(struct hub *hub, struct hub_mailbox *mailbox)
{
    char subject[200], body[80];
    snprintf(subject, sizeof subject, "$JS.API.CONSUMER.MSG.NEXT.%s.%s", hub->settings->stream,
             hub->settings->consumer);
    int length = snprintf(body, sizeof body, "{\"batch\":1,\"expires\":%" PRIu64 "}", FETCH_TIME);
    natsStatus status =
        natsConnection_PublishRequest(hub->nats, subject, mailbox->inbox, body, length);
    if (status == NATS_OK)
        mailbox->asked_until = clock_now() + FETCH_TIME + FETCH_LATE;
    return status;
}

/* Waits for a moment for a job. Asks for one first, unless an earlier request may still be
 * answered. */
static natsStatus wait_for_job(struct hub *hub, struct hub_mailbox *mailbox, natsMsg **native)
{
    natsStatus status = NATS_OK;
    *native = NULL;
    pthread_rwlock_rdlock(&hub->lock);
    if (mailbox->subscription && mailbox->connection != hub->connections)
        hub_mailbox_close(mailbox); /* a restarted server does not know earlier requests */
    if (!mailbox->subscription)
        status = open_mailbox(hub, mailbox);
    if (status == NATS_OK && clock_now() >= mailbox->asked_until)
        status = ask_for_job(hub, mailbox);
    if (status == NATS_OK)
        status = natsSubscription_NextMsg(native, mailbox->subscription, SLICE);
    pthread_rwlock_unlock(&hub->lock);
    return status;
}

static enum hub_answer take_job(struct hub_message *message, natsMsg *native, struct fault *fault)
{
    const char *status, *text;
    jsMsgMetaData *meta = NULL;
    enum hub_answer answer = HUB_NONE; /* also for somebody else's message */
    if (natsMsg_GetReply(native) && natsMsg_GetMetaData(&meta, native) == NATS_OK) {
        take(message, native);
        message->delivery = meta->NumDelivered;
        message->behind = meta->NumPending;
        jsMsgMetaData_Destroy(meta);
        return HUB_OK;
    }
    /* A message that cannot be acknowledged is the server's answer that there is no job. The
     * library sets to NULL what it does not find. */
    if (natsMsgHeader_Get(native, "Status", &status) != NATS_OK)
        status = "404"; /* somebody else's message */
    if (natsMsgHeader_Get(native, "Description", &text) != NATS_OK)
        text = "";
    if (!natsMsg_GetReply(native) && strcmp(status, "404") != 0 && strcmp(status, "408") != 0) {
        fault_set(fault, FAULT_IO, "the server says %.20s %.200s", status, text);
        answer = HUB_OTHER;
    }
    natsMsg_Destroy(native);
    return answer;
}

enum hub_answer hub_fetch(struct hub *hub, struct hub_mailbox *mailbox, struct hub_message *message,
                          bool (*stopped)(void *context), void *context, struct fault *fault)
{
    natsMsg *native = NULL;
    natsStatus status;
    uint64_t end = clock_now() + FETCH_TIME + FETCH_LATE;
    *message = (struct hub_message){0};
    do {
        if (stopped(context) || clock_now() >= end) {
            /* Without a subscription the server drops the request. */
            hub_mailbox_close(mailbox);
            return HUB_NONE;
        }
        status = wait_for_job(hub, mailbox, &native);
    } while (status == NATS_TIMEOUT);
    mailbox->asked_until = 0; /* the request has been answered */
    if (status == NATS_OK)
        return take_job(message, native, fault);
    enum hub_answer answer = answer_of(status, 0, "fetch", fault);
    if (status != NATS_NO_RESPONDERS)
        hub_mailbox_close(mailbox);
    return answer;
}

void hub_say(struct hub *hub, const struct hub_message *job, enum hub_verb verb, uint64_t delay)
{
    static const char *const words[] = {
        [HUB_ACK] = "+ACK", [HUB_NAK] = "-NAK", [HUB_WORKING] = "+WPI", [HUB_TERM] = "+TERM"};
    char text[60];
    if (delay > 0)
        snprintf(text, sizeof text, "%s {\"delay\":%" PRIu64 "}", words[verb], delay);
    else
        snprintf(text, sizeof text, "%s", words[verb]);
    pthread_rwlock_rdlock(&hub->lock);
    natsConnection_PublishString(hub->nats, natsMsg_GetReply(job->native), text);
    pthread_rwlock_unlock(&hub->lock);
}

/* ---- into and out of streams ---- */

/* A header is a single line. */
static natsStatus set_header(natsMsg *native, const struct hub_header *header)
{
    char *line = strdup(header->value);
    if (!line)
        return NATS_NO_MEMORY;
    for (char *c = line; *c; c++)
        if ((unsigned char)*c < ' ')
            *c = ' ';
    natsStatus status = natsMsgHeader_Set(native, header->name, line);
    free(line);
    return status;
}

enum hub_answer hub_publish(struct hub *hub, const char *subject, const struct hub_header *headers,
                            const void *data, size_t size, bool first, struct fault *fault)
{
    jsPubOptions options;
    jsErrCode code = 0;
    natsMsg *native = NULL;
    natsStatus status = natsMsg_Create(&native, subject, NULL, data, (int)size);
    for (; status == NATS_OK && headers->name; headers++)
        if (headers->value && headers->value[0])
            status = set_header(native, headers);
    jsPubOptions_Init(&options);
    options.MaxWait = ASK_TIME + (int64_t)(size >> 20) * 2000;
    options.ExpectNoMessage = first;
    pthread_rwlock_rdlock(&hub->lock);
    if (status == NATS_OK)
        status = js_PublishMsg(NULL, hub->js, native, &options, &code);
    enum hub_answer answer = answer_of(status, code, "publish", fault);
    pthread_rwlock_unlock(&hub->lock);
    natsMsg_Destroy(native);
    return answer;
}

enum hub_answer hub_result(struct hub *hub, const char *id, struct hub_message *message,
                           struct fault *fault)
{
    char subject[100];
    natsMsg *native = NULL;
    jsErrCode code = 0;
    jsOptions options;
    natsStatus status = NATS_OK;
    bool direct = hub->no_get;
    snprintf(subject, sizeof subject, "sluice.done.%s", id);
    *message = (struct hub_message){0};
    jsOptions_Init(&options);
    options.Wait = ASK_TIME;
    pthread_rwlock_rdlock(&hub->lock);
    if (!direct)
        status = js_GetLastMsg(&native, hub->js, "DONE", subject, &options, &code);
    if (direct || (status != NATS_OK && hub->no_get)) {
        jsDirectGetMsgOptions how;
        jsDirectGetMsgOptions_Init(&how);
        how.LastBySubject = subject;
        code = 0;
        status = js_DirectGetMsg(&native, hub->js, "DONE", &options, &how);
    }
    enum hub_answer answer = answer_of(status, code, "DONE", fault);
    pthread_rwlock_unlock(&hub->lock);
    if (answer == HUB_OK)
        take(message, native);
    if (answer == HUB_NONE)
        fault_clear(fault);
    return answer;
}

/* ---- ids of jobs ---- */

bool job_is_word(const char *text)
{
    size_t length = strlen(text);
    return length > 0 && length <= JOB_WORD_MAX &&
           strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-") ==
               length;
}

int digest_text(const void *data, size_t size, char text[DIGEST_TEXT_MAX], struct fault *fault)
{
    unsigned char digest[EVP_MAX_MD_SIZE];
    if (EVP_Digest(data, size, digest, NULL, EVP_sha256(), NULL) != 1)
        return fault_set(fault, FAULT_MEMORY, "no SHA-256 of %zu bytes", size);
    for (int i = 0; i < 32; i++)
        snprintf(text + 2 * i, 3, "%02x", digest[i]);
    return 0;
}
