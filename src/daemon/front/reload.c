/* The reload at SIGHUP. The new configuration is read and checked; if the worker needs to know new
 * chains, a new crew compiles them; only then do folders change. Until that last step the reload
 * may fail, and the old configuration stays in force. */
#include "daemon/front/front.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/text.h"
#include "daemon/work/metrics.h"

static void end(struct front *front, const char *refused)
{
    front->reload = RELOAD_NONE;
    rulebook_leave(&front->wanted);
    front_manager_reloaded(front, refused);
    if (front->reload_again)
        reload_begin(front);
}

static void drop_next_crew(struct front *front)
{
    struct crew *crew = front->next_crew;
    front->next_crew = NULL;
    front_show(front);
    if (crew)
        supervisor_stop(&crew->supervisor);
}

/* Ends a reload before anything has changed. */
static void call_off(struct front *front, const char *why)
{
    log_error("%s: the configuration that was in force stays", why);
    metrics_set(front->metrics, METRIC_RELOAD_SUCCESS, NULL, 0);
    drop_next_crew(front);
    end(front, why);
}

static bool is_wanted(const struct front *front, const struct watch_settings *settings)
{
    const struct settings *wanted = &front->wanted->config.settings;
    for (size_t i = 0; i < wanted->n_watches; i++)
        if (watch_settings_equal(&wanted->watches[i], settings))
            return true;
    return false;
}

static bool is_there(const struct front *front, size_t count, const struct watch_settings *settings)
{
    for (size_t i = 0; i < count; i++)
        if (!front->folders[i].stopped &&
            watch_settings_equal(folder_settings(front->folders[i].folder), settings))
            return true;
    return false;
}

/* Adds the new folders before anything else changes, so that a lack of memory can still end the
 * reload. */
static bool add_folders(struct front *front)
{
    const struct settings *wanted = &front->wanted->config.settings;
    size_t before = front->n_folders;
    struct fault fault = FAULT_INIT;
    for (size_t i = 0; i < wanted->n_watches; i++) {
        if (is_there(front, before, &wanted->watches[i]))
            continue;
        if (front_add_folder(front, front->wanted, &wanted->watches[i], &fault) != 0) {
            log_error("%s", fault.text);
            while (front->n_folders > before) /* the loop frees them */
                folder_destroy(&front->folders[--front->n_folders].folder);
            return false;
        }
        front->folders[front->n_folders - 1].waits = true;
    }
    return true;
}

static void change_folders(struct front *front)
{
    if (!add_folders(front)) {
        call_off(front, "reload");
        return;
    }
    front->reload = RELOAD_RETIRING;
    for (size_t i = 0; i < front->n_folders; i++) {
        struct front_folder *f = &front->folders[i];
        if (!f->waits && !is_wanted(front, folder_settings(f->folder)))
            f->retiring = true;
    }
    for (size_t i = 0; i < front->n_folders; i++)
        if (front->folders[i].retiring && !front->folders[i].stopped)
            folder_stop(front->folders[i].folder);
    reload_go_on(front);
}

/* The file is read on a thread of its own, which may wait for its disk. */
struct reading {
    struct front *front;
    pthread_t thread;
    uv_async_t over;
    struct rulebook *book; /* NULL: it is wrong */
    struct text errors;
    struct fault fault;
};

static void *read_file(void *context)
{
    struct reading *r = context;
    if (daemon_options_load(r->front->options, &r->book, &r->errors, &r->fault) != 0)
        r->book = NULL;
    uv_async_send(&r->over);
    return NULL;
}

static void take_file(struct front *front, struct rulebook *book)
{
    struct fault fault = FAULT_INIT;
    front->wanted = book;
    if (crew_serves(front->crew, front->wanted)) {
        change_folders(front);
        return;
    }
    front->reload = RELOAD_WARMING;
    if (crew_create(&front->next_crew, front, front->wanted, &fault) != 0)
        call_off(front, fault.text);
    else
        supervisor_start(&front->next_crew->supervisor);
    front_show(front);
}

static void free_reading(uv_handle_t *handle)
{
    free(handle->data);
}

static void after_reading(uv_async_t *over)
{
    struct reading *r = over->data;
    struct front *front = r->front;
    pthread_join(r->thread, NULL); /* it ends now */
    front->reading = false;
    if (front->reload != RELOAD_READING) /* the daemon stops */
        rulebook_leave(&r->book);
    else if (r->book)
        take_file(front, r->book);
    else {
        const char *lines = text_string(&r->errors);
        for (size_t length; (length = strcspn(lines, "\n")) > 0; lines += length + 1)
            log_error("%.*s", (int)length, lines);
        log_error("%s is wrong: the configuration that was in force stays", front->options->config);
        metrics_set(front->metrics, METRIC_RELOAD_SUCCESS, NULL, 0);
        end(front, "its file is wrong");
    }
    text_finish(&r->errors);
    uv_close((uv_handle_t *)over, free_reading);
    front_leave_if_done(front);
}

