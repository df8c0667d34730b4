/* A job's way through the relay, in the order that docs/fleet.md gives. The state is in the stream
 * only: a job whose result is not acknowledged is begun again, here or on another machine. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/sealed.h"
#include "relay/relay.h"

#define LOOKUP_TIME (30 * SECOND)
#define ALONE_TIME  (60 * SECOND) /* that a suspect waits for the other jobs to end */

bool relay_wait(const struct relay *relay, uint64_t until, bool stop)
{
    while (clock_now() < until && !relay->giving_back && !(stop && relay->stopping))
        clock_sleep(SECOND / 20);
    return !relay->giving_back && !(stop && relay->stopping);
}

/* The pause before the n-th further attempt, from 0: 1 s, 5 s, 30 s, then 2 min. */
static uint64_t pause_before(unsigned n)
{
    static const uint64_t delays[] = {1 * SECOND, 5 * SECOND, 30 * SECOND, 120 * SECOND};
    size_t last = sizeof delays / sizeof *delays - 1;
    return delays[n < last ? n : last];
}

uint64_t relay_short_delay(unsigned n)
{
    return pause_before(n < 2 ? n : 2);
}

void slot_step(struct slot *slot, const char *step, uint64_t time)
{
    pthread_mutex_lock(&slot->lock);
    slot->step = step;
    slot->limit = clock_now() + time;
    pthread_mutex_unlock(&slot->lock);
    log_debug("%s: %s", slot->message.subject, step);
}

/* ---- pictures and results by URL ---- */

static bool is_giving_back(void *context)
{
    return ((struct slot *)context)->relay->giving_back;
}

static void give_memory(struct slot *slot)
{
    atomic_fetch_sub(&slot->relay->held, slot->held);
    slot->held = 0;
}

/* The same bound as the daemon's for bodies: one picture of the largest size, and as much memory as
 * pictures may take. */
static bool take_memory(void *context, size_t bytes)
{
    struct slot *slot = context;
    const struct settings *settings = slot->relay->settings;
    uint64_t held = atomic_fetch_add(&slot->relay->held, bytes) + bytes;
    slot->held += bytes;
    return held <= settings->max_file + settings->memory;
}

static enum store_answer get_once(struct slot *slot, struct fault *fault)
{
    struct figures *figures = &slot->relay->figures;
    uint64_t begun = clock_now();
    give_memory(slot);
    if (ftruncate(slot->input, 0) != 0 || lseek(slot->input, 0, SEEK_SET) != 0) {
        fault_set_errno(fault, FAULT_MEMORY, "memory file");
        return STORE_LATER;
    }
    enum store_answer answer = store_get(slot->store, slot->job.source, slot->input,
                                         slot->relay->settings->max_file, take_memory, fault);
    if (answer == STORE_DONE) {
        slot->get_time = clock_now() - begun;
        atomic_fetch_add(&figures->gets, 1);
        atomic_fetch_add(&figures->get_time, slot->get_time);
    }
    return answer;
}

static enum store_answer put_once(struct slot *slot, struct fault *fault)
{
    struct figures *figures = &slot->relay->figures;
    uint64_t begun = clock_now();
    enum store_answer answer =
        store_put(slot->store, slot->job.result, slot->output, slot->size, slot->media_type, fault);
    if (answer == STORE_DONE) {
        atomic_fetch_add(&figures->puts, 1);
        atomic_fetch_add(&figures->put_time, clock_now() - begun);
    }
    return answer;
}

/* Waits here for faults that may pass, however long the store is away, so that a problem of the
 * store does not use up deliveries of the job. */
static enum step_end transfer(struct slot *slot, const char *step, const char *url, uint64_t bytes,
                              enum store_answer (*once)(struct slot *slot, struct fault *fault),
                              struct fault *fault)
{
    uint64_t time = (90 + (bytes >> 20)) * SECOND; /* what store.h allows, and some more */
    char shown[300];
    for (unsigned n = 0;; n++) {
        slot_step(slot, step, time);
        enum store_answer answer = once(slot, fault);
        if (answer == STORE_DONE)
            return STEP_DONE;
        if (answer == STORE_NEVER)
            return STEP_FAILED;
        if (slot->relay->stopping)
            return STEP_BACK;
        if (fault->code == FAULT_MEMORY || fault->code == FAULT_NO_SPACE)
            return STEP_ELSEWHERE;
        log_warning("%s: %s: %s; tried again in %.0f s", slot->message.subject,
                    hub_show_url(url, shown, sizeof shown), fault->text,
                    (double)relay_short_delay(n) * 1e-9);
        fault_clear(fault);
        atomic_fetch_add(&slot->relay->figures.retries, 1);
        slot_step(slot, "waiting for the store", relay_short_delay(n) + 10 * SECOND);
        if (!relay_wait(slot->relay, clock_now() + relay_short_delay(n), true))
            return STEP_BACK;
    }
}

/* ---- jobs that may have killed a machine ---- */

/* From its third delivery on a job is computed while this machine has no other, so that other jobs
 * lose no delivery if the machine dies of it. */
