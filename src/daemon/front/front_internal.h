/* Shared by front.c, front_*.c, crew.c and reload.c alone. */
#ifndef SLUICE_DAEMON_FRONT_INTERNAL_H
#define SLUICE_DAEMON_FRONT_INTERNAL_H

#include "daemon/front/front.h"
#include "daemon/serve/sockets.h"
#include "daemon/watch/folder.h"
#include "daemon/work/queue.h"
#include "daemon/work/supervise.h"

enum front_state {
    FRONT_STARTING,  /* the worker opens the device and checks the chains */
    FRONT_SCANNING,  /* the folders are read for the first time */
    FRONT_READY,     /* … */
    FRONT_DRAINING,  /* nothing new; what runs may finish */
    FRONT_CANCELLED, /* nothing may finish any more */
    FRONT_LEAVING,   /* all jobs have left; the worker ends */
    FRONT_CLOSED,
};

/* A supervised worker under one configuration, with what it has to accept of that. After a reload
 * there may be two of them: the one with the jobs, and the one that is to take over. */
struct crew {
    struct front *front;
    struct rulebook *book; /* used */
    int config_fd;         /* the file's text, for workers; −1: there is none */
    struct supervisor supervisor;
    size_t n_checks;
    struct worker_check *checks; /* one a folder, then one a chain; owned */
    bool stopped;                /* its handles are closed, or closing */
};

/* A watched folder, and where it stands in a reload. */
struct front_folder {
    struct folder *folder;
    bool waits;    /* to be started when those before it have stopped */
    bool retiring; /* not wanted any more; it is stopping */
    bool stopped;  /* … and has stopped */
};

enum reload_state {
    RELOAD_NONE,
    RELOAD_READING,  /* an errand reads and checks the file */
    RELOAD_WARMING,  /* a new worker compiles the new chains */
    RELOAD_RETIRING, /* jobs in flight finish under the old settings */
};

struct front {
    const struct daemon_options *options;
    struct rulebook *book; /* in force; used */
    uv_loop_t loop;
    enum front_state state;
    int status; /* to exit with */
    struct queue queue;
    struct metrics *metrics; /* owned */
    struct folder_world world;
    struct crew *crew;
    struct sockets sockets;
    size_t n_folders;
    struct front_folder *folders; /* owned */
    uv_timer_t limit;             /* of draining, then of cancelling */
    uv_signal_t signals[4];
    size_t n_signals;
    size_t n_scanned; /* first scans of folders; those of the start are waited for */

    struct errands *errands; /* of no folder */
    enum reload_state reload;
    bool reload_again;       /* SIGHUP came meanwhile */
    struct rulebook *wanted; /* while reloading; used */
    struct crew *next_crew;  /* … NULL: the present one does */

    uv_timer_t tick; /* what a service manager is told from time to time */
    char told[300];  /* the status that it was told last */
};

/* crew.c: makes one for a configuration, and starts its worker (crew_start). */
int crew_create(struct crew **crew, struct front *front, struct rulebook *book,
                struct fault *fault);
void crew_start(struct crew *crew);

/* It ends by itself; then crew_close is called. */
void crew_stop(struct crew *crew);

/* Clears the pointer. The loop frees it, when nothing that called this is under way any more. */
void crew_close(struct crew **crew);

/* What results of the folder with these settings get. */
const char *crew_extension(const struct crew *crew, const struct watch_settings *watch);

/* True when another configuration asks the worker for nothing else. */
bool crew_serves(const struct rulebook *a, const struct rulebook *b);

/* front.c: news of crews that have jobs or are to get them. */
void front_ready(struct front *front);
void front_refused(struct front *front, const struct fault *fault);
void front_stopped(struct front *front);
void front_set_queue(struct front *front);
int front_add_folder(struct front *front, struct rulebook *book,
                     const struct watch_settings *settings, struct fault *fault);

void front_leave_if_done(struct front *front);
const char *front_state_name(const struct front *front);

/* front_sockets.c: those that the configuration asks for at the start; later ones do not change
 * them, but what is told about chains and limits. */
int front_open_sockets(struct front *front, struct fault *fault);
void front_sockets_reloaded(struct front *front);

/* front_gauges.c: what is measured when somebody asks for metrics, and what never changes. */
void front_measure(struct front *front);
void front_measure_once(struct metrics *metrics);

/* front_manager.c: nothing, unless a service manager listens. `refused`: why a reload changed
 * nothing, or NULL. `patience`: nanoseconds that the end may take. */
int front_manager_init(struct front *front);
void front_manager_starting(struct front *front);
void front_manager_ready(struct front *front);
void front_manager_reloading(void);
void front_manager_reloaded(struct front *front, const char *refused);
void front_manager_stopping(struct front *front, uint64_t patience);

/* reload.c */
void reload_begin(struct front *front);
void reload_crew_ready(struct front *front);
void reload_crew_refused(struct front *front);
void reload_go_on(struct front *front); /* something has stopped, or a job has left */
void reload_abandon(struct front *front);

#endif
