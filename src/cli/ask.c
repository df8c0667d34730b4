/* sluice status, why and requeue: what the daemon says when it is asked at its jobs socket
 * (docs/jobs-socket.md). */
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"
#include "base/name.h"
#include "base/number.h"
#include "cli/common.h"
#include "worker/daemon.h"

static long long number(const json_t *object, const char *key)
{
    return (long long)json_integer_value(json_object_get(object, key));
}

static const char *text(const json_t *object, const char *key)
{
    const char *value = json_string_value(json_object_get(object, key));
    return value && value[0] ? value : "none";
}

struct ask_options {
    struct common_options common;
    const char *socket;
    bool watch;  /* of status */
    bool failed; /* of requeue */
};

#define AT(member) offsetof(struct ask_options, member)

/* Makes a path absolute for the daemon, which has another working directory and knows its folders
 * by where they lead. Links on the way are followed; the last component is not, since the file may
 * be gone, or be a link that is asked about. */
static char *make_absolute(const char *path)
{
    char folder[PATH_MAX], cwd[PATH_MAX] = "";
    char *absolute = malloc(3 * PATH_MAX);
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/')
        length--;
    if (!absolute || length >= PATH_MAX) {
        free(absolute);
        return NULL;
    }
    snprintf(folder, sizeof folder, "%.*s", (int)length, path);
    const char *name = path_name(folder);
    size_t above = (size_t)(name - folder);
    char base[PATH_MAX];
    snprintf(base, sizeof base, "%s", name);
    folder[above] = '\0';
    char real[PATH_MAX];
    if (strcmp(base, "..") != 0 && strcmp(base, ".") != 0 && path_real(above ? folder : ".", real))
        snprintf(absolute, 3 * PATH_MAX, "%s/%s", strcmp(real, "/") == 0 ? "" : real, base);
    else if (path[0] == '/')
        snprintf(absolute, 3 * PATH_MAX, "%.*s", (int)length, path);
    else
        snprintf(absolute, 3 * PATH_MAX, "%s/%.*s", getcwd(cwd, sizeof cwd) ? cwd : "", (int)length,
                 path);
    return absolute;
}

/* Asks the question of the type `type`, which is released. The answer is the object of that name;
 * the caller owns it. */
static int ask(int socket, const char *type, json_t *question, json_t **answer, struct fault *fault)
{
    json_t *message = NULL;
    *answer = NULL;
    int result = daemon_ask(socket, question, &message, fault);
    if (result == 0)
        *answer = json_incref(json_object_get(message, type));
    if (result == 0 && !*answer)
        result = fault_set(fault, FAULT_INTERNAL, "the daemon's answer is empty");
    json_decref(message);
    return result;
}

/* Asks about a file, by a path that may be relative. FAULT_NO_INPUT: the daemon knows no such file.
 */
static int ask_about(int socket, const char *type, const char *file, json_t **answer,
                     struct fault *fault)
{
    char *path = make_absolute(file);
    json_t *question =
        path ? json_pack("{s:s, s:i, s:s}", "type", type, "id", 1, "file", path) : NULL;
    *answer = NULL;
    free(path);
    return question ? ask(socket, type, question, answer, fault)
                    : fault_set(fault, FAULT_USAGE, "the path is too long, or no UTF-8");
}

/* ---- status ---- */

static const struct options_row status_rows[] = {
    DAEMON_SOCKET_OPTION(AT(socket)),
    OPTION('w', NULL, FLAG, "watch", AT(watch),
           "print it again every second, until the daemon ends or Ctrl-C"),
    {0},
};

static const struct options_usage status_usage = {
    .command = "status",
    .operands = "[-s SOCKET] [--watch]",
    .summary = "Prints what the daemon does, as it says at its jobs socket.",
    .details =
        "A folder is ok; degraded, when some of it does not work; hanging, when its disk does "
        "not answer;\nor lost, when its input or its output is gone. With --json, --watch "
        "prints an object a line.\n",
    .tables = {status_rows, cli_output_options},
};

