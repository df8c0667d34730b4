/* How a job ends for the whole fleet: with its result in DONE, or with the job in DEAD. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/sealed.h"
#include "relay/relay.h"

/* While the hub can be reached, and yet does not acknowledge. */
#define COMMIT_TIME (300 * SECOND)

#define HEADERS_MAX 40

/* Publishes until the server has the message. After a time-out it may have it, so publishing again
 * must be harmless, which `first` ensures. Problems that only the hub's operators can solve (a full
 * or missing stream) are waited for without a limit, since other machines would have them too; in
 * this way nothing is computed twice. */
static enum step_end publish(struct slot *slot, const char *subject,
                             const struct hub_header *headers, const void *data, size_t size,
                             enum hub_answer *answer, struct fault *fault)
{
    struct relay *relay = slot->relay;
    uint64_t since = clock_now();
    for (unsigned n = 0;; n++) {
        fault_clear(fault);
        *answer = hub_publish(relay->hub, subject, headers, data, size, true, fault);
        if (*answer == HUB_OK || *answer == HUB_THERE || (*answer == HUB_LARGE && size > 0))
            return STEP_DONE;
        bool waits = *answer == HUB_FULL || *answer == HUB_MISSING || !hub_is_up(relay->hub);
        if (!waits && clock_now() - since > COMMIT_TIME)
            return STEP_ELSEWHERE;
        if (*answer != HUB_UNCLEAR)
            log_warning("%s: not kept: %s; tried again in %.0f s", subject, fault->text,
                        (double)relay_short_delay(n) * 1e-9);
        slot_step(slot, "waiting for the hub", relay_short_delay(n) + 120 * SECOND);
        if (!relay_wait(relay,
                        clock_now() + (*answer == HUB_UNCLEAR ? SECOND : relay_short_delay(n)),
                        false))
            return STEP_BACK;
        while (!hub_is_up(relay->hub))
            if (!relay_wait(relay, clock_now() + SECOND / 10, false))
                return STEP_BACK;
    }
}

/* ---- DONE ---- */

static enum step_end publish_verdict(struct slot *slot, const struct fault *verdict,
                                     const struct bytes *result, enum hub_answer *answer,
                                     struct fault *fault)
{
    char subject[100], size[24], digest[DIGEST_TEXT_MAX];
    bool ok = verdict->code == FAULT_NONE;
    snprintf(subject, sizeof subject, "sluice.done.%s", slot->job.id);
    snprintf(size, sizeof size, "%zu", result->size);
    if (ok && digest_text(result->data, result->size, digest, fault) != 0)
        return STEP_ELSEWHERE;
    bool is_inline = ok && !slot->job.result;
    const struct hub_header headers[] = {
        {"Sluice-Status", ok ? "ok" : "failed"},
        {"Sluice-Code", ok ? NULL : fault_name(verdict->code)},
        {"Sluice-Text", ok ? NULL : verdict->text},
        {"Sluice-Media-Type", ok ? slot->media_type : NULL},
        {"Sluice-Size", ok ? size : NULL},
        {"Sluice-SHA256", ok ? digest : NULL},
        {"Sluice-Timings", ok ? slot->timings : NULL},
        {"Sluice-Machine", slot->relay->machine},
        {NULL, NULL},
    };
    return publish(slot, subject, headers, is_inline ? result->data : NULL,
                   is_inline ? result->size : 0, answer, fault);
}

static void count(struct slot *slot, const struct fault *verdict, enum hub_answer answer)
{
    struct figures *figures = &slot->relay->figures;
    if (answer == HUB_THERE) {
        atomic_fetch_add(&figures->refused, 1);
        log_info("%s: somebody else was first; this result is dropped", slot->message.subject);
    } else if (verdict->code == FAULT_NONE) {
        atomic_fetch_add(&figures->ok, 1);
    } else {
        atomic_fetch_add(&figures->failed, 1);
        log_info("%s: failed: %s: %s", slot->message.subject, fault_name(verdict->code),
                 verdict->text);
    }
}