static bool is_suspect(const struct slot *slot)
{
    return slot->message.delivery > 2;
}

/* Suspects that are on a machine together come back together after it died. Their order is reversed
 * at each delivery, so that of two each is computed first once, and an innocent one gets its
 * result. Called with the other slot's lock held. */
static bool comes_before(const struct slot *other, const struct slot *slot)
{
    uint64_t theirs = other->message.delivery, ours = slot->message.delivery;
    int order = strcmp(other->message.subject, slot->message.subject);
    if (theirs != ours)
        return theirs < ours;
    return ours % 2 ? order < 0 : order > 0;
}

static bool has_turn(struct slot *slot)
{
    struct relay *relay = slot->relay;
    bool turn = true;
    for (size_t i = 0; i < relay->n_slots && turn; i++) {
        struct slot *other = &relay->slots[i];
        if (other == slot)
            continue;
        pthread_mutex_lock(&other->lock);
        turn = !other->holds || (is_suspect(other) && !other->alone && !comes_before(other, slot));
        pthread_mutex_unlock(&other->lock);
    }
    return turn;
}

static enum step_end compute_alone(struct slot *slot, struct fault *fault)
{
    uint64_t until = clock_now() + ALONE_TIME;
    slot_step(slot, "waiting to be alone", ALONE_TIME + LOOKUP_TIME);
    while (!has_turn(slot) && clock_now() < until)
        if (!relay_wait(slot->relay, clock_now() + SECOND / 20, true))
            return STEP_BACK;
    pthread_mutex_lock(&slot->lock);
    slot->alone = true;
    pthread_mutex_unlock(&slot->lock);
    return slot_compute(slot, fault);
}

/* ---- steps ---- */

static int check_digest(const struct slot *slot, struct fault *fault)
{
    char digest[DIGEST_TEXT_MAX];
    struct bytes bytes;
    if (!slot->job.sha256)
        return 0;
    if (!sealed_map(slot->input, UINT64_MAX, &bytes))
        return fault_set(fault, FAULT_EMPTY, "the picture has no bytes");
    int result = digest_text(bytes.data, bytes.size, digest, fault);
    sealed_unmap(&bytes);
    if (result == 0 && strcasecmp(digest, slot->job.sha256) != 0)
        result = fault_set(fault, FAULT_DATA, "the picture's SHA-256 is %s, not %s", digest,
                           slot->job.sha256);
    return result;
}

/* Loads the picture into a sealed memory file, which the daemon uses in place. */
static enum step_end load_picture(struct slot *slot, struct fault *fault)
{
    enum step_end end = STEP_DONE;
    slot->input = sealed_create("sluice-picture");
    if (slot->input < 0) {
        fault_set_errno(fault, FAULT_MEMORY, "memfd_create");
        return STEP_ELSEWHERE;
    }
    if (slot->job.source)
        end = transfer(slot, "downloading", slot->job.source, slot->relay->settings->max_file,
                       get_once, fault);
    else if (file_write(slot->input, slot->message.data, slot->message.size, fault) != 0)
        end = STEP_ELSEWHERE;
    if (end != STEP_DONE)
        return end;
    sealed_finish(slot->input);
    slot_step(slot, "downloaded", LOOKUP_TIME);
    return check_digest(slot, fault) == 0 ? STEP_DONE : STEP_FAILED;
}

static enum step_end put_result(struct slot *slot, struct fault *fault)
{
    if (!slot->job.result)
        return STEP_DONE;
    enum step_end end = transfer(slot, "put begun", slot->job.result, slot->size, put_once, fault);
    if (end == STEP_DONE)
        slot_step(slot, "put ended", LOOKUP_TIME);
    return end;
}

/* From the message to a result that is stored. */
static enum step_end do_job(struct slot *slot, struct fault *fault)
{
    struct hub_message earlier;
    struct fault ignored = FAULT_INIT; /* the commit point decides without the answer */
    char why[60];
    slot_step(slot, "fetched", LOOKUP_TIME);
    if (!job_read_subject(&slot->job, slot->message.subject))
        return slot_bury(slot, "its subject is not sluice.jobs.CLASS.ID", fault);
    enum hub_answer answer = hub_result(slot->relay->hub, slot->job.id, &earlier, &ignored);
    hub_message_finish(&earlier);
    if (answer == HUB_OK)
        return STEP_DONE; /* an earlier delivery ended between storing the result and the
                             acknowledgement */
    if (answer == HUB_MISSING) {
        slot->relay->usable = false;
        fault_set(fault, FAULT_NO_DEVICE, "there is no stream DONE");
        return STEP_ELSEWHERE;
    }
    if (slot->message.delivery > (uint64_t)slot->relay->settings->relay.deliveries) {
        snprintf(why, sizeof why, "no verdict after %llu deliveries",
                 (unsigned long long)slot->message.delivery - 1);
        return slot_bury(slot, why, fault);
    }
    enum step_end end =
        job_read(&slot->job, &slot->message, &slot->relay->settings->relay, fault) == 0
            ? STEP_DONE
            : STEP_FAILED;
    if (end == STEP_DONE)
        end = load_picture(slot, fault);
    if (end == STEP_DONE)
        end = is_suspect(slot) ? compute_alone(slot, fault) : slot_compute(slot, fault);
    if (end == STEP_DONE)
        end = put_result(slot, fault);
    return end == STEP_DONE || end == STEP_FAILED ? slot_commit(slot, fault) : end;
}

