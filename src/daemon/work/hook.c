/* A hook's way: hooks_tell puts its words together, start_next starts it when the one before has
 * ended, on_exit looks how it ended. The loop's thread waits for nothing. */
#include "daemon/work/hook.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/number.h"
#include "base/text.h"
#include "daemon/work/metrics.h"
#include "daemon/work/said.h"

#define RESULTS_TOLD 100 /* of one file, by their names; all are counted */

struct hook {
    const char *kind;  /* "on_done", "on_failed"; a constant */
    const char *words; /* the setting: the program and its arguments; borrowed */
    char *name;        /* of the file; owned */
    struct text told;  /* of the environment: NAME=VALUE, each with its NUL */
    STAILQ_ENTRY(hook) next;
};

struct hooks {
    uv_loop_t *loop;
    const struct watch_settings *settings;
    struct queue *queue;
    STAILQ_HEAD(, hook) waiting;
    unsigned count;       /* of these, and the one that runs */
    struct hook *running; /* NULL: none */
    bool late;            /* it was killed because of its time */
    bool busy;            /* the handle of its process is in use: the next one waits for its end */
    uv_process_t process;
    struct said *said;
    int pid;
    uv_timer_t timer;
    unsigned n_handles;
    bool destroyed;
};

static void free_if_unused(struct hooks *hooks)
{
    if (hooks->destroyed && hooks->n_handles == 0)
        free(hooks);
}

static void start_next(struct hooks *hooks);

static void on_closed(uv_handle_t *handle)
{
    struct hooks *hooks = handle->data;
    hooks->n_handles--;
    hooks->busy &= handle != (uv_handle_t *)&hooks->process;
    start_next(hooks);
    free_if_unused(hooks);
}

static void free_hook(struct hook *hook)
{
    text_finish(&hook->told);
    free(hook->name);
    free(hook);
}

/* It has ended, or could not be started. */
static void leave(struct hooks *hooks, bool well)
{
    struct text labels = {0};
    metrics_label(&labels, "hook", hooks->running->kind);
    metrics_label(&labels, "result", well ? "done" : "failed");
    metrics_add(hooks->queue->metrics, METRIC_HOOKS, text_string(&labels), 1);
    text_finish(&labels);
    free_hook(hooks->running);
    hooks->running = NULL;
    hooks->count--;
    queue_wake(hooks->queue); /* the folder may take files again, or stop */
}

static struct log_subject subject(const struct hooks *hooks)
{
    return (struct log_subject){.folder = hooks->settings->input, .file = hooks->running->name};
}

/* What it has started goes with it, unless that has left its group. */
static void kill_group(const struct hooks *hooks)
{
    kill(-hooks->pid, SIGKILL);
}

static void on_exit_of_hook(uv_process_t *process, int64_t status, int signal)
{
    struct hooks *hooks = process->data;
    const char *kind = hooks->running->kind;
    uv_close((uv_handle_t *)process, on_closed);
    uv_timer_stop(&hooks->timer);
    kill_group(hooks);
    said_close(&hooks->said);
    if (hooks->late)
        log_about(subject(hooks), LOG_LEVEL_WARNING,
                  "%s: the program had not ended after %s (hook_time), and was killed", kind,
                  number_duration(hooks->settings->hook_time));
    else if (signal)
        log_about(subject(hooks), LOG_LEVEL_WARNING, "%s: the program ended by signal %d (%s)",
                  kind, signal, strsignal(signal));
    else if (status != 0)
        log_about(subject(hooks), LOG_LEVEL_WARNING, "%s: the program ended with status %d", kind,
                  (int)status);
    leave(hooks, status == 0 && signal == 0);
}

static void on_time(uv_timer_t *timer)
{
    struct hooks *hooks = timer->data;
    hooks->late = true;
    kill_group(hooks);
}

/* Ours, without what is meant for us: settings, and the service manager's sockets. */
static char **environment(const struct hook *hook)
{
    static const char *const ours[] = {"SLUICE_", "NOTIFY_SOCKET=", "LISTEN_",
                                       "JOURNAL_STREAM=", "WATCHDOG_"};
    size_t count = 1, kept = 0;
    for (char **entry = environ; *entry; entry++)
        count++;
    for (size_t at = 0; at < hook->told.length; at += strlen(hook->told.data + at) + 1)
        count++;
    char **list = calloc(count, sizeof *list);
    for (char **entry = environ; list && *entry; entry++) {
        bool is_ours = false;
        for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
            is_ours |= strncmp(*entry, ours[i], strlen(ours[i])) == 0;
        if (!is_ours)
            list[kept++] = *entry;
    }
    for (size_t at = 0; list && at < hook->told.length; at += strlen(hook->told.data + at) + 1)
        list[kept++] = hook->told.data + at;
    return list;
}

/* Starts the program of hooks->running, in a session of its own, with nothing to read and a bounded
 * log to write to. Returns libuv's error. */