/* How fast pictures end, and when those that are there will have ended. */
static void print_rate(const char *before, const json_t *of)
{
    const json_t *rate = json_object_get(of, "rate");
    double per_second = json_real_value(json_object_get(rate, "per_second"));
    double left = json_real_value(json_object_get(of, "left_s"));
    if (per_second <= 0)
        return;
    fprintf(cli_stdout, "%s%.3g pictures/s in the last %s", before, per_second,
            cli_rough_time(json_real_value(json_object_get(rate, "window_s"))));
    if (left > 0)
        fprintf(cli_stdout, ", %s left", cli_rough_time(left));
    fputc('\n', cli_stdout);
}

static void print_folder(const json_t *folder)
{
    const json_t *error = json_object_get(folder, "last_error");
    const json_t *next = json_object_get(folder, "next_try");
    fprintf(cli_stdout, "folder %s: %s (%s, results in %s)\n", text(folder, "input"),
            text(folder, "state"), text(folder, "mode"), text(folder, "output"));
    fprintf(cli_stdout, "  %lld wait, %lld run",
            number(folder, "waiting") + number(folder, "queued"), number(folder, "running"));
    if (number(folder, "retrying") > 0)
        fprintf(cli_stdout, ", %lld are to be tried again", number(folder, "retrying"));
    fprintf(cli_stdout, "; since the start %lld done, %lld failed\n", number(folder, "done"),
            number(folder, "failed"));
    if (number(folder, "in_failed") > 0)
        fprintf(cli_stdout, "  %lld lie in failed (sluice failed lists them)\n",
                number(folder, "in_failed"));
    print_rate("  ", folder);
    if (json_is_string(json_object_get(folder, "message")))
        fprintf(cli_stdout, "  %s since %s: %s\n", text(folder, "reason"), text(folder, "since"),
                text(folder, "message"));
    if (json_is_string(next))
        fprintf(cli_stdout, "  tried again at %s\n", json_string_value(next));
    if (json_is_object(error))
        fprintf(cli_stdout, "  last error, %s: %s: %s: %s\n", text(error, "time"),
                text(error, "name"), text(error, "reason"), text(error, "message"));
}

/* Chains on their way to the device, and those that do not get there. */
static void print_chain(const json_t *chain)
{
    const json_t *preparing = json_object_get(chain, "preparing");
    if (json_is_object(preparing))
        fprintf(cli_stdout, "chain %s: on %s until the device is ready for it: %lld of %lld\n",
                text(chain, "chain"), text(chain, "tier"), number(preparing, "done"),
                number(preparing, "of"));
    else if (json_is_string(json_object_get(chain, "why")))
        fprintf(cli_stdout, "chain %s: stays on %s: %s\n", text(chain, "chain"),
                text(chain, "tier"), text(chain, "why"));
}

static void print_worker(const json_t *worker)
{
    const json_t *preparing = json_object_get(worker, "preparing");
    const char *device = json_string_value(json_object_get(worker, "device"));
    bool quarantine = json_is_true(json_object_get(worker, "quarantine"));
    fprintf(cli_stdout, "worker %lld: %s%s%s%s, %lld run, %lld done", number(worker, "pid"),
            text(worker, "state"), quarantine ? " in quarantine" : "",
            device && device[0] ? " on " : "", device ? device : "", number(worker, "running"),
            number(worker, "jobs"));
    if (json_is_object(preparing))
        fprintf(cli_stdout, ", prepares kernels: %lld of %lld", number(preparing, "done"),
                number(preparing, "of"));
    fprintf(cli_stdout, "\n  its sandbox: %s\n", text(worker, "sandbox"));
}

/* What each has of what all share. */
static void print_user(const json_t *user)
{
    fprintf(cli_stdout, "user %lld: %lld connections, %lld jobs, inputs and results of %s",
            number(user, "uid"), number(user, "connections"), number(user, "jobs"),
            number_size((uint64_t)number(user, "bytes")));
    if (number(user, "unread") > 0)
        fprintf(cli_stdout, " (%s not read yet)", number_size((uint64_t)number(user, "unread")));
    if (number(user, "receivers_hanging") > 0)
        fprintf(cli_stdout, "; descriptors that do not answer hold %lld of its receivers",
                number(user, "receivers_hanging"));
    fputc('\n', cli_stdout);
}

