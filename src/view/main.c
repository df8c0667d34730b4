/* sluice view: options, the files that are named, the browser, and the end. A program of its own,
 * so that sluice needs no library for HTTP. */
#include "view/view.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "view/client.h"
#include "view/compute.h"
#include "view/server.h"

#define TICK         (SECOND / 4)
#define ONCE_SECONDS 3 /* a page that is loaded again is away for a moment */

#define AT(member) offsetof(struct view_options, member)
static const struct options_row options[] = {
    OPTION('c', "CHAIN", TEXT, "chain", AT(chain), "the chain to begin with"),
    OPTION(0, "OPTIONS", TEXT, "input", AT(input), "how to read: orient=0, partial=1, raw=…"),
    OPTION('r', NULL, FLAG, "recursive", AT(recursive), "take folders in folders, too"),
    OPTION(0, NULL, FLAG, "daemon", AT(daemon), "show a running sluiced instead of files"),
    OPTION(0, "PATH", TEXT, "http-socket", AT(http_socket), "the daemon's HTTP socket",
           DEFAULT("/run/sluice/http.sock")),
    OPTION(0, "N", INTEGER, "port", AT(port), "of 127.0.0.1; 0: one that is free", RANGE(0, 65535),
           DEFAULT("0")),
    OPTION(0, NULL, FLAG, "no-open", AT(no_open), "open no browser, also where a desktop is"),
    OPTION(0, NULL, FLAG, "once", AT(once), "end when the page has been closed"),
    OPTION('q', NULL, FLAG, "quiet", AT(common.quiet), "say nothing but errors"),
    OPTION('v', NULL, FLAG, "verbose", AT(common.verbose), "say what is done"),
    {0},
};

static const struct options_usage usage = {
    .program = "sluice",
    .command = "view",
    .operands = "[-c CHAIN] FILE|DIR… | --daemon",
    .summary = "Shows pictures and a chain to tune in a browser, or a running daemon.",
    .details = "sluice view photo.jpg\n"
               "sluice view -c luminance,gauss:2,sobel photos/\n"
               "sluice view --daemon --http-socket /run/sluice/http.sock\n"
               "\nThe page is for this machine alone, and for those who know its address with the "
               "token behind #.\nFrom another one: ssh -t -L 8080:127.0.0.1:8080 BOARD sluice "
               "view --port 8080 PHOTOS.\n",
    .tables = {options, cli_config_options, cli_define_options, cli_device_options, cli_plan_options,
               cli_limit_options},
};

/* ---- files ---- */

/* Leaves out of folders what is no picture. What was named has to be there; what else is wrong with
 * it the page says.
 */
static int gather(struct viewer *view, char **operands, size_t count, struct fault *fault)
{
    struct inputs_rules rules = {.recursive = view->options->recursive,
                                 .verbose = view->options->common.verbose,
                                 .any = view->decode.raw != RAW_NONE};
    int result = inputs_gather(&view->inputs, operands, count, &rules, fault);
    if (result == 0)
        view->files = calloc(view->inputs.count + 1, sizeof *view->files);
    if (result == 0 && !view->files)
        return fault_set(fault, FAULT_MEMORY, "no memory for a list of files");
    for (size_t i = 0; i < view->inputs.count && result == 0; i++) {
        struct fault opening = FAULT_INIT;
        int fd = -1, opened = inputs_open(&view->inputs, i, &fd, &opening);
        bool named = view->inputs.list[i].folder == 0;
        if (named && strcmp(view->inputs.list[i].name, "-") == 0)
            return fault_set(fault, FAULT_USAGE, "stdin can be read only once: give a file");
        file_close(&fd);
        if (named && (opened == FAULT_NO_INPUT || opened == FAULT_PERMISSION))
            result =
                fault_set(fault, opening.code, "%s: %s", view->inputs.list[i].name, opening.text);
        else if (named || opened != INPUTS_OTHER)
            view->files[view->n_files++] = (uint32_t)i;
    }
    if (result == 0 && view->n_files == 0)
        result = fault_set(fault, FAULT_NO_INPUT, "no picture is there");
    return result;
}

/* ---- the browser ---- */

/* A file that leads to the page, for its owner alone: on a command line everybody could read the
 * token. NULL: there is no place for it. */
static char *write_way(const char *address)
{
    const char *folder = getenv("XDG_RUNTIME_DIR");
    char *path = NULL;
    if (asprintf(&path, "%s/sluice-view-XXXXXX.html", folder && folder[0] ? folder : "/tmp") < 0)
        return NULL;
    int fd = mkostemps(path, 5, O_CLOEXEC);
    bool good = fd >= 0 && dprintf(fd,
                                   "<!doctype html><meta http-equiv=refresh content=\"0; url=%s\">"
                                   "<title>sluice</title>\n",
                                   address) > 0;
    file_close(&fd);
    if (good)
        return path;
    free(path);
    return NULL;
}

/* Has the desktop open it; returns at once. */
static void open_browser(const char *path)
{
    pid_t child = fork();
    if (child == 0) {
        int null = open("/dev/null", O_RDWR | O_CLOEXEC);
        for (int fd = 0; fd < 3 && null >= 0; fd++)
            dup2(null, fd);
        sigset_t none;
        sigemptyset(&none);
        sigprocmask(SIG_SETMASK, &none, NULL);
        if (fork() == 0) {
            setsid();
            execlp("xdg-open", "xdg-open", path, (char *)NULL);
        }
        _exit(0);
    }
    if (child > 0)
        waitpid(child, NULL, 0);
}

