#include "daemon/serve/pace.h"

#include "base/clock.h"

#define TURN (2 * MILLISECOND)

static void on_idle(uv_idle_t *idle)
{
}

static void append(struct pace *pace, struct pace_user *user)
{
    TAILQ_INSERT_TAIL(&pace->users, user, next);
}

bool pace_enter(struct pace *pace, struct pace_user *user, struct pace_entry *entry)
{
    if (entry->user)
        return false;
    if (TAILQ_EMPTY(&pace->users) && !pace_is_over(pace))
        return true;
    if (TAILQ_EMPTY(&user->entries))
        append(pace, user);
    TAILQ_INSERT_TAIL(&user->entries, entry, next);
    entry->user = user;
    uv_idle_start(&pace->idle, on_idle);
    return false;
}

void pace_leave(struct pace *pace, struct pace_entry *entry)
{
    struct pace_user *user = entry->user;
    if (!user)
        return;
    TAILQ_REMOVE(&user->entries, entry, next);
    entry->user = NULL;
    if (TAILQ_EMPTY(&user->entries))
        TAILQ_REMOVE(&pace->users, user, next);
}

void pace_begin(struct pace *pace)
{
    pace->since = clock_now();
}

void pace_end(struct pace *pace)
{
    pace->spent += clock_now() - pace->since;
    pace->since = 0;
}

bool pace_is_over(const struct pace *pace)
{
    return pace->spent + (pace->since ? clock_now() - pace->since : 0) >= TURN;
}

/* Once a turn, after sockets and timers had theirs: one entry of each user after the other. */
static void on_turn(uv_check_t *check)
{
    struct pace *pace = check->data;
    struct pace_user *user;
    pace->spent = 0;
    while ((user = TAILQ_FIRST(&pace->users)) != NULL && !pace_is_over(pace)) {
        struct pace_entry *entry = TAILQ_FIRST(&user->entries);
        pace_leave(pace, entry);
        if (!TAILQ_EMPTY(&user->entries)) {
            TAILQ_REMOVE(&pace->users, user, next);
            append(pace, user);
        }
        entry->run(entry);
    }
    if (TAILQ_EMPTY(&pace->users))
        uv_idle_stop(&pace->idle);
}

void pace_init(struct pace *pace, uv_loop_t *loop)
{
    TAILQ_INIT(&pace->users);
    pace->check.data = pace;
    uv_check_init(loop, &pace->check);
    uv_idle_init(loop, &pace->idle);
    uv_check_start(&pace->check, on_turn);
}

void pace_close(struct pace *pace)
{
    uv_close((uv_handle_t *)&pace->check, NULL);
    uv_close((uv_handle_t *)&pace->idle, NULL);
}