/* Signals go to the loop's thread. */
static bool start_reading(struct front *front)
{
    struct reading *r = calloc(1, sizeof *r);
    sigset_t all, before;
    if (!r || uv_async_init(&front->loop, &r->over, after_reading) != 0) {
        free(r);
        return false;
    }
    r->front = front;
    r->over.data = r;
    fault_clear(&r->fault);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(&r->thread, NULL, read_file, r);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error != 0)
        uv_close((uv_handle_t *)&r->over, free_reading);
    return error == 0;
}

void reload_begin(struct front *front)
{
    front->reload_again = false;
    if (!front->options->config) {
        log_info("SIGHUP: there is no configuration file to read again");
        front_manager_reloading();
        front_manager_reloaded(front, NULL);
        return;
    }
    if (front->reload != RELOAD_NONE || front->state < FRONT_READY) {
        front->reload_again = true;
        return;
    }
    log_info("SIGHUP: reading %s again", front->options->config);
    front_manager_reloading();
    front->reload = RELOAD_READING;
    front->reading = start_reading(front);
    if (!front->reading)
        call_off(front, "no memory for a reload");
}

void reload_crew_ready(struct front *front)
{
    if (front->reload == RELOAD_WARMING)
        change_folders(front);
}

void reload_crew_refused(struct front *front)
{
    if (front->reload == RELOAD_WARMING)
        call_off(front, "the new worker does not accept it");
}

/* A folder whose settings changed is another one with the same input: what people are told of the
 * time since the start goes on with it. */
static void hand_over(struct front *front, const struct folder *from)
{
    for (size_t i = 0; i < front->n_folders; i++)
        if (front->folders[i].waits && texts_equal(folder_settings(front->folders[i].folder)->input,
                                                   folder_settings(from)->input))
            folder_succeed(front->folders[i].folder, from);
}

static void remove_retired(struct front *front)
{
    size_t kept = 0;
    for (size_t i = 0; i < front->n_folders; i++) {
        if (front->folders[i].retiring) {
            hand_over(front, front->folders[i].folder);
            folder_destroy(&front->folders[i].folder);
        } else
            front->folders[kept++] = front->folders[i];
    }
    front->n_folders = kept;
}

/* Puts the folders into the order of the configuration, in which status and lists show them. */
static void sort_folders(struct front *front)
{
    const struct settings *settings = &front->book->config.settings;
    size_t sorted = 0;
    for (size_t i = 0; i < settings->n_watches; i++)
        for (size_t k = sorted; k < front->n_folders; k++)
            if (watch_settings_equal(folder_settings(front->folders[k].folder),
                                     &settings->watches[i])) {
                struct front_folder found = front->folders[k];
                front->folders[k] = front->folders[sorted];
                front->folders[sorted++] = found;
                break;
            }
}

static void start_added(struct front *front)
{
    for (size_t i = 0; i < front->n_folders; i++) {
        struct front_folder *f = &front->folders[i];
        if (!f->waits)
            continue;
        f->waits = false;
        folder_start(f->folder, crew_extension(front->crew, folder_settings(f->folder)));
    }
}

void reload_go_on(struct front *front)
{
    if (front->reload != RELOAD_RETIRING)
        return;
    for (size_t i = 0; i < front->n_folders; i++)
        if (front->folders[i].retiring && !front->folders[i].stopped)
            return;
    if (front->next_crew && front->queue.counts[JOB_SENT] + front->queue.counts[JOB_BEGUN] > 0) {
        queue_hold(&front->queue, true); /* jobs of folders that stay go to the new worker */
        return;
    }
    if (front->next_crew) {
        struct crew *old = front->crew;
        front->crew = front->next_crew;
        front->next_crew = NULL;
        if (!front->crew->supervisor.description) /* its own comes in a moment */
            front->crew->supervisor.description = json_incref(old->supervisor.description);
        supervisor_stop(&old->supervisor);
    }
    struct rulebook *old_book = front->book;
    front->book = rulebook_use(front->wanted);
    front_show(front);
    front_sockets_reloaded(front);
    rulebook_leave(&old_book);
    remove_retired(front);
    sort_folders(front);
    front_set_queue(front);
    queue_hold(&front->queue, false);
    start_added(front);
    front_show(front);
    log_set_level((enum log_level)front->book->config.settings.log_level);
    log_set_format((enum log_format)front->book->config.settings.log_format);
    metrics_set(front->metrics, METRIC_RELOAD_SUCCESS, NULL, 1);
    log_info("reloaded: %zu folders", front->n_folders);
    end(front, NULL);
}

/* The daemon ends. */
void reload_abandon(struct front *front)
{
    queue_hold(&front->queue, false);
    front->reload_again = false;
    front->reload = RELOAD_NONE;
    rulebook_leave(&front->wanted);
    drop_next_crew(front);
    for (size_t i = 0; i < front->n_folders; i++)
        if (front->folders[i].waits) { /* never started: nothing of it is under way */
            front->folders[i].waits = false;
            front->folders[i].stopped = true;
        }
    front_show(front);
}
