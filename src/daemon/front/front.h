/* The front: the loop's owner, which wires folders, queue, sockets and workers together, from the
 * check of the chains to the end of the last job. */
#ifndef SLUICE_DAEMON_FRONT_H
#define SLUICE_DAEMON_FRONT_H

#include "daemon/front/options.h"
#include "daemon/serve/service.h"
#include "daemon/watch/folder.h"
#include "daemon/work/metrics.h"
#include "daemon/work/queue.h"
#include "daemon/work/supervise.h"

enum front_state {
    FRONT_STARTING,  /* the worker opens the device and checks the chains */
    FRONT_SCANNING,  /* folders are scanned for the first time */
    FRONT_READY,     /* files and clients are served */
    FRONT_DRAINING,  /* nothing new is begun; running jobs may finish */
    FRONT_CANCELLED, /* workers are killed and jobs given back */
    FRONT_LEAVING,   /* no jobs are left; the worker ends */
    FRONT_CLOSED,
};

/* The supervised workers of one configuration, with the chains they have to accept. During a reload
 * there may be two crews: the one with the jobs, and the one that takes over. */
struct crew {
    struct front *front;
    struct rulebook *book; /* counted reference */
    struct text given;     /* to its workers: what is in the supervisor's file */
    /* the crew owns its file and its checks: one for each folder, then one for each chain */
    struct supervisor supervisor;
    LIST_ENTRY(crew) in_list;
};

/* A watched folder, and its place in a reload. */
struct front_folder {
    struct folder *folder;
    bool waits;    /* to be started when the folders it replaces have stopped */
    bool retiring; /* not in the new configuration; it is stopping */
    bool stopped;  /* it has stopped */
};

enum reload_state {
    RELOAD_NONE,
    RELOAD_READING,  /* a thread reads and checks the configuration */
    RELOAD_WARMING,  /* a new worker compiles the new chains */
    RELOAD_RETIRING, /* jobs in flight finish under the old settings */
};

struct front {
    const struct daemon_options *options;
    struct rulebook *book; /* the one in force; counted reference */
    uv_loop_t loop;
    enum front_state state;
    int status; /* exit status */
    struct queue queue;
    struct metrics *metrics; /* owned */
    struct events events;
    struct folder_world world;
    struct crew *crew;
    LIST_HEAD(, crew) crews; /* that one, the next one, and those whose workers are ending */
    uv_check_t turn;         /* once a turn of the loop, after its events */
    struct {
        struct service service;
        struct http *http;        /* NULL: it was not asked for */
        struct jobs_socket *jobs; /* the same */
    } sockets;
    size_t n_folders;
    struct front_folder *folders; /* owned */
    struct folder **shown;        /* of these, what the sockets see; owned, with room for all */
    uv_timer_t limit;             /* of draining, then of the cancel */
    uv_signal_t signals[4];
    size_t n_signals;

    enum reload_state reload;
    bool reading;            /* that thread has not ended; it is waited for at the end */
    bool reload_again;       /* another SIGHUP came meanwhile */
    struct rulebook *wanted; /* the new one while reloading; counted reference */
    struct crew *next_crew;  /* NULL: the present crew serves the new configuration too */

    uv_timer_t tick; /* for what a service manager is told regularly */
    char told[300];  /* the status it was told last */
};

/* front.c: runs until it is told to stop (SIGTERM, SIGINT), or cannot start; returns the exit
 * status. SIGHUP has the options' configuration read again. There may be no ledger where no folder
 * depends on one.
 */
int front_run(const struct daemon_options *options, struct rulebook *book,
              const struct spool_world *spools);

/* crew.c: makes one for a configuration. Its supervisor is then started. */
int crew_create(struct crew **crew, struct front *front, struct rulebook *book,
                struct fault *fault);

/* Tells people of a chain, a format or options of the input that a worker refused, and where they
 * are written. `check` is NULL where it is none of them. */
void crew_complain(const struct crew *crew, const struct worker_check *check, const char *subject,
                   const struct fault *fault);

/* Clears the pointer. The loop frees the crew later. Takes NULL. */
void crew_close(struct crew **crew);

/* The extension of results of the folder with these settings. */
const char *crew_extension(const struct crew *crew, const struct watch_settings *watch);

/* True when the crew's workers were given all that this configuration asks of them. */
bool crew_serves(const struct crew *crew, const struct rulebook *book);

/* front.c */
void front_set_queue(struct front *front);

/* Has the sockets see folders and crews as they are now: to be called when one has come or gone. */
void front_show(struct front *front);
int front_add_folder(struct front *front, struct rulebook *book,
                     const struct watch_settings *settings, struct fault *fault);

void front_leave_if_done(struct front *front);
const char *front_state_name(const struct front *front);

/* A reload changes what the sockets tell about chains and limits, not the sockets. */
void front_sockets_reloaded(struct front *front);

/* front_manager.c: nothing happens without a service manager. `refused`: why a reload changed
 * nothing, or NULL. `patience`: nanoseconds that stopping may take. */
void front_manager_starting(struct front *front);
void front_manager_ready(struct front *front);
void front_manager_reloading(void);
void front_manager_reloaded(struct front *front, const char *refused);
void front_manager_stopping(struct front *front, uint64_t patience);

/* reload.c */
void reload_begin(struct front *front);
void reload_crew_ready(struct front *front);
void reload_crew_refused(struct front *front);
void reload_go_on(struct front *front); /* a folder or crew has stopped, or a job has left */
void reload_abandon(struct front *front);

/* journal.c: from here on log lines go to systemd's journal with fields (SLUICE_JOB,
 * SLUICE_REQUEST, SLUICE_CHAIN, SLUICE_FILE), if stderr is connected to it. To be called after
 * log_init. */
void journal_attach(void);

#endif