static void print_status(const json_t *status)
{
    const json_t *queue = json_object_get(status, "queue");
    const json_t *worker = json_object_get(status, "worker");
    const json_t *connections = json_object_get(status, "connections"), *one;
    const json_t *receivers = json_object_get(status, "receivers");
    size_t i;
    fprintf(cli_stdout, "state: %s\n", text(status, "state"));
    fprintf(cli_stdout, "up: %s\n",
            number_duration((uint64_t)json_real_value(json_object_get(status, "uptime_s")) *
                            UINT64_C(1000000000)));
    fprintf(cli_stdout,
            "jobs: %lld wait, %lld run, %lld place results, %lld are to be tried again\n",
            number(queue, "waiting"), number(queue, "running"), number(queue, "settling"),
            number(queue, "retrying"));
    if (number(queue, "in_quarantine") > 0)
        fprintf(cli_stdout, "in quarantine: %lld of them\n", number(queue, "in_quarantine"));
    fprintf(cli_stdout, "since the start: %lld done, %lld failed\n", number(status, "done"),
            number(status, "failed"));
    print_rate("rate: ", status);
    json_array_foreach (json_object_get(status, "folders"), i, one)
        print_folder(one);
    if (number(status, "folders_left_out") > 0)
        fprintf(cli_stdout, "and %lld folders more\n", number(status, "folders_left_out"));
    json_array_foreach (json_object_get(status, "workers"), i, one)
        print_worker(one);
    json_array_foreach (json_object_get(worker, "chains"), i, one)
        print_chain(one);
    fprintf(cli_stdout, "workers started: %lld; programs compiled by the present one: %lld\n",
            number(worker, "starts"), number(worker, "builds"));
    fprintf(cli_stdout, "connections: %lld http, %lld jobs\n", number(connections, "http"),
            number(connections, "jobs"));
    if (number(receivers, "well") + number(receivers, "hanging") > 0)
        fprintf(cli_stdout, "receivers of descriptors: %lld, and %lld that hang\n",
                number(receivers, "well"), number(receivers, "hanging"));
    json_array_foreach (json_object_get(status, "users"), i, one)
        print_user(one);
}

/* On a terminal each status overwrites the one before. */
static void tell_status(const struct ask_options *o, const json_t *status, bool again)
{
    const char *terminal = getenv("TERM");
    bool screen =
        o->watch && isatty(fileno(cli_stdout)) && terminal && strcmp(terminal, "dumb") != 0;
    if (screen)
        /* moves to the upper left corner and clears the screen */
        fputs("\033[H\033[J", cli_stdout);
    if (o->common.json && o->watch) {
        json_dumpf(status, cli_stdout, JSON_COMPACT | JSON_REAL_PRECISION(15));
        fputc('\n', cli_stdout);
    } else if (o->common.json) {
        cli_print_json(json_incref((json_t *)(uintptr_t)status));
    } else {
        if (again && !screen)
            fputc('\n', cli_stdout);
        print_status(status);
    }
    fflush(cli_stdout);
}

static int status(void *options_, char **operands, size_t count)
{
    struct ask_options *o = options_;
    struct fault fault = FAULT_INIT;
    int socket;
    cli_common_apply(&o->common);
    if (daemon_connect(o->socket, &socket, &fault) != 0)
        return cli_complain("status", &fault);
    for (bool again = false; fault.code == FAULT_NONE; again = true) {
        json_t *answer;
        if (daemon_ask(socket, json_pack("{s:s, s:i}", "type", "status", "id", 1), &answer,
                       &fault) == 0)
            tell_status(o, json_object_get(answer, "status"), again);
        json_decref(answer);
        if (!o->watch || ferror(cli_stdout))
            break;
        sleep(1);
    }
    close(socket);
    return fault.code == FAULT_NONE ? 0 : cli_complain("status", &fault);
}

const struct command command_status = {&status_usage, sizeof(struct ask_options), status,
                                       .no_operands = true};

/* ---- why ---- */

static const struct options_row why_rows[] = {DAEMON_SOCKET_OPTION(AT(socket)), {0}};