/* ---- around a job ---- */

static void end_job(struct slot *slot, enum step_end end, const struct fault *fault)
{
    struct relay *relay = slot->relay;
    const char *subject = slot->message.subject;
    uint64_t delay = pause_before((unsigned)slot->message.delivery - 1);
    switch (end) {
    case STEP_DONE:
    case STEP_FAILED:
        relay->troubles = 0;
        hub_say(relay->hub, &slot->message, HUB_ACK, 0);
        log_debug("%s: acknowledged", subject);
        break;
    case STEP_BURIED:
        hub_say(relay->hub, &slot->message, HUB_TERM, 0);
        break;
    case STEP_ELSEWHERE:
        /* if jobs fail here one after the other, this machine asks for no more for a while */
        relay->pause_until = clock_now() + pause_before(atomic_fetch_add(&relay->troubles, 1));
        atomic_fetch_add(&relay->figures.given_back, 1);
        log_warning("%s: delivery %llu: given back for %.0f s: %s: %s", subject,
                    (unsigned long long)slot->message.delivery, (double)delay * 1e-9,
                    fault_name(fault->code), fault->text);
        hub_say(relay->hub, &slot->message, HUB_NAK, delay);
        break;
    case STEP_BACK:
        atomic_fetch_add(&relay->figures.given_back, 1);
        log_info("%s: given back, since the relay is ending", subject);
        hub_say(relay->hub, &slot->message, HUB_NAK, 0);
        break;
    }
}

static void hold(struct slot *slot, struct hub_message *message)
{
    pthread_mutex_lock(&slot->lock);
    slot->message = *message;
    slot->holds = true;
    slot->alone = false;
    slot->step = "fetched";
    slot->limit = clock_now() + LOOKUP_TIME;
    pthread_mutex_unlock(&slot->lock);
    atomic_fetch_add(&slot->relay->suspects, is_suspect(slot));
    slot->input = slot->output = -1;
    slot->media_type[0] = '\0';
    slot->size = slot->get_time = 0;
}

static void let_go(struct slot *slot)
{
    atomic_fetch_sub(&slot->relay->suspects, is_suspect(slot));
    pthread_mutex_lock(&slot->lock);
    slot->holds = false;
    hub_message_finish(&slot->message);
    pthread_mutex_unlock(&slot->lock);
    file_close(&slot->input);
    file_close(&slot->output);
    free(slot->timings);
    slot->timings = NULL;
    give_memory(slot);
}

static bool may_not_fetch(void *context)
{
    const struct relay *relay = ((struct slot *)context)->relay;
    return relay->stopping || !relay->ready || !relay->usable || relay->suspects > 0 ||
           !hub_is_up(relay->hub) || clock_now() < relay->pause_until;
}

/* Returns false when there was no job. */
static bool take_job(struct slot *slot)
{
    struct relay *relay = slot->relay;
    struct fault fault = FAULT_INIT;
    struct hub_message message;
    enum hub_answer answer =
        hub_fetch(relay->hub, &slot->mailbox, &message, may_not_fetch, slot, &fault);
    if (answer == HUB_MISSING)
        relay->usable = false; /* main then checks the streams, and logs */
    else if (answer == HUB_OTHER)
        log_debug("fetch: %s", fault.text);
    if (answer == HUB_OTHER || answer == HUB_UNCLEAR)
        relay_wait(relay, clock_now() + SECOND, true);
    atomic_store(&relay->figures.behind, message.behind);
    if (answer != HUB_OK)
        return false;
    if (message.delivery > 1)
        atomic_fetch_add(&relay->figures.redelivered, 1);
    hold(slot, &message);
    return true;
}

void *slot_run(void *argument)
{
    struct slot *slot = argument;
    struct relay *relay = slot->relay;
    struct fault fault = FAULT_INIT;
    slot->socket = -1;
    if (store_create(&slot->store, is_giving_back, slot, &fault) != 0)
        log_error("%s", fault.text);
    while (slot->store && !relay->stopping) {
        if (may_not_fetch(slot)) {
            hub_mailbox_close(&slot->mailbox);
            relay_wait(relay, clock_now() + SECOND / 10, true);
        } else if (take_job(slot)) {
            fault_clear(&fault);
            end_job(slot, do_job(slot, &fault), &fault);
            let_go(slot);
        }
    }
    hub_mailbox_close(&slot->mailbox);
    file_close(&slot->socket);
    store_destroy(&slot->store);
    atomic_fetch_sub(&relay->n_running, 1);
    return NULL;
}
