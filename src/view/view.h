/* sluice view: a page in the browser, served on the loopback alone, to tune a chain on pictures:
 * server.c has the connections and who may ask, tune.c the answers, compute.c the pictures; page/
 * is the page, which the build puts into the program.
 *
 * The engine's own modules are used, not the library's header: what a page shows besides pictures
 * (times of stages, plans for boards, what a decoder may leave out, what a file will hold) is not
 * in that. */
#ifndef SLUICE_VIEW_VIEW_H
#define SLUICE_VIEW_VIEW_H

#include "cli/common.h"
#include "cli/inputs.h"
#include "codec/codec.h"
#include "config/config.h"
#include "engine/engine.h"
#include <jansson.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct view_options {
    struct common_options common;
    const char *chain, *input, *http_socket;
    int64_t port;
    bool recursive, no_open, once, daemon;
};

/* What all requests share; constant while the server runs. */
struct viewer {
    const struct view_options *options;
    const char *chain; /* to begin with */
    struct config config;
    struct inputs inputs;
    uint32_t *files; /* indices of inputs that are pictures, or were named; owned */
    size_t n_files;
    struct decode_options decode;
    struct engine *engine; /* writes the results that are saved */
    struct compute *compute;
};

/* ---- what is asked and answered ---- */

struct view_request {
    const char *path; /* below /api/ */
    bool is_post;
    const char *(*query)(const struct view_request *request,
                         const char *name); /* NULL: not given */
    void *connection;
};

/* Filled by those who answer; the server sends it and frees `body`. */
struct view_answer {
    unsigned status;  /* 0: nobody answers this path */
    const char *type; /* a constant */
    char *body;       /* owned */
    size_t size;
    int stream; /* if `streams`: a descriptor whose bytes are the answer, without end; owned */
    bool streams;
};

/* Answers with JSON, which is released; without memory with status 503. */
void view_answer_json(struct view_answer *answer, unsigned status, json_t *json);

/* Answers with a fault, and the mistakes of a chain where there are any (`faults` may be NULL). */
void view_answer_fault(struct view_answer *answer, const struct fault *fault,
                       const struct faults *faults);

/* Answers with samples and what is said of them. The body: the length of a text in 4 bytes, lowest
 * first; the text, JSON, with blanks behind it up  to a multiple of 8 bytes; the samples as they
 * are in memory (all processors that sluice runs on  put the lowest byte first). */
struct compute_result;
void view_answer_picture(struct view_answer *answer, const struct compute_result *result);

/* A number of the query; `fallback` where there is none or it is none. */
uint64_t view_query_number(const struct view_request *request, const char *name, uint64_t fallback);

/* Each fills the answer if the path is one of its own. */
void tune_answer(struct viewer *view, const struct view_request *request, struct view_answer *answer);
void watch_answer(struct viewer *view, const struct view_request *request,
                  struct view_answer *answer);

/* The path of file `index` of the list; the caller frees it. */
char *view_path(const struct viewer *view, size_t index);

#endif
