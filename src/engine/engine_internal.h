/* The engine from within: its budget of memory, its members, and what each file offers the others.
 * Shared by the files of engine/ alone. */
#ifndef SLUICE_ENGINE_ENGINE_INTERNAL_H
#define SLUICE_ENGINE_ENGINE_INTERNAL_H

#include "base/file.h"
#include "chain/recording.h"
#include "chain/tuned.h"
#include "engine/engine.h"
#include <pthread.h>
#include <stdatomic.h>

/* Bytes that jobs may hold together. Requests are served in their order, so that small jobs do not
 * starve a large one. */
struct budget {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    uint64_t total, taken;
    uint64_t next_ticket, now_serving;
};

void budget_init(struct budget *budget, uint64_t total);
void budget_finish(struct budget *budget);
/* Waits until the bytes are free. FAULT_LIMIT: there will never be so many; FAULT_TIME: the
 * thread's deadline comes first. */
int budget_take(struct budget *budget, uint64_t bytes, struct fault *fault);
/* Returns false instead of waiting for the bytes, or for earlier requests. */
bool budget_take_now(struct budget *budget, uint64_t bytes);
void budget_give(struct budget *budget, uint64_t bytes);

/* A chain planned and compiled for pictures of one shape and one format, kept for the next such
 * picture. */
struct prepared {
    struct text key;
    struct chain chain;
    struct device *device; /* NULL: the references run */
    bool waits;            /* `device` is native until the mover has made what the other needs */
    unsigned moves;        /* mover.moves when it was made: later it may be worth another try */
    struct plan *plan;
    struct recording *recording; /* NULL: the references run, or nothing has to */
    unsigned users;
    bool making; /* the first job that needs it is making it; others wait for prepared_changed */
    atomic_bool stored; /* it has run, and its program is in the binary cache */
    struct prepared *next;
};

/* Where a chain runs. */
enum level {
    LEVEL_DEVICE,
    LEVEL_FALLBACK, /* the device that options.fallback names, if it is another one */
    LEVEL_REFERENCE,
};

/* What is known of a chain, by its canonical text. */
struct known {
    struct text chain;
    enum level level;   /* where it runs: lower where a device computes it wrongly */
    bool is_configured; /* engine_warm has prepared it */
    struct known *next;
};

/* Makes chains ready for the device while jobs run them on native (mover.c). */
struct mover {
    atomic_bool on;    /* jobs run on native, until chains are ready for the device */
    atomic_bool alone; /* there is no such device */
    atomic_uint moves; /* times that something has become ready */
    atomic_bool busy;  /* with something that cannot be broken off */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct move *list; /* in the order in which they were asked for */
    unsigned n_list, n_waiting;
    bool started, closing;
    pthread_t thread;
};

struct engine {
    struct engine_options options;
    unsigned processors;
    atomic_uint n_jobs;  /* that have started and not ended */
    struct budget files; /* for inputs that are read and not decoded yet: a quarter of the memory */
    /* for planes, and for what decoders allocate: the rest. A job takes from `files` first and then
     * once from `planes`, so no two jobs wait for each other */
    struct budget planes;

    pthread_mutex_t device_lock; /* held while the device is opened */
    struct device *device;
    struct device *fallback; /* for chains that the device computes wrongly, or that are not ready
                                for it; NULL: not open */
    struct device *native; /* for jobs that are sooner done there; NULL: not open */
    struct tuned *tuned;   /* which jobs those are; NULL: none are, or nobody has asked yet */
    bool has_asked;
    struct mover mover;

    /* protects the lists below; never held while something compiles */
    pthread_mutex_t prepared_lock;
    pthread_cond_t prepared_changed;
    struct known *known;
    bool has_demoted;          /* some chain has a lower level */
    struct prepared *prepared; /* the one used last is first */

    pthread_mutex_t queue_lock;
    pthread_cond_t queue_changed;
    char preparing[ENGINE_PREPARING_MAX]; /* for engine_preparing; protected by queue_lock */
    struct engine_job *queue, **queue_end;
    unsigned n_queued, n_idle; /* jobs in the queue; threads that wait for a job */
    bool closing;
    unsigned n_threads;
    pthread_t *threads;
};

/* Sets what is being prepared; "" for nothing. */
void engine_tell_preparing(struct engine *engine, const char *text);

