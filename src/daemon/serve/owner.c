#include "daemon/serve/owner.h"

#include <inttypes.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"

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
