#include "daemon/serve/account.h"

#include <inttypes.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/number.h"

/* ---- who counts as whom ---- */

#define LINE_MAX_BYTES 512
#define RANGES_MAX     65536

static bool find_user(const char *file, const char *name, uid_t *uid)
{
    FILE *users = fopen(file, "re");
    const struct passwd *user = NULL;
    while (users && (user = fgetpwent(users)) != NULL && strcmp(user->pw_name, name) != 0)
        ;
    if (user)
        *uid = user->pw_uid;
    if (users)
        fclose(users);
    return user;
}

/* A line is NAME:START:COUNT, where NAME may be a number. */
static bool read_range(const struct owners *owners, char *line, struct owner_range *range)
{
    char *rest = line, *end;
    const char *name = strsep(&rest, ":");
    if (!name || !name[0] || !rest ||
        sscanf(rest, "%" SCNu32 ":%" SCNu32, &range->start, &range->count) != 2 ||
        range->count == 0)
        return false;
    unsigned long number = strtoul(name, &end, 10);
    if (*end == '\0')
        range->owner = (uid_t)number;
    else if (!find_user(owners->users_file, name, &range->owner))
        range->owner = (uid_t)range->start;
    return true;
}

uid_t owner_of(struct owners *owners, uid_t uid)
{
    char line[LINE_MAX_BYTES];
    struct stat status;
    uint64_t now = clock_now();
    bool due = !owners->looked || now - owners->looked >= SECOND;
    if (due && stat(owners->ranges_file, &status) != 0)
        memset(&status, 0, sizeof status);
    if (due)
        owners->looked = now;
    if (due && (status.st_mtim.tv_sec != owners->changed.tv_sec ||
                status.st_mtim.tv_nsec != owners->changed.tv_nsec)) { /* they are read anew */
        owners->changed = status.st_mtim;
        owners->n_ranges = 0;
        FILE *file = fopen(owners->ranges_file, "re");
        while (file && owners->n_ranges < RANGES_MAX && fgets(line, sizeof line, file)) {
            struct owner_range range;
            if (!read_range(owners, line, &range))
                continue;
            struct owner_range *more =
                reallocarray(owners->ranges, owners->n_ranges + 1, sizeof *more);
            if (!more)
                break;
            owners->ranges = more;
            owners->ranges[owners->n_ranges++] = range;
        }
        if (file)
            fclose(file);
    }
    for (size_t i = 0; i < owners->n_ranges; i++) {
        const struct owner_range *range = &owners->ranges[i];
        if (uid >= range->start && uid - range->start < range->count)
            return range->owner;
    }
    return uid;
}

void owners_finish(struct owners *owners)
{
    free(owners->ranges);
    owners->ranges = NULL;
    owners->n_ranges = 0;
}

/* ---- the loop's time ---- */

#define TURN (2 * MILLISECOND)

static void on_turn(uv_check_t *check);

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
    uv_check_start(&pace->check, on_turn);
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
    if (!TAILQ_EMPTY(&pace->users))
        return;
    uv_idle_stop(&pace->idle);
    if (pace->spent == 0)
        uv_check_stop(check);
}

void pace_init(struct pace *pace, uv_loop_t *loop)
{
    TAILQ_INIT(&pace->users);
    pace->check.data = pace;
    uv_check_init(loop, &pace->check);
    uv_idle_init(loop, &pace->idle);
}

void pace_close(struct pace *pace)
{
    uv_close((uv_handle_t *)&pace->check, NULL);
    uv_close((uv_handle_t *)&pace->idle, NULL);
}

/* ---- accounts ---- */

/* A user may always have one of so many places in the queue, even if others have taken all. */
#define PLACES_PART 16

void shares_init(struct shares *shares, uv_loop_t *loop)
{
    LIST_INIT(&shares->accounts);
    shares->owners = (struct owners){.ranges_file = "/etc/subuid", .users_file = "/etc/passwd"};
    pace_init(&shares->pace, loop);
}

void shares_finish(struct shares *shares)
{
    owners_finish(&shares->owners);
    pace_close(&shares->pace);
}

struct account *account_of(struct shares *shares, uid_t uid)
{
    struct account *account;
    LIST_FOREACH (account, &shares->accounts, in_list)
        if (account->uid == uid)
            break;
    if (!account && (account = calloc(1, sizeof *account)) != NULL) {
        account->uid = uid;
        account->flow.user = &account->flow;
        TAILQ_INIT(&account->pace.entries);
        LIST_INSERT_HEAD(&shares->accounts, account, in_list);
    }
    if (account)
        account->n_uses++;
    return account;
}

void account_leave(struct account *account)
{
    if (!account || --account->n_uses > 0)
        return;
    LIST_REMOVE(account, in_list);
    free(account);
}

bool account_take(struct shares *shares, struct account *account, uint64_t own, uint64_t bytes)
{
    uint64_t total = shares->bytes_max;
    bool fits = shares->bytes + bytes <= total;
    if (account->bytes > own)
        fits &= account->bytes + bytes <= account_share(total, shares->bytes - account->bytes);
    if (!fits)
        return false;
    shares->bytes += bytes;
    account->bytes += bytes;
    return true;
}

void account_give(struct shares *shares, struct account *account, uint64_t bytes)
{
    shares->bytes -= bytes;
    account->bytes -= bytes;
}

void account_count_result(struct shares *shares, struct account *account, int64_t bytes)
{
    shares->bytes += (uint64_t)bytes;
    account->bytes += (uint64_t)bytes;
    account->results += (uint64_t)bytes;
}

int account_check_results(const struct shares *shares, const struct account *account,
                          struct fault *fault)
{
    if (account->results <= shares->memory / 2)
        return 0;
    return fault_set(fault, FAULT_BUSY,
                     "results of %s wait to be read by this user's clients (half of memory %s)",
                     number_size(account->results), number_size(shares->memory));
}

int account_check_queue(const struct shares *shares, const struct account *account,
                        struct fault *fault)
{
    const struct queue *queue = shares->queue;
    unsigned others = queue->n_client_jobs - account->n_jobs;
    if (queue->draining)
        return fault_set(fault, FAULT_BUSY, "the daemon is ending");
    if (account->n_jobs == 0 || account->n_jobs < queue->limit / PLACES_PART)
        return 0;
    if (queue_room(queue, true) == 0)
        return fault_set(fault, FAULT_BUSY, "the queue is full (%u jobs); try later", queue->limit);
    if (others > 0 && account->n_jobs >= account_share(queue->limit, others))
        return fault_set(fault, FAULT_BUSY,
                         "the queue (%u jobs) has %u of this user and %u of others; try later",
                         queue->limit, account->n_jobs, others);
    return 0;
}
