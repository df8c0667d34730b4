/* What can go wrong with one job, one chain, one command: a value, not a log line.
 *
 * A function that can fail for a reason worth telling takes a `struct fault *` as its last argument
 * and returns 0 or the positive `enum fault_code` that it has stored there. The text says why; the
 * reporter puts what failed (a file, a request) in front of it. The first fault stored wins, so a
 * clean-up that fails on the way out cannot hide the cause. Any thread; a fault has one owner. */
#ifndef SLUICE_BASE_FAULT_H
#define SLUICE_BASE_FAULT_H

#include <stdbool.h>
#include <stddef.h>

enum fault_code {
    FAULT_NONE,
    FAULT_USAGE,       /* the command line is wrong */
    FAULT_CHAIN,       /* the chain's text is wrong; position and length mark the place in it */
    FAULT_FORMAT,      /* no codec knows these bytes, or none writes this kind of plane */
    FAULT_DATA,        /* damaged image data */
    FAULT_TRUNCATED,   /* image data that ends early: it may still be growing */
    FAULT_EMPTY,       /* a file of no bytes */
    FAULT_LIMIT,       /* over a limit; the text names the limit and its option */
    FAULT_SHAPE,       /* a valid chain that cannot take this picture (type, channels, size) */
    FAULT_NO_INPUT,    /* no such input */
    FAULT_NO_DEVICE,   /* no OpenCL device, or no daemon */
    FAULT_DEVICE,      /* an OpenCL call failed; the text holds its name, stage and kernel */
    FAULT_VERIFY,      /* device and reference differ */
    FAULT_MEMORY,      /* out of memory */
    FAULT_INTERNAL,    /* a defect of ours */
    FAULT_CREATE,      /* an output cannot be created */
    FAULT_EXISTS,      /* it is there already, and must not be replaced */
    FAULT_IO,          /* reading or writing failed */
    FAULT_NO_SPACE,    /* the disk is full */
    FAULT_BUSY,        /* try later */
    FAULT_KERNELS,     /* clients' chains have had as many kernels compiled as they may */
    FAULT_PERMISSION,  /* not permitted */
    FAULT_CONFIG,      /* a configuration is wrong */
    FAULT_CRASHED,     /* the worker died at this job, twice while it did nothing else */
    FAULT_TIME,        /* longer than a job may take */
    FAULT_INTERRUPTED, /* the daemon or the machine went down at this job, time and again */
    FAULT_CODES
};

struct fault {
    enum fault_code code;
    int position; /* of the place in the text at fault, in bytes from its start; -1: none */
    int length;   /* of that place, in bytes */
    char text[480];
};

#define FAULT_INIT                                                                                 \
    {                                                                                              \
        .position = -1                                                                             \
    }

/* Stores code and text unless a fault is stored already; returns the code stored. A NULL fault is
 * allowed and only returns the code. */
int fault_set(struct fault *fault, enum fault_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The same, and marks `length` bytes from `position` as the place at fault. */
int fault_set_at(struct fault *fault, enum fault_code code, int position, int length,
                 const char *format, ...) __attribute__((format(printf, 5, 6)));

/* Stores what errno says about `what` (a path, or NULL where the caller names it), with the code
 * that suits it. */
int fault_set_errno(struct fault *fault, enum fault_code code, const char *what);

/* All that is wrong with one text, in its order. Starts as {0}; faults stand before empty places.
 */
#define FAULTS_MAX 16
struct faults {
    struct fault list[FAULTS_MAX];
};

/* Where the next one is to be stored; NULL when there is no place left, which fault_set takes. */
struct fault *faults_next(struct faults *faults);

size_t faults_count(const struct faults *faults);

/* Stores the first of them in `fault`; returns its code, 0 when there is none. */
int faults_first(const struct faults *faults, struct fault *fault);

/* Appends two lines that show the place a fault marks in `source`, the text that it is about: the
 * text (of a long one the part that matters), and carets under the place; nothing when the fault
 * marks none. */
struct text;
void fault_print_caret(const struct fault *fault, const char *source, struct text *text);

/* Forgets a stored fault. */
void fault_clear(struct fault *fault);

/* The stable word for a code ("truncated"), as reports and problem documents print it. */
const char *fault_name(enum fault_code code);

/* The code for such a word; FAULT_INTERNAL for one that is unknown. */
enum fault_code fault_by_name(const char *name);

/* The exit status that sysexits.h has for a code. */
int fault_exit_status(enum fault_code code);

/* True for faults that may pass by themselves (disk full, out of memory, device lost). */
bool fault_is_temporary(enum fault_code code);

#endif
