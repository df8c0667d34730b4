/* What the daemon is told, wherever it was said: in the file, in the environment or on the command
 * line, the later before the earlier. One table for each section drives all three, and the
 * reference page (docs/configuration.md).
 *
 * Texts belong to the settings, or outlive them. Filled by one thread; then any may read. */
#ifndef SLUICE_CONFIG_SETTINGS_H
#define SLUICE_CONFIG_SETTINGS_H

#include "base/log.h"
#include "param/param.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum settings_exists {
    EXISTS_NUMBER,    /* the result is called photo-1.png */
    EXISTS_OVERWRITE, /* it replaces what has its name */
    EXISTS_FAIL,      /* the original goes to failed */
};

enum settings_originals {
    ORIGINALS_DONE, /* moved to done */
    ORIGINALS_DELETE,
    ORIGINALS_KEEP, /* back where it was; the ledger remembers */
};

enum settings_claim {
    CLAIM_RENAME, /* into the folder's .sluice/work */
    CLAIM_NONE,   /* it stays where it is: a folder that is not ours to write in */
};

enum settings_sync {
    SYNC_EACH,  /* every result and note by itself */
    SYNC_BATCH, /* the file system, once for all that end together */
    SYNC_OFF,   /* when the kernel pleases */
};

enum settings_mode {
    MODE_AUTO, /* inotify where it can see everything */
    MODE_INOTIFY,
    MODE_POLL,
};

enum settings_sandbox {
    SANDBOX_OFF,
    SANDBOX_AUTO,     /* what the kernel has */
    SANDBOX_REQUIRED, /* all of it, or no worker */
};

#define RETENTION_ALL UINT64_MAX

/* What of done or failed stays; RETENTION_ALL: everything. */
struct retention {
    uint64_t keep; /* bytes */
    uint64_t age;  /* nanoseconds */
};

/* Below either nothing new is claimed. */
struct free_space {
    double percent; /* of the file system */
    uint64_t bytes;
};

/* Where a text stands in the file, from 1; 0: it stands elsewhere. */
struct place {
    size_t line, column;
};

/* One watched folder. */
struct watch_settings {
    const char *input, *output; /* paths of directories; absolute after settings_complete */
    const char *chain;          /* its text */
    const char *chain_name;     /* as the file calls it; NULL: only the text is known */
    const char *format;
    const char *reading; /* how to read pictures, as --input says it; NULL: as usual */
    const char *name;    /* of results: a template */
    int on_exists, originals, claim, sync, mode; /* enums above */
    bool recursive;
    uint64_t settle; /* nanoseconds for which a closed file must be left alone */
    uint64_t stable; /* nanoseconds without a change that make a found file complete */
    struct retention done, failed;
    struct free_space min_free; /* the limit of all; settings_complete fills it in */
    const char **ignore;        /* patterns of names, ends with NULL; owned */
    struct place at;            /* of the entry in the file, and of some of its values */
    struct place input_at, output_at, chain_at, format_at, reading_at;
};

/* A socket to come; NULL: none. */
struct socket_settings {
    const char *unix_path, *mode, *group;
};

/* What sluice-relay and sluice enqueue are told; the daemon has no use for it. Lists are texts with
 * blanks between their items. */
struct relay_settings {
    const char *servers;     /* URLs of NATS servers; NULL: none */
    const char *credentials; /* file; NULL: none */
    const char *ca;          /* file of certificates; NULL: the system's */
    const char *stream, *consumer;
    int64_t jobs_wanted;   /* 0: limits.jobs and two more */
    unsigned jobs;         /* at once; settings_complete fills it in */
    int64_t deliveries;    /* after which a job without a verdict goes to DEAD */
    uint64_t inline_max;   /* bytes of a picture or result that is part of a message */
    const char *get, *put; /* prefixes of URLs that are allowed; NULL: no URLs */
    const char *name;      /* of this machine in results; NULL: its host name */
    const char *metrics;   /* file; NULL: none */
    const char *inbox;     /* prefix of the subjects of answers; NULL: _INBOX */
};

struct settings_text; /* a text that is owned */

