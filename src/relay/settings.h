/* What sluice-relay and sluice enqueue read of the configuration: its section `relay`. The daemon
 * only checks how it is written. Part of the configuration's library. */
#ifndef SLUICE_RELAY_SETTINGS_H
#define SLUICE_RELAY_SETTINGS_H

#include "base/fault.h"
#include "config/setting.h"
#include <stdint.h>

/* Lists are texts with blanks between items. */
struct relay_settings {
    const char *servers;     /* URLs of NATS servers; NULL: none */
    const char *credentials; /* file; NULL: none */
    const char *ca;          /* file of certificates; NULL: those of the system */
    const char *stream, *consumer;
    int64_t jobs_wanted;   /* 0: limits.jobs plus two */
    unsigned jobs;         /* at once; set by relay_settings_complete */
    int64_t deliveries;    /* after so many a job without a verdict goes to DEAD */
    uint64_t inline_max;   /* up to so many bytes a picture or result is part of a message */
    const char *get, *put; /* allowed prefixes of URLs; NULL: none */
    const char *name;      /* this machine's name in results; NULL: its host name */
    const char *metrics;   /* file; NULL: none */
    const char *inbox;     /* prefix of subjects for answers; NULL: _INBOX */
};

/* The rows of the section, with fields in struct relay_settings. */
extern const struct setting relay_settings_table[];

/* `jobs`: those of the daemon. */
void relay_settings_complete(struct relay_settings *relay, unsigned jobs);

/* Checks the keys from number *at on. Returns 0 when they are right; otherwise
 * FAULT_CONFIG, the wrong key, and the number of the next key in *at. */
int relay_settings_check(const struct relay_settings *relay, size_t *at, const char **key,
                         struct fault *fault);

#endif
