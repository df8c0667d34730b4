/* The daemon's settings from the file, the environment and the command line. The command line
 * overrides the environment, and the environment the file. One table for each section serves all
 * three, and the reference page (docs/configuration.md).
 *
 * Texts belong to the settings, or must outlive them. One thread fills the settings; then any may
 * read. */
#ifndef SLUICE_CONFIG_SETTINGS_H
#define SLUICE_CONFIG_SETTINGS_H

#include "base/log.h"
#include "config/setting.h"
#include "relay/settings.h"
#include <stdint.h>

enum settings_exists {
    EXISTS_NUMBER,    /* the result gets a number: photo-1.png */
    EXISTS_OVERWRITE, /* the result replaces the existing file */
    EXISTS_FAIL,      /* the original fails */
};

enum settings_originals {
    ORIGINALS_DONE, /* moved to done */
    ORIGINALS_DELETE,
    ORIGINALS_KEEP, /* it returns to its folder; the ledger remembers it */
};

enum settings_report {
    REPORT_NONE,
    REPORT_FILE, /* beside the results */
};

enum settings_claim {
    CLAIM_RENAME, /* into .sluice/work in the folder */
    CLAIM_NONE,   /* it stays where it is: for folders that must not be written to */
};

enum settings_sync {
    SYNC_EACH,  /* results, notes and names, before they count */
    SYNC_BATCH, /* an older word for it; settings_complete makes it SYNC_EACH */
    SYNC_OFF,   /* never, except for the ledger */
};

enum settings_mode {
    MODE_AUTO, /* inotify where it reports everything */
    MODE_INOTIFY,
    MODE_POLL,
};

enum settings_sandbox {
    SANDBOX_OFF,
    SANDBOX_AUTO,     /* as much as the kernel has */
    SANDBOX_REQUIRED, /* all of it; otherwise no worker starts */
};

#define RETENTION_ALL UINT64_MAX

/* How much of done or failed is kept; RETENTION_ALL: everything. */
struct retention {
    uint64_t keep; /* bytes */
    uint64_t age;  /* nanoseconds */
};

/* With less free space than either, no new files are claimed. */
struct free_space {
    double percent; /* of the file system */
    uint64_t bytes;
};

/* Where the file says something of one of several results. */
struct watch_output {
    struct place at, chain_at, format_at;
};

/* One watched folder. Several results of a picture have their chains in one text, with ; between
 * them, and so have names of chains, formats, templates and folders, of which one is that of all.
 */
struct watch_settings {
    const char *input, *output; /* directories; absolute after settings_complete */
    const char *chain;          /* the chain's text */
    const char *chain_name;     /* its name in the file; NULL: it has none */
    const char *format;
    const char *reading; /* options for decoding, as for --input; NULL: none */
    const char *name;    /* template for names of results */
    const char *folder;  /* for results, below the output directory; NULL: that itself */
    int on_exists, originals, claim, sync, mode, report; /* enums above */
    const char *on_done, *on_failed; /* programs with their arguments, which are told; NULL: none */
    uint64_t hook_time;              /* nanoseconds that one may take */
    bool recursive;
    uint64_t settle; /* nanoseconds for which a closed file must stay unchanged */
    uint64_t stable; /* nanoseconds for which a file that a scan found must stay unchanged */
    struct retention done, failed;
    struct free_space
        min_free;        /* of this folder; settings_complete takes the common one otherwise */
    const char **ignore; /* patterns of names; ends with NULL; owned */
    struct place at;     /* of the entry, and of some values, in the file */
    struct place input_at, output_at, chain_at, format_at, reading_at;
    size_t n_outputs;             /* entries of `outputs` in the file; 0: there is no such list */
    struct watch_output *outputs; /* owned */
};

#define HOOK_BYTES_MAX 1000 /* of on_done and on_failed */

/* How many results each picture has; and what the settings say of one, from one of their texts
 * (NULL: ""). */
#define WATCH_RESULTS_MAX 16
size_t watch_count_results(const struct watch_settings *watch);
const char *watch_part(const char *text, size_t result, char *part, size_t size);

