/* Shared by doctor.c and doctor_*.c alone: what sluice doctor has found, and the parts that look.
 */
#ifndef SLUICE_DOCTOR_H
#define SLUICE_DOCTOR_H

#include "base/text.h"
#include "config/config.h"
#include <jansson.h>
#include <stdbool.h>
#include <sys/types.h>

enum doctor_level {
    DOCTOR_OK,
    DOCTOR_WARNING, /* it works, but not as well as it could */
    DOCTOR_PROBLEM, /* something will not work */
};

#define DOCTOR_GROUPS_MAX 64

struct doctor {
    const char *file;     /* of the configuration; NULL: there is none */
    struct config config; /* what could be read of it, or defaults */
    bool config_good;
    /* Whom the daemon runs as: who may open what is told for this user. */
    char user[64];
    uid_t uid;
    gid_t groups[DOCTOR_GROUPS_MAX];
    int n_groups;

    json_t *findings; /* an array: check, level, text, fix */
    unsigned warnings, problems;
};

/* Adds a finding. `check` is a stable word for programs; `fix`, one line, is NULL where nothing is
 * to be done. */
void doctor_find(struct doctor *doctor, enum doctor_level level, const char *check, const char *fix,
                 const char *format, ...) __attribute__((format(printf, 5, 6)));

/* A text made for one finding: valid for the next few calls. */
const char *doctor_text(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Whether the user may do all of `access` (bits 4, 2, 1) to the file, by its owner, group and mode.
 */
bool doctor_may(const struct doctor *doctor, const char *path, unsigned access);

void doctor_look_at_loader(struct doctor *doctor);
void doctor_look_at_device(struct doctor *doctor);
void doctor_look_at_nodes(struct doctor *doctor);
void doctor_look_at_kernel(struct doctor *doctor);
void doctor_look_at_inotify(struct doctor *doctor);
void doctor_look_at_worker(struct doctor *doctor);
void doctor_look_at_cache(struct doctor *doctor);
void doctor_look_at_folders(struct doctor *doctor);

#endif
