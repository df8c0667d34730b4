/* Many pictures for `run` and `submit`, which share everything except who computes: which pictures
 * there are, where results go, and what is reported.
 *
 * One thread begins files one after the other (batch_next). They end in any order on any thread
 * (batch_end), and are reported in the order in which they were begun. Memory grows only with the
 * list of files (inputs.h); more is kept for files under way only. */
#ifndef SLUICE_CLI_BATCH_H
#define SLUICE_CLI_BATCH_H

#include "cli/common.h"
#include "cli/inputs.h"
#include "cli/progress.h"
#include <jansson.h>
#include <pthread.h>

/* What happens when a result's name is taken: --on-exists. */
enum exists_rule {
    EXISTS_RULE_OVERWRITE,
    EXISTS_RULE_SKIP,
    EXISTS_RULE_NUMBER,
    EXISTS_RULE_FAIL,
};

/* What is asked for one result of each picture; of a further one what is NULL is as for the first.
 */
struct batch_wish {
    const char *chain, *output, *format, *name;
};

/* Must be the first member of a command's options. */
struct batch_options {
    struct common_options common;
    size_t n_wishes;
    struct batch_wish wishes[CHAIN_RESULTS_MAX];
    const char *input;
    int on_exists; /* enum exists_rule */
    bool recursive;
};
extern const struct options_row cli_batch_options[];
extern const struct options_groups cli_batch_groups;

/* Files that are begun and not reported yet, including those that wait for a slow file before them.
 */
#define BATCH_FILES 128

struct batch;
struct batch_result;

/* Where one result of each picture goes, and how. */
struct batch_place {
    struct batch_wish wish; /* complete, but for a chain of the first, NULL where none was given */
    struct format format;
    bool to_folder; /* it is named after its input, in a folder */
};

/* A picture under way. */
struct batch_file {
    struct batch *batch;
    size_t place;    /* 0 to BATCH_FILES − 1; no other file has it until this one is reported */
    char *input;     /* path, or "-"; owned */
    /* path of each result without number and plane, or "-"; owned */
    char *outputs[CHAIN_RESULTS_MAX];
    int fd;          /* the open input; the batch closes it */
    uint64_t pixels; /* of the input; set by whoever ends the file */
    struct fault fault; /* set by whoever ends the file */
    bool is_its_own; /* set by whoever ends the file: the fault is about this picture, although its
                        code usually means the device or the daemon */

    /* set by the batch */
    enum batch_state {
        BATCH_FREE,
        BATCH_BUSY,
        BATCH_ENDED
    } state;
    size_t index;    /* index in inputs.list */
    unsigned number; /* in the result's name */
    bool skipped, replaced;
    struct batch_result *results; /* in the order in which they were opened */
};

struct batch {
    /* The caller sets these before batch_open. */
    size_t ahead; /* how many files may be under way */
    void *context;
    /* A file has ended and is reported. `entry` gets its part of the --json output; NULL without
     * --json. From here on another file may have its place. */
    void (*told)(struct batch_file *file, json_t *entry);
    /* Tells what is being prepared while nothing runs, or "". */
    void (*waiting)(void *context, char text[ENGINE_PREPARING_MAX]);

    const struct batch_options *options;
    struct decode_options decode;

    /* set by the batch */
    size_t n_places; /* results of a picture */
    struct batch_place places[CHAIN_RESULTS_MAX];
    struct inputs inputs;
    bool alone;     /* only one file was named: only its errors are reported */
    char day[16];
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct batch_file *files; /* a ring */
    size_t next;              /* of the inputs */
    size_t n_begun, n_busy, n_told;
    /* inputs left out: no pictures; those of them in formats that are not read; in the list
     * twice */
    size_t n_no_pictures, n_foreign, n_twice;
    size_t n_ended, n_done, n_failed, n_skipped, n_replaced;
    uint64_t begun, pixels;
    enum fault_code last; /* of the file that ended last */
    struct fault end;     /* a fault that ends the run: no more files are begun */
    /* all mistakes in the chains, and their text; set by whoever ends a file with FAULT_CHAIN */
    struct faults faults;
    const char *faults_in;
    int status;         /* exit status of the last failure */
    char *failures[50]; /* the first failures, for the summary */
    bool json_begun;
    json_t *device; /* device, platform and driver that the first file used */
    struct progress progress;
};

/* Chooses the format, lists the inputs, makes the folder for results, and handles signals from here
 * on. Returns 0, or the exit status after a complaint. batch_finish must follow in either case. */
int batch_open(struct batch *batch, const struct batch_options *options, char **operands,
               size_t count);

enum batch_step {
    BATCH_FILE, /* compute *file; batch_end ends it */
    BATCH_WAIT, /* a file under way must end first */
    BATCH_OVER, /* all files have ended */
};
enum batch_step batch_next(struct batch *batch, struct batch_file **file);

/* Waits until a file has ended, so that batch_next does not return BATCH_WAIT. */
void batch_wait(struct batch *batch);

/* Output functions for the engine (engine.h); `file` is a struct batch_file. All results of a file
 * get their names together, when it has ended; if one cannot have its name none has. */
int batch_open_output(void *file, size_t result, const char *plane, int *fd, struct fault *fault);
int batch_close_output(void *file, int fd, bool good, struct fault *fault);

/* Any thread. Without a fault the file's results get their names. */
void batch_end(struct batch_file *file);

/* Ends the run because of a fault that is no file's, for instance because the daemon hung up. It is
 * reported once, and no more files are begun. The caller ends those under way. */
void batch_give_up(struct batch *batch, const struct fault *fault);

/* Prints the summary; with --json the rest of the object: the chain in full, of several results
 * those of all with ; between them, and `counters`, or NULL
 * when the programs are not this command's own. Returns the exit status. */
int batch_tell(struct batch *batch, const char *chain, const struct device_counters *counters);

void batch_finish(struct batch *batch);

/* ---- for batch.c and batch_open.c alone ---- */

/* The path of an input's result; for inputs.h. */
inputs_name batch_name_result;

/* Checks whether results can be written at all. */
int batch_try_output(const struct batch *batch, struct fault *fault);

/* Draws the progress bar; takes the lock. */
void batch_show(void *batch);

/* Restores the signals, and stops drawing. */
void batch_end_signals(void);

#endif