static int start(struct hooks *hooks)
{
    char words[HOOK_BYTES_MAX + 1], *rest = words, *word;
    char *arguments[HOOK_BYTES_MAX / 2 + 2] = {NULL};
    const struct hook *hook = hooks->running;
    size_t n = 0;
    int said;
    snprintf(words, sizeof words, "%s", hook->words);
    while ((word = strsep(&rest, " \t\n")) != NULL)
        if (*word)
            arguments[n++] = word;
    char **list = environment(hook); /* NULL without memory: ours */
    hooks->said = said_open(hooks->loop, hook->kind, &hooks->pid, &said);
    int to = said >= 0 ? said : STDERR_FILENO;
    uv_stdio_container_t stdio[3] = {{.flags = UV_IGNORE},
                                     {.flags = UV_INHERIT_FD, .data.fd = to},
                                     {.flags = UV_INHERIT_FD, .data.fd = to}};
    uv_process_options_t options = {.exit_cb = on_exit_of_hook,
                                    .file = arguments[0],
                                    .args = arguments,
                                    .env = list,
                                    .cwd = "/",
                                    .flags = UV_PROCESS_DETACHED,
                                    .stdio_count = 3,
                                    .stdio = stdio};
    hooks->process.data = hooks;
    int error = uv_spawn(hooks->loop, &hooks->process, &options);
    hooks->n_handles++; /* also where that has failed */
    hooks->busy = true;
    hooks->pid = hooks->process.pid;
    hooks->late = false;
    if (said >= 0)
        close(said);
    free(list);
    if (error == 0) {
        uv_timer_start(&hooks->timer, on_time, hooks->settings->hook_time / MILLISECOND, 0);
        return 0;
    }
    said_close(&hooks->said);
    return error;
}

static void start_next(struct hooks *hooks)
{
    if (hooks->busy || STAILQ_EMPTY(&hooks->waiting) || hooks->destroyed)
        return;
    hooks->running = STAILQ_FIRST(&hooks->waiting);
    STAILQ_REMOVE_HEAD(&hooks->waiting, next);
    int error = start(hooks);
    if (error == 0)
        return;
    log_about(subject(hooks), LOG_LEVEL_WARNING, "%s: %s cannot be started: %s",
              hooks->running->kind, hooks->running->words, uv_strerror(error));
    leave(hooks, false);
    uv_close((uv_handle_t *)&hooks->process, on_closed);
}

static void add(struct hook *hook, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void add(struct hook *hook, const char *name, const char *format, ...)
{
    char *value = NULL;
    va_list args;
    va_start(args, format);
    int length = vasprintf(&value, format, args);
    va_end(args);
    text_printf(&hook->told, "%s=%s", name, length >= 0 ? value : "");
    text_append_bytes(&hook->told, "", 1);
    hook->told.failed |= length < 0;
    if (length >= 0)
        free(value);
}

void hooks_tell(struct hooks *hooks, const char *name, const char *results, const char *reason,
                const char *message)
{
    const struct watch_settings *settings = hooks->settings;
    bool done = !reason;
    const char *words = done ? settings->on_done : settings->on_failed;
    struct hook *hook = words ? calloc(1, sizeof *hook) : NULL;
    if (!words)
        return;
    if (hook) {
        hook->kind = done ? "on_done" : "on_failed";
        hook->words = words;
        hook->name = strdup(name);
        add(hook, "SLUICE_VERDICT", "%s", done ? "done" : "failed");
        add(hook, "SLUICE_FOLDER", "%s", settings->input);
        add(hook, "SLUICE_FILE", "%s", name);
        add(hook, "SLUICE_OUTPUT", "%s", settings->output);
        add(hook, "SLUICE_CHAIN", "%s",
            settings->chain_name ? settings->chain_name : settings->chain);
    }
    unsigned count = 0;
    for (const char *result = hook && done ? results : NULL; result && *result;
         result += strlen(result) + 1) {
        char key[32];
        snprintf(key, sizeof key, "SLUICE_RESULT_%u", ++count);
        if (count <= RESULTS_TOLD)
            add(hook, key, "%s/%s", settings->output, result);
    }
    if (hook && done)
        add(hook, "SLUICE_RESULTS", "%u", count);
    if (hook && !done) {
        add(hook, "SLUICE_REASON", "%s", reason);
        add(hook, "SLUICE_MESSAGE", "%s", message);
    }
    if (!hook || !hook->name || hook->told.failed) {
        log_about((struct log_subject){.folder = settings->input, .file = name}, LOG_LEVEL_ERROR,
                  "no memory to tell %s of it", done ? "on_done" : "on_failed");
        if (hook)
            free_hook(hook);
        return;
    }
    STAILQ_INSERT_TAIL(&hooks->waiting, hook, next);
    hooks->count++;
    start_next(hooks);
}

unsigned hooks_count(const struct hooks *hooks)
{
    return hooks ? hooks->count : 0;
}

void hooks_drop(struct hooks *hooks)
{
    struct hook *hook;
    unsigned dropped = 0;
    if (!hooks)
        return;
    while ((hook = STAILQ_FIRST(&hooks->waiting)) != NULL) {
        STAILQ_REMOVE_HEAD(&hooks->waiting, next);
        hooks->count--;
        dropped++;
        free_hook(hook);
    }
    if (hooks->running)
        kill_group(hooks);
    if (dropped > 0)
        log_warning("%s: %u ends were not told to their hooks", hooks->settings->input, dropped);
}

int hooks_create(struct hooks **hooks, uv_loop_t *loop, const struct watch_settings *settings,
                 struct queue *queue, struct fault *fault)
{
    struct hooks *h = calloc(1, sizeof *h);
    *hooks = h;
    if (!h)
        return fault_set(fault, FAULT_MEMORY, "no memory for hooks");
    *h = (struct hooks){.loop = loop, .settings = settings, .queue = queue};
    STAILQ_INIT(&h->waiting);
    uv_timer_init(loop, &h->timer);
    h->timer.data = h;
    h->n_handles = 1;
    return 0;
}

void hooks_destroy(struct hooks **hooks)
{
    struct hooks *h = *hooks;
    *hooks = NULL;
    if (!h)
        return;
    hooks_drop(h);
    h->destroyed = true;
    if (h->running) { /* nobody looks at its end any more */
        uv_close((uv_handle_t *)&h->process, on_closed);
        said_close(&h->said);
        free_hook(h->running);
        h->running = NULL;
    }
    uv_close((uv_handle_t *)&h->timer, on_closed);
}