/* Returns the engine's device, opening it if necessary; native if the mover is on. A GPU that
 * `auto` finds is first tried on a small picture with `chain`. Not for an engine that runs the
 * references.
 */
int engine_need_device(struct engine *engine, const struct chain *chain, struct device **device,
                       bool warming, struct fault *fault);

/* Returns the device that options.fallback names, opening it if necessary; FAULT_NO_DEVICE when it
 * is the engine's own device. */
int engine_need_fallback(struct engine *engine, struct device **device, struct fault *fault);

/* Whether `auto` runs the chain on native for such a picture, because `sluice tune` has found it
 * faster there. While the mover is on this is known only after it has opened the device. */
bool engine_prefers_native(struct engine *engine, const struct chain *chain,
                           const struct frame *in);

/* Returns native for such a job, opening it if necessary: the fallback, where that is native. */
int engine_need_native(struct engine *engine, struct device **device, struct fault *fault);

/* ---- mover.c: nothing happens unless options.background says so ---- */

/* Whether jobs need not wait for the device, which `options` choose. */
void mover_init(struct engine *engine);
void mover_finish(struct engine *engine);

/* FAULT_NO_DEVICE when a device that was asked for by name is not there. */
int mover_check(struct engine *engine, struct fault *fault);

/* A configured chain is to be made ready for all usual kinds of pictures. */
int mover_compare(struct engine *engine, int64_t id, const struct chain *chain,
                  const struct format *formats, struct device *native, struct fault *fault);
int mover_add(struct engine *engine, int64_t id, const struct chain *chain,
              const struct format *formats, struct fault *fault);

/* The same for a frame like this one, on generic kernels, for a job that runs on native meanwhile;
 * `plan` is the generic one that could not be had, NULL without a device. */
void mover_ask(struct engine *engine, const struct chain *chain, const struct format *formats,
               const struct frame *in, const struct plan *plan);

/* ---- check.c: compares the device with the references on small pictures ---- */

/* How a chain is compiled for its check. */
#define CHECK_SAMPLES (1u << 19) /* of all frames of a chain together */

struct check_how {
    bool generic;
    bool trusted; /* kernels are only run, not compared */
    enum program_use use;
};

/* Runs the chain on a noise frame of that shape on the device and by the references, unless it is
 * known that they agree, then stores its programs in the binary cache. Nothing is run where the
 * chain makes more of the frame than CHECK_SAMPLES. `formats` NULL: results stay as they are.
 * FAULT_VERIFY: they differ; the text names the first stage after which they do. FAULT_SHAPE: the
 * chain cannot take such a frame. */
int check_chain(struct device *device, const struct check_how *how, const struct chain *chain,
                const struct format *formats, const struct frame *in, struct fault *fault);

/* Finds or compiles the same programs as how->use says, and runs nothing. */
int check_compile(struct device *device, const struct check_how *how, const struct chain *chain,
                  const struct format *formats, const struct frame *in, struct fault *fault);

/* The same on a picture of 8-bit RGB. A chain that takes none is left to its first real job. */
int check_colour(struct device *device, const struct check_how *how, const struct chain *chain,
                 struct fault *fault);

/* ---- warm.c ---- */

/* Kinds of pictures that configured chains are prepared for; their sizes are for a check. */
#define WARM_KINDS 8
struct plane warm_kind(unsigned kind);

/* check_chain on pictures of a kind in several sizes. Pictures that the chain cannot take are fine.
 */
int warm_check(struct device *device, const struct check_how *how, const struct chain *chain,
               const struct format *formats, const struct plane *kind, struct fault *fault);

/* ---- job.c ---- */

struct burst;

/* What a job holds while it runs. */
struct job_state {
    struct engine *engine;
    struct engine_job *job;
    struct burst *burst; /* the thread's other jobs; NULL: there are none */
    struct bytes file;   /* empty where the decoder reads it in pieces */
    bool is_mapped; /* `file` is a mapping of a sealed memory file */
    bool in_place;  /* and its bytes are the input's samples: nothing is decoded */
    bool started;   /* its launches are in the device's queue */
    bool is_small;  /* others may be started before it has ended */
    struct decoder decoder;
    struct prepared *prepared;
    struct device *device;
    uint64_t reserved, reserved_file;
    struct device_buffer *in_buffer;
    struct format formats[CHAIN_RESULTS_MAX]; /* of the results; borrowed from the job */
    /* our own memory: for references, conversions, and the input kept for --verify */
    struct picture host_in;
    struct picture host_out[CHAIN_RESULTS_MAX]; /* the references' results */
    struct recording_run run;
    bool is_written;           /* by rows, while it was computed */
    struct window *in;         /* of run, or this one, of host_in */
    struct window_sink *sinks; /* the same: one for each result */
    struct window host_rows;
    struct window_sink host_sinks[CHAIN_RESULTS_MAX];
    struct picture results[CHAIN_RESULTS_MAX]; /* to be encoded: borrowed from run, host_out or
                                                  host_in */
    uint64_t begin, mark;  /* when the job began, and when the current span did */
};

