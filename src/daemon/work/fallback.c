#include "daemon/work/fallback.h"

#include <string.h>

#include "base/clock.h"

/* A device that has worked for so long since its worker became ready counts as sound again. */
#define PROVEN_AFTER (600 * SECOND)

void fallback_init(struct fallback *fallback, const char *device, const char *setting)
{
    *fallback = (struct fallback){.rungs = {device}, .n_rungs = 1};
    if (!setting || strcmp(device, "reference") == 0)
        return;
    if (strcmp(setting, "reference") != 0 && strcmp(device, setting) != 0)
        fallback->rungs[fallback->n_rungs++] = setting;
    fallback->rungs[fallback->n_rungs++] = "reference";
}

const char *fallback_device(const struct fallback *fallback)
{
    return fallback->rungs[fallback->rung];
}

bool fallback_is_below(const struct fallback *fallback, unsigned rung)
{
    return rung > fallback->first;
}

bool fallback_step_down(struct fallback *fallback, unsigned rung, uint64_t now)
{
    static const uint64_t seconds[] = {30, 120, 600};
    if (rung == fallback->first) {
        bool proven = fallback->good_since && now - fallback->good_since >= PROVEN_AFTER;
        fallback->troubles = proven ? 1 : fallback->troubles + 1;
        fallback->good_since = 0;
    }
    if (rung + 1 >= fallback->n_rungs)
        return false;
    if (rung == fallback->first) {
        unsigned last = sizeof seconds / sizeof *seconds - 1, again = fallback->troubles - 1;
        fallback->retry_at = now + seconds[again < last ? again : last] * SECOND;
    }
    if (fallback->rung <= rung)
        fallback->rung = rung + 1;
    return true;
}

bool fallback_lose(struct fallback *fallback, unsigned rung, uint64_t now)
{
    bool other = fallback_step_down(fallback, rung, now);
    if (other && fallback->first <= rung) {
        fallback->first = rung + 1;
        fallback->retry_at = 0;
        fallback->troubles = 0;
    }
    return other;
}

void fallback_came_up(struct fallback *fallback, unsigned rung, uint64_t now)
{
    if (rung != fallback->first)
        return;
    fallback->retry_at = 0;
    fallback->good_since = now;
}

bool fallback_is_due(const struct fallback *fallback, uint64_t now)
{
    return fallback->retry_at != 0 && now >= fallback->retry_at;
}

void fallback_climb(struct fallback *fallback)
{
    fallback->rung = fallback->first;
}
