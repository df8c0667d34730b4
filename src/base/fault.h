/* Faults: what went wrong with one job, chain or command, as a value.
 *
 * A function that can fail takes a `struct fault *` as its last argument, and returns 0 or the
 * positive `enum fault_code` that it has stored there. The text says why; whoever reports it puts
 * what failed (a file, a request) in front. Only the first fault is stored, so that a failing
 * clean-up cannot hide the cause. Any thread; a fault has one owner. */
#ifndef SLUICE_BASE_FAULT_H
#define SLUICE_BASE_FAULT_H

#include <stdbool.h>
#include <stddef.h>

enum fault_code {
    FAULT_NONE,
    FAULT_USAGE,     /* the command line is wrong */
    FAULT_CHAIN,     /* the chain is wrong; position and length mark the place in its text */
    FAULT_FORMAT,    /* no codec reads these bytes, or none writes such a plane */
    FAULT_DATA,      /* damaged image data */
    FAULT_TRUNCATED, /* image data that ends early; the file may still be growing */
    FAULT_EMPTY,     /* an empty file */
    FAULT_LIMIT,     /* a limit was exceeded; the text names the limit and its option */
    FAULT_SHAPE,    /* a valid chain that cannot take this picture, because of its type, channels or
                       size */
    FAULT_NO_INPUT, /* no such input */
    FAULT_NO_DEVICE,   /* no OpenCL device, or no daemon, was found */
    FAULT_DEVICE,      /* an OpenCL call failed; the text names call, stage and kernel */
    FAULT_VERIFY,      /* device and reference differ */
    FAULT_MEMORY,      /* out of memory */
    FAULT_INTERNAL,    /* a defect of ours */
    FAULT_CREATE,      /* an output cannot be created */
    FAULT_EXISTS,      /* the output exists, and must not be replaced */
    FAULT_IO,          /* reading or writing failed */
    FAULT_NO_SPACE,    /* the disk is full */
    FAULT_BUSY,        /* try later */
    FAULT_KERNELS,     /* chains of clients have used up their number of kernels */
    FAULT_PERMISSION,  /* not permitted */
    FAULT_CONFIG,      /* a configuration is wrong */
    FAULT_CRASHED,     /* the worker died twice at this job, while it had no other */
    FAULT_TIME,        /* the job took longer than it may */
    FAULT_INTERRUPTED, /* the daemon or the machine went down at this job, several times */
    FAULT_CODES
};

struct fault {
    enum fault_code code;
    int position; /* where the mistake begins in the text, in bytes; -1: no place is marked */
    int length;   /* its length, in bytes */
    char text[480];
};

#define FAULT_INIT                                                                                 \
    {                                                                                              \
        .position = -1                                                                             \
    }

/* Stores code and text unless a fault is stored already; returns the stored code. With `fault` NULL
 * only the code is returned. */
int fault_set(struct fault *fault, enum fault_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* As fault_set, and marks `length` bytes from `position` as the place of the mistake. */
int fault_set_at(struct fault *fault, enum fault_code code, int position, int length,
                 const char *format, ...) __attribute__((format(printf, 5, 6)));

/* Stores the text of errno for `what` (a path; NULL where the caller names it), under the code that
 * fits errno best. */
int fault_set_errno(struct fault *fault, enum fault_code code, const char *what);

/* All mistakes in one text, in their order. Begins as {0}; used entries come first. */
#define FAULTS_MAX 16
struct faults {
    struct fault list[FAULTS_MAX];
};

/* The next free entry; NULL when there is none, which fault_set accepts. */
struct fault *faults_next(struct faults *faults);

size_t faults_count(const struct faults *faults);

/* Copies the first fault to `fault`; returns its code, 0 when there is none. */
int faults_first(const struct faults *faults, struct fault *fault);

/* Appends two lines that show the place which a fault marks in `source`: the text, shortened if it
 * is long, and carets below the place. Nothing is appended when no place is marked. */
struct text;
void fault_print_caret(const struct fault *fault, const char *source, struct text *text);

/* Removes a stored fault. */
void fault_clear(struct fault *fault);

/* The name of a code ("truncated") in reports and problem documents. It never changes. */
const char *fault_name(enum fault_code code);

/* The code of a name; FAULT_INTERNAL for an unknown one. */
enum fault_code fault_by_name(const char *name);

/* The exit status of sysexits.h for a code. */
int fault_exit_status(enum fault_code code);

/* True for faults that may pass by themselves (disk full, out of memory, device lost). */
bool fault_is_temporary(enum fault_code code);

#endif
