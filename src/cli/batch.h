/* Many pictures through `run` and `submit`, which share all but what computes: which pictures there
 * are, where their results go, and what is told of them.
 *
 * Files are begun one after the other (batch_next), by one thread; they end in any order and on any
 * thread (batch_end), and are told in the order in which they were begun. Memory grows with the
 * list of files (inputs.h) alone: of each, more is held only while it is on its way. */
#ifndef SLUICE_CLI_BATCH_H
#define SLUICE_CLI_BATCH_H

#include "cli/common.h"
#include "cli/inputs.h"
#include "cli/progress.h"
#include <jansson.h>
#include <pthread.h>

/* Must be the first member of a command's options. */
struct batch_options {
    struct common_options common;
    const char *chain, *output, *format, *input, *name;
    int on_exists; /* enum exists_rule of batch_internal.h */
    bool recursive;
};
extern const struct options_row cli_batch_options[];

/* Files that are begun and not told yet: those that have ended behind a slow one are among them. */
#define BATCH_FILES 128

struct batch;
struct batch_result;

/* One picture on its way. */
struct batch_file {
    struct batch *batch;
    size_t place;       /* 0 to BATCH_FILES − 1: nobody else's until it has been told */
    char *input;        /* its path, or "-"; owned */
    char *output;       /* its result's path without number and plane, or "-"; owned */
    int fd;             /* of the input, open; the batch closes it */
    uint64_t pixels;    /* of the input, for whoever ends the file to fill in */
    struct fault fault; /* likewise */
    bool is_its_own;    /* likewise: the fault is the picture's, though its code is one that a
                           device or a daemon has for everybody */

    /* The batch's own. */
    enum batch_state {
        BATCH_FREE,
        BATCH_BUSY,
        BATCH_ENDED
    } state;
    size_t index;    /* of inputs.list */
    unsigned number; /* of the result's name */
    bool skipped, replaced;
    struct batch_result *results; /* in the order in which they were opened */
};

struct batch {
    /* To be filled in before batch_open. */
    size_t ahead; /* files on their way at once */
    void *context;
    /* A file has ended and is told: `entry` gets what --json says of it; NULL without --json. From
     * here on its place is another file's. */
    void (*told)(struct batch_file *file, json_t *entry);
    /* What is being prepared while nothing runs, if anything. */
    void (*waiting)(void *context, char text[ENGINE_PREPARING_MAX]);

    const struct batch_options *options;
    struct format format;
    struct decode_options decode;

    /* The batch's own. */
    struct inputs inputs;
    bool to_folder; /* results are called after their inputs */
    bool alone;     /* a single file was named: nothing is told but what is wrong */
    char day[16];
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct batch_file *files; /* a ring */
    size_t next;              /* of the inputs */
    size_t n_begun, n_busy, n_told;
    size_t n_no_pictures, n_twice; /* inputs that are left out: no pictures; named before */
    size_t n_ended, n_done, n_failed, n_skipped, n_replaced;
    uint64_t begun, pixels;
    enum fault_code last; /* how the latest file ended */
    struct fault end;     /* what is wrong for all files: none is begun any more */
    struct faults faults; /* all that is wrong with the chain, where that is told apart; for whoever
                             ends a file with FAULT_CHAIN to fill in */
    int status;           /* exit status of the latest failure */
    char *failures[50];   /* the first that failed, as the summary lists them */
    bool json_begun;
    json_t *device; /* device, platform and driver of the first file that one was used for */
    struct progress progress;
};

/* Chooses the format, lists the inputs, makes the folder for results, and takes signals from here
 * on. Returns 0, or after a complaint the exit status. Ended by batch_finish in either case. */
int batch_open(struct batch *batch, const struct batch_options *options, char **operands,
               size_t count);

enum batch_step {
    BATCH_FILE, /* *file is to be computed, and ended by batch_end */
    BATCH_WAIT, /* first a file that is on its way must end */
    BATCH_OVER, /* there is no other, and all have ended */
};
enum batch_step batch_next(struct batch *batch, struct batch_file **file);

/* Waits until a file has ended after which batch_next does not say BATCH_WAIT. */
void batch_wait(struct batch *batch);

/* The engine's output functions (engine.h); `file` is a struct batch_file. Results get their names
 * when the file has ended, all together. */
int batch_open_output(void *file, const char *plane, int *fd, struct fault *fault);
int batch_close_output(void *file, int fd, bool good, struct fault *fault);

/* Any thread. Without a fault its results get their names. */
void batch_end(struct batch_file *file);

/* Something that no file is at fault of has gone wrong, such as a daemon that has hung up: told
 * once, and no other file is begun. Files on their way are the caller's to end. */
void batch_give_up(struct batch *batch, const struct fault *fault);

/* Tells the summary, and with --json the rest of the object: `chain` in full, and `counters`, or
 * NULL where the programs are not those of this command alone. Returns the exit status. */
int batch_tell(struct batch *batch, const char *chain, const struct device_counters *counters);

void batch_finish(struct batch *batch);

#endif
