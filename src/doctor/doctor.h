/* The findings, for doctor.c and doctor_opencl.c alone. */
#ifndef SLUICE_DOCTOR_H
#define SLUICE_DOCTOR_H

#include "base/text.h"
#include "config/config.h"
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

enum doctor_level {
    DOCTOR_OK,
    DOCTOR_WARNING, /* it works, but could work better */
    DOCTOR_PROBLEM, /* something will not work */
};

#define DOCTOR_GROUPS_MAX 64
#define DOCTOR_LOAD_LIMIT 60 /* seconds that a program or driver may take to load */

struct doctor {
    const char *file;     /* the configuration file; NULL: there is none */
    struct config config; /* as far as it could be read, else defaults */
    /* The user of the daemon: access is checked for this user. */
    char user[64];
    uid_t uid;
    gid_t groups[DOCTOR_GROUPS_MAX];
    int n_groups;

    json_t *findings; /* an array: check, level, text, fix */
    unsigned warnings, problems;
};

/* Adds a finding. `check` is a word for programs that never changes; `fix` is one line, NULL if
 * there is nothing to do. */
void doctor_find(struct doctor *doctor, enum doctor_level level, const char *check, const char *fix,
                 const char *format, ...) __attribute__((format(printf, 5, 6)));

/* Formats a text for a finding. It is valid for the next few calls. */
const char *doctor_text(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Calls `look` for each entry of the folder whose name matches the pattern of fnmatch(3), by name.
 * Returns how many there are. */
unsigned doctor_look_into(struct doctor *doctor, const char *folder, const char *pattern,
                          void (*look)(struct doctor *doctor, const char *path));

/* Runs `work` in a child, which writes what it has to say to the pipe, for at most `limit` seconds.
 * Returns its exit status, or minus the signal that ended it. */
int doctor_apart(int (*work)(void *context, FILE *out), void *context, unsigned limit, char *said,
                 size_t size);

void doctor_look_at_loader(struct doctor *doctor);
void doctor_look_at_device(struct doctor *doctor);

#endif