static bool has_desktop(void)
{
    const char *x = getenv("DISPLAY"), *wayland = getenv("WAYLAND_DISPLAY");
    return (x && x[0]) || (wayland && wayland[0]);
}

/* What to do with the address, for who sits at a terminal. Over ssh a second one has to forward the
 * port; sshd says where it was reached. */
static void tell_way(unsigned port)
{
    const char *connection = getenv("SSH_CONNECTION"), *user = getenv("USER");
    char host[64], ssh_port[8], option[16] = "";
    if (connection && sscanf(connection, "%*s %*s %63s %7s", host, ssh_port) == 2) {
        if (strcmp(ssh_port, "22") != 0)
            snprintf(option, sizeof option, "-p %s ", ssh_port);
        fprintf(stderr,
                "sluice: unless port %u is forwarded already, in a terminal of your own machine: "
                "ssh %s-L %u:127.0.0.1:%u %s%s%s\n",
                port, option, port, port, user ? user : "", user ? "@" : "", host);
    }
    if (isatty(STDERR_FILENO))
        fputs("sluice: open this address in a browser; Ctrl+C ends\n", stderr);
}

/* ---- life ---- */

/* Over ssh without a terminal nothing else tells that the connection has gone. */
static bool is_left_alone(void)
{
    struct pollfd reader = {fileno(cli_stdout), 0, 0};
    return getenv("SSH_CONNECTION") && poll(&reader, 1, 0) > 0 &&
           (reader.revents & (POLLERR | POLLHUP)) != 0;
}

/* Until a signal, or with --once until no page has been open for some seconds. */
static void wait_for_end(struct server *server, bool once, const sigset_t *signals)
{
    struct timespec tick = {.tv_nsec = (long)TICK};
    uint64_t left = 0; /* when the last page went */
    for (;;) {
        bool ever;
        if (sigtimedwait(signals, NULL, &tick) > 0 || is_left_alone())
            return;
        server_tick(server);
        if (server_pages(server, &ever) > 0 || !ever)
            left = 0;
        else if (left == 0)
            left = clock_now();
        else if (once && clock_now() - left > ONCE_SECONDS * SECOND)
            return;
    }
}

static int serve(struct viewer *view, const sigset_t *signals)
{
    const struct view_options *o = view->options;
    struct fault fault = FAULT_INIT;
    struct server *server = NULL;
    char address[128], *way = NULL;
    if (server_open(&server, view, (uint16_t)o->port, &fault) != 0)
        return cli_complain("view", &fault);
    snprintf(address, sizeof address, "http://127.0.0.1:%u/#%s", server_port(server),
             server_token(server));
    fprintf(cli_stdout, "%s\n", address);
    fflush(cli_stdout);
    if (!o->common.quiet)
        tell_way(server_port(server));
    if (!o->no_open && has_desktop() && (way = write_way(address)) != NULL)
        open_browser(way);
    wait_for_end(server, o->once, signals);
    if (way)
        unlink(way);
    free(way);
    server_close(&server);
    return 0;
}

/* The files and the chain, or the daemon; and what decodes pictures of either. */
static int prepare(struct viewer *view, char **operands, size_t count)
{
    struct fault fault = FAULT_INIT;
    struct engine_options engine;
    const struct view_options *o = view->options;
    unsigned status = 0;
    struct bytes body = {0};
    view->chain = o->chain ? o->chain : "";
    int refused = cli_read_definitions(&o->common, &view->config, &view->chain);
    if (refused != 0)
        return refused;
    cli_engine_options(&o->common, &engine);
    engine.held = definitions_picture_bytes(&view->config.definitions);
    int result = decode_options_parse(&view->decode, o->input, "--input", &fault);
    if (result == 0)
        result = o->daemon ? client_ask(o->http_socket, "GET", "/version", &status, &body, &fault)
                           : gather(view, operands, count, &fault);
    bytes_finish(&body);
    if (result == 0)
        result = compute_open(&view->compute, view, &fault);
    if (result == 0 && !o->daemon)
        result = engine_open(&view->engine, &engine, &fault);
    return result == 0 ? 0 : cli_complain("view", &fault);
}

static int run(int argc, char **argv)
{
    struct view_options o = {0};
    struct viewer view = {.options = &o};
    sigset_t signals;
    int first = options_parse(&usage, &o, argc, argv, cli_stdout);
    if (first == OPTIONS_HELP_SHOWN)
        return 0;
    if (first < 0)
        return -first;
    if (!o.daemon && first == argc)
        return cli_refuse(64, "view: which pictures? or --daemon (see sluice view --help)");
    if (o.daemon && first < argc)
        return cli_refuse(64, "view: with --daemon there are no files, such as '%s'", argv[first]);
    cli_common_apply(&o.common);
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &signals, NULL); /* before there are threads, which inherit it */
    signal(SIGPIPE, SIG_IGN);
    int status = prepare(&view, argv + first, (size_t)(argc - first));
    if (status == 0)
        status = serve(&view, &signals);
    engine_close(&view.engine);
    compute_close(&view.compute);
    inputs_finish(&view.inputs);
    free(view.files);
    config_finish(&view.config);
    return status;
}

int main(int argc, char **argv)
{
    return cli_run(run, argc, argv);
}