/* A job in two halves: job_start goes from the first byte of the input to its launches in the
 * device's queue, job_end from there to the last byte of the result. job_end must follow job_start,
 * also after a fault. */
void job_start(struct job_state *state, struct engine *engine, struct engine_job *job,
               struct burst *burst);
void job_end(struct job_state *state);

/* A file of the result that is being written. */
struct job_file {
    size_t result; /* number of the chain's result */
    int fd;
    struct output *output; /* NULL: it is not open */
    struct metadata metadata;
    struct encoder encoder;
};

/* Opens the file for a plane of result `index`; job_close_file ends it, with the fault's code if
 * the job has failed, and returns that or its own. */
int job_open_file(struct job_state *state, size_t index, size_t plane, const char *name,
                  struct job_file *file, struct fault *fault);
int job_close_file(struct job_state *state, struct job_file *file, int result, struct fault *fault);

/* Time in which the decoder has read its file since the last call, which becomes report.read: it is
 * a part of another span. */
uint64_t job_take_reading(struct job_state *state);

/* Decodes the rows in front of `end` that have not been decoded yet into state->in. */
int job_decode_rows(struct job_state *state, uint32_t end, struct fault *fault);

/* Adds to the report what comes out, and what the device has done. */
void job_note_result(struct job_state *state, size_t index, const struct frame *frame);
int job_note_run(struct job_state *state, struct fault *fault);

/* True while there are two processors for each job that runs or waits. */
bool job_has_free_processor(struct engine *engine);

/* Whether results are written while they are computed: each of them is one file, of which what has
 * been written can be taken back. */
bool job_writes_files(const struct job_state *state);

/* Says in a fault which result it is about, if there are several. */
void job_name_result(const struct job_state *state, size_t index, struct fault *fault);

/* Decodes and computes, row by row, and writes the results if job_writes_files (rows.c). */
int job_run_rows(struct job_state *state, struct fault *fault);

/* Ends the small jobs that a thread has started and not ended (engine.c). Takes NULL. */
void burst_settle(struct burst *burst);

/* ---- prepared.c ---- */

/* What the results are written as, for their plan; `formats` has one for each result of the chain.
 * Returns `targets`, or NULL without formats. */
const struct plan_target *targets_of(const struct chain *chain, const struct format *formats,
                                     struct plan_target targets[CHAIN_RESULTS_MAX]);

/* How a plan is to run, a bit set: see plan_options. */
enum {
    PREPARE_KEEP_INPUT = 1,
    PREPARE_ROWS_IN = 2,
    PREPARE_ROWS_OUT = 1 << 8, /* of the first result; the bits above it are those of the others */
    PREPARE_WARMING = 8, /* for engine_warm, which may compile any program */
    PREPARE_STRIPS = 16,
};

/* Finds or makes what a job needs to run. `formats` NULL: results stay as they are.
 * prepared_release must follow. */
int prepared_get(struct engine *engine, const struct chain *chain, const struct frame *in,
                 const struct format *formats, unsigned how, struct prepared **prepared,
                 struct fault *fault);
void prepared_release(struct engine *engine, struct prepared **prepared);
void prepared_destroy_all(struct engine *engine);

/* Where the chain runs: LEVEL_DEVICE, unless level_demote has set it to a lower level. */
enum level level_of(struct engine *engine, const struct chain *chain);
bool level_demote(struct engine *engine, const struct chain *chain, enum level to);

/* Notes that the chain is configured. Returns false without memory. */
bool configured_add(struct engine *engine, const struct chain *chain);
bool configured_has(struct engine *engine, const struct chain *chain);
void known_destroy_all(struct engine *engine);

#endif