/* Where the file has the chain, or the format, of a result. */
struct place watch_chain_at(const struct watch_settings *watch, size_t result);
struct place watch_format_at(const struct watch_settings *watch, size_t result);

/* FAULT_CONFIG: the texts are not of as many results, or two results would have the same name, or
 * `output` begins anew for each of them; `*result` is the one that is wrong. */
int watch_check_results(const struct watch_settings *watch, size_t *result, struct fault *fault);

/* A socket to open; path NULL: none. `chains` says for which ones clients may ask: "any" (NULL,
 * too), or "configured", those of the file, by their names. */
struct socket_settings {
    const char *unix_path, *mode, *group, *chains;
};

static inline bool socket_asks_names(const struct socket_settings *settings)
{
    return settings->chains && settings->chains[0] == 'c';
}

struct settings_text; /* a text that the settings own */

struct settings {
    const char *file;   /* the configuration file; NULL: none */
    const char *device; /* as for --device */
    /* used when the device fails: "native", "cpu", "reference"; NULL: nothing */
    const char *fallback;
    bool self_check;
    bool wait;              /* for the device, before jobs are taken */
    int sandbox;            /* enum settings_sandbox */
    int64_t worker_jobs;    /* jobs after which a worker is replaced; 0: never */
    uint64_t worker_time;   /* nanoseconds after which it is replaced; 0: never */
    uint64_t worker_growth; /* growth of its memory, in bytes, after which it is replaced; 0: twice
                               `memory` */
    uint64_t max_pixels, max_file, memory;
    int64_t jobs_wanted; /* 0: as many as processors */
    unsigned jobs;       /* at once; set by settings_complete */
    int64_t queue;       /* jobs that the daemon holds at once */
    uint64_t job_time;   /* nanoseconds that a job may take */
    uint64_t shutdown;   /* nanoseconds that jobs get when the daemon stops */
    struct free_space min_free;
    struct socket_settings http, jobs_socket;
    const char *state; /* directory; NULL: daemon/front/main.c finds one */
    int log_level;     /* enum log_level */
    int log_format;    /* enum log_format */
    struct relay_settings relay; /* the daemon only checks how they are written */
    size_t n_watches;
    struct watch_settings *watches; /* owned */
    struct settings_text *texts;    /* owned */
};

/* Sections of the file; ends with a NULL name. */
extern const struct settings_section settings_sections[];
extern const struct settings_section settings_watch;

/* Keys of done and failed, with fields in struct retention. */
extern const struct param settings_retention[];

void settings_defaults(struct settings *settings);
void settings_finish(struct settings *settings);

/* Sets a folder's defaults. The caller frees `ignore`, which is NULL without memory. */
void watch_defaults(struct watch_settings *watch);

/* Returns a copy that the settings own; NULL without memory. */
const char *settings_keep(struct settings *settings, const char *text);

/* Applies the environment, and appends a line to `errors` for each mistake. A folder's key is
 * SLUICE_WATCH_N_KEY for folder number N in the order of the file, from 0; the next number adds a
 * folder. SLUICE_WATCH_KEY is for a single folder. With `own_folder` (the command line names one)
 * that folder replaces all others, and only SLUICE_WATCH_KEY applies to it. */
void settings_read_environment(struct settings *settings, bool own_folder, struct text *errors);

/* Adds a folder with defaults. Returns NULL without memory. */
struct watch_settings *settings_add_watch(struct settings *settings);

/* Sets what follows from other settings. To be called when all have been read. */
void settings_complete(struct settings *settings);

/* True when a folder is handled in the same way under both. */
bool watch_settings_equal(const struct watch_settings *a, const struct watch_settings *b);

/* Refuses an address in place of a socket's path, which would become a file of that name in the
 * working directory. */
int settings_check_socket(const char *path, struct fault *fault);

/* Checks a template of names. */
int settings_check_name(const char *template, struct fault *fault);

/* Appends the tables of docs/configuration.md. */
void settings_print_reference(struct text *text);

#endif
