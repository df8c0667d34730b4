/* sluiced: the daemon's front. It never parses a pixel, and loads neither OpenCL nor a codec. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"
#include "base/text.h"
#include "daemon/front/front.h"
#include "daemon/front/journal.h"
#include "daemon/spool/ledger.h"
#include "daemon/serve/manager.h"
#include "daemon/serve/receiver.h"
#include "daemon/front/options.h"
#include "daemon/spool/spool.h"
#include "daemon/spool/state.h"
#include "param/options.h"

/* A job of many planes has a descriptor for each; the usual soft limit is for programs that use
 * select(2). */
static void raise_descriptor_limit(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return;
    rlim_t wanted = limit.rlim_max < 65536 ? limit.rlim_max : 65536;
    if (limit.rlim_cur >= wanted)
        return;
    limit.rlim_cur = wanted;
    setrlimit(RLIMIT_NOFILE, &limit);
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

/* A folder whose originals stay needs the ledger; the others do without. */
static int open_ledger(const struct settings *settings, const char *path, struct ledger **ledger)
{
    struct fault fault = FAULT_INIT;
    if (ledger_open(ledger, path, &fault) == 0)
        return -1;
    for (size_t i = 0; i < settings->n_watches; i++)
        if (settings->watches[i].originals == ORIGINALS_KEEP)
            return options_complain("sluiced", "ledger", &fault);
    log_error("%s: what became of files will not be known later", fault.text);
    return -1;
}

/* −1, or the exit status. Whatever else is wrong with the path shows when it is opened. */
static int make_folder(const char *path)
{
    struct fault fault = FAULT_INIT;
    if (access(path, F_OK) == 0 || errno != ENOENT)
        return -1;
    if (path_make_directories(path, 0777, &fault) != 0)
        return options_complain("sluiced", path, &fault);
    log_info("%s: there was no such folder; it is made", path);
    return -1;
}

/* Those of the command line: whoever names one there wants it to be used now. One of a
 * configuration may be a disk that is not mounted. */
static int make_folders(const struct daemon_options *options, const struct settings *settings)
{
    if (!daemon_options_name_folder(options))
        return -1;
    int status = make_folder(settings->watches[0].input);
    return status < 0 ? make_folder(settings->watches[0].output) : status;
}

static int run(const struct daemon_options *options, struct rulebook *book)
{
    const struct settings *settings = &book->config.settings;
    struct spool_world spools = {0};
    struct fault fault = FAULT_INIT;
    char *state;
    log_init("sluiced", (enum log_level)settings->log_level);
    journal_attach();
    raise_descriptor_limit();
    if (state_open(settings->state, &state, &spools.state_fd, &fault) != 0)
        return options_complain("sluiced", "state", &fault);
    spools.state_path = state;
    int status = open_ledger(settings, state, &spools.ledger);
    if (status < 0)
        status = make_folders(options, settings);
    if (status < 0)
        status = front_run(options, book, &spools);
    ledger_close(&spools.ledger);
    free(state);
    close(spools.state_fd);
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
    log_init("sluiced", LOG_LEVEL_WARNING); /* until the configuration says more */
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