struct settings {
    const char *file;     /* of the configuration; NULL: there is none */
    const char *device;   /* as --device says it */
    const char *fallback; /* where that one fails: "native", "cpu", "reference"; NULL: nothing */
    bool self_check;
    int sandbox;            /* enum settings_sandbox */
    int64_t worker_jobs;    /* that one worker does before it is replaced; 0: any number */
    uint64_t worker_time;   /* nanoseconds, likewise; 0: any time */
    uint64_t worker_growth; /* bytes that its memory may grow by, likewise; 0: by `memory` twice */
    uint64_t max_pixels, max_file, memory;
    int64_t jobs_wanted; /* 0: as many as processors */
    unsigned jobs;       /* at once; settings_complete fills it in */
    int64_t queue;       /* jobs that are held at once */
    uint64_t job_time;   /* nanoseconds that one may take */
    uint64_t shutdown;   /* nanoseconds that jobs are given at the end */
    struct free_space min_free;
    struct socket_settings http, jobs_socket;
    const char *state; /* directory; NULL: found by state.h */
    int log_level;     /* enum log_level */
    struct relay_settings relay;
    size_t n_watches;
    struct watch_settings *watches; /* owned */
    struct settings_text *texts;    /* owned */
};

/* One setting, wherever it is said. */
struct setting {
    struct param param;     /* the key in the file, and its field in the struct of the section */
    const char *option;     /* long option of sluiced; NULL: none */
    char letter;            /* its short form, or 0 */
    const char *value_name; /* in the help: "DIR" */
    const char *variable;   /* of the environment, where it is not SLUICE_SECTION_KEY */
    /* For what param.h has no type for: `text` to the field. */
    int (*parse)(const char *text, void *to, struct fault *fault);
    const char *allowed; /* for the reference, where the type does not say it */
    size_t place; /* of the struct place that remembers where the file says it; 0: none does */
};

/* Sections whose fields are in struct settings, and the keys of one entry of `watch`, whose fields
 * are in struct watch_settings. */
struct settings_section {
    const char *name;            /* "limits"; "" for keys at the top level */
    const struct setting *table; /* ends with an entry without a name */
    const char *help;
};
extern const struct settings_section settings_sections[]; /* ends with a NULL name */
extern const struct settings_section settings_watch;

/* The keys of done and failed, whose fields are in struct retention. */
extern const struct param settings_retention[];

void settings_defaults(struct settings *settings);
void settings_finish(struct settings *settings);

/* A folder of which nothing is told; its `ignore` is the caller's to free, NULL without memory. */
void watch_defaults(struct watch_settings *watch);

/* A copy that lives as long as the settings; NULL without memory. */
const char *settings_keep(struct settings *settings, const char *text);

/* Sets one from its text; `bare_allowed` as in param_set. The text must outlive the settings. */
int setting_set(const struct setting *setting, void *to, const char *text, bool bare_allowed,
                const char *what, struct fault *fault);

/* The variable of the environment: "SLUICE_LIMITS_MAX_PIXELS". */
#define SETTINGS_VARIABLE_MAX 64
const char *setting_variable(const struct settings_section *section, const struct setting *setting,
                             char variable[SETTINGS_VARIABLE_MAX]);

/* Takes what the environment says; a line in `errors` for each thing that is wrong. A key of a
 * folder is SLUICE_WATCH_N_KEY for folder number N, from 0 in the order of the file, where the next
 * number adds one; or SLUICE_WATCH_KEY where there is no other folder. With `own_folder` (the
 * command line names one) one folder takes the place of all others, and only the latter kind counts
 * for it. */
void settings_read_environment(struct settings *settings, bool own_folder, struct text *errors);

void settings_clear_watches(struct settings *settings);

/* Adds a folder with defaults; NULL without memory. */
struct watch_settings *settings_add_watch(struct settings *settings);

/* Fills in what follows from the rest, when all has been said. */
void settings_complete(struct settings *settings);

/* True when a folder under either is handled the same. */
bool watch_settings_equal(const struct watch_settings *a, const struct watch_settings *b);

/* Whether a template of names is one; the fault says why not. */
int settings_check_name(const char *template, struct fault *fault);

/* Looks at the relay's keys from number *at on. Returns 0 when they are right; else FAULT_CONFIG,
 * the key that is wrong, and in *at the number of the next one. */
int settings_check_relay(const struct relay_settings *relay, size_t *at, const char **key,
                         struct fault *fault);

/* Appends docs/configuration.md's tables. */
void settings_print_reference(struct text *text);

#endif