static void check_size(const struct slot *slot, uint64_t size, uint64_t limit,
                       struct fault *verdict)
{
    if (!slot->job.result && size > limit)
        fault_set(verdict, FAULT_LIMIT,
                  "the result has %" PRIu64 " bytes, a message may hold %" PRIu64
                  " (relay.inline, and the server's max_payload); give the job a Sluice-Result URL",
                  size, limit);
}

enum step_end slot_commit(struct slot *slot, struct fault *fault)
{
    struct fault verdict = *fault, trouble = FAULT_INIT;
    struct bytes result = {0};
    enum hub_answer answer = HUB_OK;
    slot_step(slot, "sending the result", COMMIT_TIME);
    if (verdict.code == FAULT_NONE && !sealed_map(slot->output, UINT64_MAX, &result))
        fault_set(&verdict, FAULT_INTERNAL, "the daemon's result cannot be read");
    if (verdict.code == FAULT_NONE)
        check_size(slot, result.size, hub_payload_max(slot->relay->hub), &verdict);
    enum step_end end = publish_verdict(slot, &verdict, &result, &answer, &trouble);
    if (end == STEP_DONE && answer == HUB_LARGE) { /* the stream takes less than the server */
        check_size(slot, result.size, 0, &verdict);
        end = publish_verdict(slot, &verdict, &result, &answer, &trouble);
    }
    sealed_unmap(&result);
    if (end == STEP_DONE) {
        slot_step(slot, "the result is kept", 30 * SECOND);
        count(slot, &verdict, answer);
    } else {
        *fault = trouble;
    }
    return end;
}

/* ---- DEAD ---- */

struct copies {
    struct hub_header headers[HEADERS_MAX + 2]; /* ours, and the terminator */
    size_t count;
};

/* Headers of the server (Nats-…) belong to the stream that the message was in. */
static void copy_header(void *context, const char *name, const char *value)
{
    struct copies *copies = context;
    if (copies->count < HEADERS_MAX && strncasecmp(name, "Nats-", 5) != 0)
        copies->headers[copies->count++] = (struct hub_header){name, value};
}

static enum step_end put_into_dead(struct slot *slot, const char *why, struct fault *fault)
{
    const struct hub_message *job = &slot->message;
    struct copies copies = {0};
    enum hub_answer answer = HUB_OK;
    char subject[512];
    const char *rest = strncmp(job->subject, "sluice.jobs.", 12) == 0 ? job->subject + 12 : "-";
    snprintf(subject, sizeof subject, "sluice.dead.%s", rest);
    hub_each_header(job, copy_header, &copies);
    copies.headers[copies.count++] = (struct hub_header){"Sluice-Dead", why};
    enum step_end end =
        publish(slot, subject, copies.headers, job->data, job->size, &answer, fault);
    if (end == STEP_DONE && answer == HUB_LARGE) {
        log_error(
            "%s: its %zu bytes are too many for the stream DEAD, which gets its headers alone",
            job->subject, job->size);
        end = publish(slot, subject, copies.headers, NULL, 0, &answer, fault);
    }
    return end;
}

enum step_end slot_bury(struct slot *slot, const char *why, struct fault *fault)
{
    const struct hub_message *job = &slot->message;
    struct fault verdict = FAULT_INIT;
    struct bytes nothing = {0};
    enum hub_answer answer;
    slot_step(slot, "to DEAD", COMMIT_TIME);
    enum step_end end = put_into_dead(slot, why, fault);
    if (end != STEP_DONE)
        return end;
    log_error("%s: %s: it is in the stream DEAD", job->subject, why);
    atomic_fetch_add(&slot->relay->figures.dead, 1);
    fault_set(&verdict, FAULT_INTERRUPTED, "%s; the job is in the stream DEAD", why);
    if (!job_is_word(slot->job.id))
        return STEP_BURIED; /* there is no subject for the answer */
    end = publish_verdict(slot, &verdict, &nothing, &answer, fault);
    if (end == STEP_DONE)
        count(slot, &verdict, answer);
    return end == STEP_DONE ? STEP_BURIED : end;
}
