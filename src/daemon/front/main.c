/* sluiced: the daemon. This process decodes no picture, and loads neither OpenCL nor a codec. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/file.h"
#include "base/log.h"
#include "base/text.h"
#include "daemon/front/front.h"
#include "daemon/serve/manager.h"
#include "daemon/serve/receiver.h"
#include "param/options.h"

/* False when `base` is no absolute path, or too long. */
static bool put_path(char path[PATH_MAX], const char *base, size_t length, const char *below)
{
    if (!base || base[0] != '/')
        return false;
    int printed = snprintf(path, PATH_MAX, "%.*s%s", (int)length, base, below);
    return printed > 0 && printed < PATH_MAX;
}

/* The state directory's absolute path, which the caller frees: `told`, else systemd's
 * STATE_DIRECTORY, else XDG_STATE_HOME/sluice, else ~/.local/state/sluice. Whoever needs the
 * directory makes it. */
static int find_state(const char *told, char **found, struct fault *fault)
{
    const char *systemd = getenv("STATE_DIRECTORY"); /* several are separated by colons */
    const char *xdg = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    char path[PATH_MAX];
    *found = NULL;
    bool known = told ? snprintf(path, PATH_MAX, "%s", told) < PATH_MAX
                      : (systemd && put_path(path, systemd, strcspn(systemd, ":"), "")) ||
                            (xdg && put_path(path, xdg, strlen(xdg), "/sluice")) ||
                            (home && put_path(path, home, strlen(home), "/.local/state/sluice"));
    if (!known)
        return fault_set(fault, FAULT_CREATE,
                         "no state directory: say --state DIR (or set XDG_STATE_HOME or HOME)");
    *found = path_absolute(path);
    return *found ? 0 : fault_set_errno(fault, FAULT_CREATE, path);
}

static int load(const struct daemon_options *options, struct rulebook **book)
{
    struct text errors = {0};
    struct fault fault = FAULT_INIT;
    int result = daemon_options_load(options, book, &errors, &fault);
    const char *lines = text_string(&errors);
    for (size_t length; (length = strcspn(lines, "\n")) > 0; lines += length + 1)
        fprintf(stderr, "sluiced: %.*s%s\n", (int)length, lines,
                result == FAULT_USAGE && !lines[length + 1] ? " (see sluiced --help)" : "");
    if (result != 0 && errors.length == 0)
        options_complain("sluiced", NULL, &fault);
    text_finish(&errors);
    return result == 0 ? -1 : fault_exit_status(result);
}

static int run(const struct daemon_options *options, struct rulebook *book)
{
    const struct settings *settings = &book->config.settings;
    struct spool_world spools = {0};
    struct fault fault = FAULT_INIT;
    struct rlimit limit = {0};
    char *state;
    log_init("sluiced", (enum log_level)settings->log_level);
    log_set_format((enum log_format)settings->log_format);
    journal_attach();
    /* A job with many planes needs a descriptor for each. The usual soft limit exists for programs
     * that use select(2). */
    getrlimit(RLIMIT_NOFILE, &limit);
    rlim_t wanted = limit.rlim_max < 65536 ? limit.rlim_max : 65536;
    if (limit.rlim_cur < wanted) {
        limit.rlim_cur = wanted;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
    if (find_state(settings->state, &state, &fault) != 0)
        return options_complain("sluiced", "state", &fault);
    spools.state_path = state;
    if (ledger_open(&spools.ledger, state, &fault) != 0)
        return options_complain("sluiced", "ledger", &fault);
    int status = front_run(options, book, &spools);
    ledger_close(&spools.ledger);
    free(state);
    return status;
}

int main(int argc, char **argv)
{
    struct daemon_options options;
    struct rulebook *book;
    if (argc == 2 && strcmp(argv[1], RECEIVER_ARGUMENT) == 0)
        return receiver_run();
    log_show_time();
    log_never_wait();
    log_init("sluiced", LOG_LEVEL_WARNING); /* until the configuration sets the level */
    manager_init();
    int status = daemon_options_read(&options, argc, argv);
    if (status < 0)
        status = load(&options, &book);
    if (status >= 0)
        return status;
    status = run(&options, book);
    rulebook_leave(&book);
    return status;
}