static const struct options_usage why_usage = {
    .command = "why",
    .operands = "[-s SOCKET] FILE…",
    .summary = "Says what became of a file in a watched folder, or why it is not done.",
    .details =
        "FILE is its path in the watched folder, in .sluice/done or .sluice/failed below it, or\n"
        "the path of its result; it need not be there any more. A name that leads nowhere from\n"
        "here is looked for in all watched folders. Exits with 66 when the daemon knows of no "
        "such\n"
        "file.\n"
        "\n"
        "  sluice why in/photo.jpg\n"
        "  sluice why photo.jpg\n",
    .tables = {why_rows, cli_output_options},
};

/* Prints "STATE (REASON): MESSAGE", and more facts, one on each line. */
static void print_fate(const char *file, const json_t *answer)
{
    static const char *const own[] = {"state", "reason", "message", "file"};
    const char *state = json_string_value(json_object_get(answer, "state"));
    const char *reason = json_string_value(json_object_get(answer, "reason"));
    const char *message = json_string_value(json_object_get(answer, "message"));
    const char *key;
    json_t *value;
    fprintf(cli_stdout, "%s: %s%s%s%s", file, state ? state : "?", reason ? " (" : "",
            reason ? reason : "", reason ? ")" : "");
    if (message && state && strcmp(message, state) != 0)
        fprintf(cli_stdout, ": %s", message);
    fputc('\n', cli_stdout);
    json_object_foreach ((json_t *)(uintptr_t)answer, key, value) {
        bool is_own = false;
        for (size_t i = 0; i < sizeof own / sizeof *own; i++)
            is_own |= strcmp(key, own[i]) == 0;
        if (is_own)
            continue;
        if (json_is_string(value))
            fprintf(cli_stdout, "  %s: %s\n", key, json_string_value(value));
        else if (json_is_integer(value))
            fprintf(cli_stdout, "  %s: %lld\n", key, (long long)json_integer_value(value));
        else if (json_is_real(value)) /* for_s, next_try_s */
            fprintf(cli_stdout, "  %.*s: %s\n", (int)strlen(key) - 2, key,
                    number_duration((uint64_t)(json_real_value(value) * 1e9)));
        else if (json_is_boolean(value))
            fprintf(cli_stdout, "  %s: %s\n", key, json_is_true(value) ? "yes" : "no");
        /* of a single one there are members of its own */
        json_t *one;
        size_t i;
        json_array_foreach (value, i, one)
            if (json_array_size(value) > 1)
                fprintf(cli_stdout, "  result %zu: %s%s\n", i + 1,
                        json_string_value(json_object_get(one, "path")),
                        json_is_true(json_object_get(one, "exists")) ? "" : " (gone)");
    }
}

static bool is_unknown(const json_t *answer)
{
    const char *state = json_string_value(json_object_get(answer, "state"));
    return !state || strcmp(state, "unknown") == 0;
}

/* Adds what is known of a path below a folder. One file may be found twice: one folder's results
 * may be the pictures of another. */
