#include "daemon/work/events.h"

#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "daemon/work/job.h"

void events_add(struct events *events, const char *kind, json_t *what)
{
    char now[32];
    time_t seconds = time(NULL);
    struct tm utc;
    strftime(now, sizeof now, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&seconds, &utc));
    if (what)
        json_object_set_new(what, "time", json_string(now));
    char *text = what ? json_dumps(what, JSON_COMPACT | JSON_REAL_PRECISION(9)) : NULL;
    struct event *event = &events->list[events->next % EVENTS_KEPT];
    json_decref(what);
    if (!text)
        return;
    free(event->text);
    *event = (struct event){kind, text};
    events->next++;
}

/* A text that JSON can hold; names of files may be any bytes. */
static json_t *string_or_null(const char *text)
{
    json_t *json = text ? json_string(text) : NULL;
    return json ? json : json_null();
}

void events_add_job(struct events *events, const char *kind, const struct job *job)
{
    if (!events)
        return;
    json_t *what = json_pack("{s:s, s:o, s:o, s:o, s:o}", "source", job->origin, "folder",
                             string_or_null(job->folder), "name",
                             string_or_null(job->folder ? job->label : NULL), "request",
                             string_or_null(job->request), "chain", string_or_null(job->chain));
    if (what && kind[0] != 'b' && job->sent > 0)
        json_object_set_new(what, "seconds",
                            json_real((double)(clock_now() - job->sent) / (double)SECOND));
    if (what && kind[0] == 'f') {
        json_object_set_new(what, "reason", json_string(fault_name(job->fault.code)));
        json_object_set_new(what, "message", string_or_null(job->fault.text));
    }
    events_add(events, kind, what);
}

const struct event *events_get(const struct events *events, uint64_t number)
{
    bool is_there = number < events->next && events->next - number <= EVENTS_KEPT;
    return is_there ? &events->list[number % EVENTS_KEPT] : NULL;
}

void events_finish(struct events *events)
{
    for (unsigned i = 0; i < EVENTS_KEPT; i++)
        free(events->list[i].text);
    *events = (struct events){0};
}
