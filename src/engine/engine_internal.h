/* Shared by the files of engine/ alone. */
#ifndef SLUICE_ENGINE_ENGINE_INTERNAL_H
#define SLUICE_ENGINE_ENGINE_INTERNAL_H

#include "base/file.h"
#include "chain/recording.h"
#include "engine/engine.h"
#include <pthread.h>
#include <stdatomic.h>

/* Bytes that jobs may hold together. Who asks first gets first, so that a large job is not starved
 * by small ones. */
struct budget {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    uint64_t total, taken;
    uint64_t next_ticket, now_serving;
};

void budget_init(struct budget *budget, uint64_t total);
void budget_finish(struct budget *budget);
/* Waits until the bytes are free; FAULT_LIMIT when they never will be, FAULT_TIME when the thread's
 * deadline comes first. */
int budget_take(struct budget *budget, uint64_t bytes, struct fault *fault);
/* False where that would be waiting, for the bytes or for those who wait already. */
bool budget_take_now(struct budget *budget, uint64_t bytes);
void budget_give(struct budget *budget, uint64_t bytes);

/* A chain made ready for pictures of one shape and one format, kept for the next such picture. */
struct prepared {
    struct text key;
    struct chain chain;
    struct device *device; /* NULL: the references run */
    struct plan *plan;
    struct recording *recording; /* NULL: for the references, or nothing to run */
    unsigned users;
    bool making;        /* by the first who asked for it; others wait for prepared_changed */
    atomic_bool stored; /* it has run, and its program is in the binary cache */
    struct prepared *next;
};

/* Where a chain runs. */
enum level {
    LEVEL_DEVICE,
    LEVEL_FALLBACK, /* the device that options.fallback names, when that is another one */
    LEVEL_REFERENCE,
};

/* A chain that the device computes wrongly, by its canonical text. */
struct demoted {
    struct text chain;
    enum level level;
    struct demoted *next;
};

/* A chain that engine_warm has prepared, by its canonical text. */
struct configured {
    struct text chain;
    struct configured *next;
};

struct engine {
    struct engine_options options;
    struct budget files;  /* inputs read and not yet decoded: a quarter of the memory */
    struct budget planes; /* planes and what decoders take: the rest. A job takes from `files` first
                             and from `planes` once, so no two can wait for each other */

    pthread_mutex_t device_lock; /* opening the device */
    struct device *device;
    struct device *fallback; /* for chains that the device computes wrongly; NULL: not open */

    pthread_mutex_t prepared_lock; /* of the lists below; never held while something compiles */
    pthread_cond_t prepared_changed;
    struct demoted *demoted;
    struct configured *configured;
    struct prepared *prepared; /* the latest used first */

    pthread_mutex_t queue_lock;
    pthread_cond_t queue_changed;
    char preparing[ENGINE_PREPARING_MAX]; /* for engine_preparing; under queue_lock */
    struct engine_job *queue, **queue_end;
    unsigned n_queued, n_idle; /* jobs in the queue; threads that wait for one */
    bool closing;
    unsigned n_threads;
    pthread_t *threads;
};

/* Stores what is being prepared from now on; "" for nothing any more. */
void engine_tell_preparing(struct engine *engine, const char *text);

/* The engine's device, opened now if it is not. A GPU that `auto` finds is tried on a small picture
 * with `chain` first. Not for an engine of references. */
int engine_need_device(struct engine *engine, const struct chain *chain, struct device **device,
                       bool warming, struct fault *fault);

/* The device that options.fallback names, opened now if it is not; FAULT_NO_DEVICE when there is
 * none but the engine's device itself. */
int engine_need_fallback(struct engine *engine, struct device **device, struct fault *fault);

/* Where the chain runs, LEVEL_DEVICE unless it was demoted; and one level down. */
enum level level_of(struct engine *engine, const struct chain *chain);
bool level_demote(struct engine *engine, const struct chain *chain, enum level to);
void levels_destroy_all(struct engine *engine);

struct burst;

/* What a job holds while it runs. */
struct job_state {
    struct engine *engine;
    struct engine_job *job;
    struct burst *burst; /* the thread's other jobs; NULL: there are none */
    struct bytes file;
    bool is_mapped; /* `file` is a sealed memory file, not our memory */
    bool in_place;  /* and its bytes are the input's samples: nothing is decoded */
    bool started;   /* its launches are in the device's queue */
    bool is_small;  /* others may be started before it is ended */
    struct decoder decoder;
    struct prepared *prepared;
    struct device *device;
    uint64_t reserved, reserved_file;
    struct device_buffer *in_buffer;
    struct picture host_in;  /* own memory: references, conversions, and --verify's input */
    struct picture host_out; /* the references' result */
    struct recording_run run;
    struct picture result; /* what is encoded: borrowed from run, host_out or host_in */
    uint64_t begin, mark;  /* when the job began, and the current span */
};

/* A job in two halves: from its input's first byte to its launches in the device's queue, and from
 * there to its result's last byte. job_end follows job_start whatever that met. */
void job_start(struct job_state *state, struct engine *engine, struct engine_job *job,
               struct burst *burst);
void job_end(struct job_state *state);

/* Small jobs that one thread has started and not ended (burst.c). */

/* Takes jobs from the engine's queue until it closes; a thread's whole life. */
void burst_work(struct engine *engine);

/* Ends all of them. Takes NULL. */
void burst_settle(struct burst *burst);

/* The queue's next job, or NULL: with `wait` when the engine closes, else when there is none that
 * a thread without work would not take. */
struct engine_job *engine_next(struct engine *engine, bool wait);

/* Finds or makes what a job needs to run. `format` NULL: the frame stays as it is. `warming`: for
 * engine_warm, which may compile what it likes. Ended by prepared_release. */
int prepared_get(struct engine *engine, const struct chain *chain, const struct frame *in,
                 const struct format *format, bool keep_input, bool warming,
                 struct prepared **prepared, struct fault *fault);
void prepared_release(struct engine *engine, struct prepared **prepared);
void prepared_destroy_all(struct engine *engine);

/* Notes that the chain is configured. False without memory. */
bool configured_add(struct engine *engine, const struct chain *chain);
void configured_destroy_all(struct engine *engine);

/* Plans made->chain for made->device, and makes its recording: from the chain's own program where
 * that may be compiled or is there, else from generic ones. */
int variant_make(struct engine *engine, struct prepared *made, const struct frame *in,
                 const struct plan_options *options, bool warming, struct fault *fault);

#endif