static void look_below(int socket, const char *folder, const char *name, json_t *found)
{
    struct fault fault = FAULT_INIT;
    json_t *answer, *other;
    size_t i;
    char path[2 * PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    bool known = ask_about(socket, "why", path, &answer, &fault) == 0 && !is_unknown(answer);
    json_array_foreach (found, i, other)
        known &=
            !(json_equal(json_object_get(other, "folder"), json_object_get(answer, "folder")) &&
              json_equal(json_object_get(other, "name"), json_object_get(answer, "name")));
    if (known)
        json_array_append(found, answer);
    json_decref(answer);
}

/* What is known of a name in all watched folders, and in those of their results. */
static json_t *find_everywhere(int socket, const char *name)
{
    struct fault fault = FAULT_INIT;
    json_t *status, *folder, *found = json_array();
    size_t i;
    if (name[0] == '/' ||
        ask(socket, "status", json_pack("{s:s, s:i}", "type", "status", "id", 1), &status, &fault))
        return found;
    json_array_foreach (json_object_get(status, "folders"), i, folder) {
        size_t before = json_array_size(found);
        look_below(socket, text(folder, "input"), name, found);
        if (json_array_size(found) == before)
            look_below(socket, text(folder, "output"), name, found);
    }
    if (number(status, "folders_left_out") > 0)
        log_warning("%s: %lld more folders were not asked: give its path there", name,
                    number(status, "folders_left_out"));
    json_decref(status);
    return found;
}

/* With --json an unknown file is an answer like others; in text it is an error. */
static int tell_fate(const struct ask_options *o, const char *file, json_t *answer, json_t *all)
{
    const char *message = json_string_value(json_object_get(answer, "message"));
    struct fault fault = FAULT_INIT;
    if (o->common.json)
        json_array_append(all, answer);
    else if (!is_unknown(answer))
        print_fate(file, answer);
    if (!is_unknown(answer))
        return 0;
    fault_set(&fault, FAULT_NO_INPUT, "%s", message ? message : "unknown");
    return cli_complain(file, &fault);
}

/* A relative path that leads to no watched file is a name in any of the folders. */
static int tell_why(const struct ask_options *o, int socket, const char *file, json_t *all)
{
    struct fault fault = FAULT_INIT;
    json_t *answer, *one;
    size_t i;
    if (ask_about(socket, "why", file, &answer, &fault) != 0)
        return cli_complain(file, &fault);
    json_t *found = is_unknown(answer) ? find_everywhere(socket, file) : json_array();
    int status = json_array_size(found) == 0 ? tell_fate(o, file, answer, all) : 0;
    json_array_foreach (found, i, one)
        tell_fate(o, json_string_value(json_object_get(one, "file")), one, all);
    json_decref(found);
    json_decref(answer);
    return status;
}

static int why(void *options_, char **operands, size_t count)
{
    struct ask_options *o = options_;
    struct fault fault = FAULT_INIT;
    int socket, status = 0, failed = 0;
    cli_common_apply(&o->common);
    if (daemon_connect(o->socket, &socket, &fault) != 0)
        return cli_complain("why", &fault);
    json_t *all = json_array();
    for (size_t i = 0; i < count; i++) {
        int one = tell_why(o, socket, operands[i], all);
        failed += one != 0;
        status = one ? one : status;
    }
    close(socket);
    if (o->common.json && json_array_size(all) > 0)
        cli_print_json(
            json_incref(count == 1 && json_array_size(all) == 1 ? json_array_get(all, 0) : all));
    json_decref(all);
    return count > 1 && failed > 0 ? 1 : status;
}

const struct command command_why = {&why_usage, sizeof(struct ask_options), why,
                                    .missing = "which file?"};

/* ---- failed ---- */

static const struct options_usage failed_usage = {
    .command = "failed",
    .operands = "[-s SOCKET]",
    .summary = "Lists the files that lie in failed, of all watched folders, with their reasons.",
    .details =
        "A line each: when it failed, where it lies, the reason's word, the reason. The time "
        "is UTC.\n"
        "sluice requeue does one of them again, or with --failed all.\n",
    .tables = {why_rows, cli_output_options},
};

static void print_failed(const json_t *file)
{
    fprintf(cli_stdout, "%s  %s: %s: %s\n", text(file, "time"),
            text(file, json_object_get(file, "original") ? "original" : "file"),
            text(file, "reason"), text(file, "message"));
}

static int failed(void *options_, char **operands, size_t count)
{
    struct ask_options *o = options_;
    struct fault fault = FAULT_INIT;
    int socket;
    cli_common_apply(&o->common);
    if (daemon_connect(o->socket, &socket, &fault) != 0)
        return cli_complain("failed", &fault);
    json_t *all = json_array(), *next = NULL, *page, *file;
    do {
        size_t i;
        json_t *question = json_pack("{s:s, s:i, s:s, s:i}", "type", "files", "id", 1, "state",
                                     "failed", "limit", 1000);
        if (next)
            json_object_set_new(question, "after", next);
        next = NULL;
        if (ask(socket, "files", question, &page, &fault) != 0)
            break;
        json_array_foreach (json_object_get(page, "files"), i, file) {
            if (o->common.json)
                json_array_append(all, file);
            else
                print_failed(file);
        }
        next = json_incref(json_object_get(page, "next"));
        json_decref(page);
    } while (json_is_string(next) && !ferror(cli_stdout));
    json_decref(next);
    close(socket);
    if (o->common.json && fault.code == FAULT_NONE)
        cli_print_json(json_incref(all));
    json_decref(all);
    return fault.code == FAULT_NONE ? 0 : cli_complain("failed", &fault);
}

const struct command command_failed = {&failed_usage, sizeof(struct ask_options), failed,
                                       .no_operands = true};

/* ---- requeue ---- */

static const struct options_row requeue_rows[] = {
    DAEMON_SOCKET_OPTION(AT(socket)),
    OPTION(0, NULL, FLAG, "failed", AT(failed), "all that failed, in all watched folders"),
    {0},
};

static const struct options_usage requeue_usage = {
    .command = "requeue",
    .operands = "[-s SOCKET] FILE…|--failed",
    .summary = "Puts originals back into their watched folder, so that they are done again.",
    .details = "FILE is a path of a file that failed or is done, as for sluice why. A file that "
               "was kept in its\n"
               "folder stays there, and no longer counts as done. Exits with 66 when there is no "
               "original any\n"
               "more, with 1 when some of several could not be put back.\n"
               "\n"
               "  sluice requeue in/.sluice/failed/photo.jpg\n",
    .tables = {requeue_rows, cli_output_options},
};

static int requeue_all(const struct ask_options *o, int socket)
{
    struct fault fault = FAULT_INIT;
    json_t *answer;
    if (ask(socket, "requeue",
            json_pack("{s:s, s:i, s:b}", "type", "requeue", "id", 1, "failed", 1), &answer,
            &fault) != 0)
        return cli_complain("requeue", &fault);
    long long left = number(answer, "not_requeued");
    const char *text = json_string_value(json_object_get(answer, "text"));
    if (o->common.json)
        cli_print_json(json_incref(answer));
    else if (!o->common.quiet)
        fprintf(cli_stdout, "%lld files put back\n", number(answer, "requeued"));
    if (left > 0) {
        fault_set(&fault, FAULT_IO, "%lld files could not be put back: %s", left, text ? text : "");
        cli_complain("requeue", &fault);
    }
    json_decref(answer);
    return left > 0;
}

static int requeue_files(const struct ask_options *o, int socket, char **files, size_t count)
{
    json_t *all = o->common.json ? json_array() : NULL;
    int status = 0, failed = 0;
    for (size_t i = 0; i < count; i++) {
        struct fault fault = FAULT_INIT;
        json_t *answer;
        if (ask_about(socket, "requeue", files[i], &answer, &fault) != 0) {
            status = cli_complain(files[i], &fault);
            failed++;
        } else if (o->common.json) {
            json_object_set_new(answer, "file", json_string(files[i]));
            json_array_append(all, answer);
        } else if (!o->common.quiet && number(answer, "requeued") > 0) {
            const char *name = json_string_value(json_object_get(answer, "name"));
            fprintf(cli_stdout, "%s: put back as %s\n", files[i], name ? name : "?");
        } else if (!o->common.quiet) {
            fprintf(cli_stdout, "%s: is to be done anyway\n", files[i]);
        }
        json_decref(answer);
    }
    if (o->common.json)
        cli_print_json(all);
    return count > 1 && failed > 0 ? 1 : status;
}

static int requeue(void *options_, char **operands, size_t count)
{
    struct ask_options *o = options_;
    struct fault fault = FAULT_INIT;
    int socket;
    cli_common_apply(&o->common);
    if (o->failed == (count > 0))
        fault_set(&fault, FAULT_USAGE, "either files or --failed (see sluice requeue --help)");
    else
        daemon_connect(o->socket, &socket, &fault);
    if (fault.code != FAULT_NONE)
        return cli_complain("requeue", &fault);
    int status = o->failed ? requeue_all(o, socket) : requeue_files(o, socket, operands, count);
    close(socket);
    return status;
}

const struct command command_requeue = {&requeue_usage, sizeof(struct ask_options), requeue};
