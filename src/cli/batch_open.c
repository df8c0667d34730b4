/* Before the first file: the options; where results go, in which format, which pictures. And, as
 * long as the batch lasts, the thread that draws the progress bar and takes signals. */
#include "cli/batch.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/name.h"
#include "chain/chain.h"

#define AT(member)   offsetof(struct batch_options, member)
#define WISH(member) offsetof(struct batch_wish, member)

const struct options_groups cli_batch_groups = {"results of one picture", AT(wishes),
                                                sizeof(struct batch_wish), CHAIN_RESULTS_MAX,
                                                AT(n_wishes)};

const struct options_row cli_batch_options[] = {
    OPTION_EACH('c', "CHAIN", TEXT, "chain", WISH(chain),
                "stages joined by commas, or the name of a configured chain; without it formats "
                "are converted and no device is opened. -c, -o, -f and --name given again are "
                "about a further result of the same picture, which is read once; what it leaves "
                "out is as for the first"),
    OPTION_EACH(
        'o', "OUT", TEXT, "output", WISH(output),
        "a file (for one input; a link is followed), a directory (its name ends in /, or it "
        "exists; it is made for several inputs or a directory), or - for stdout",
        DEFAULT(".")),
    OPTION_EACH(
        'f', "FORMAT", TEXT, "format", WISH(format),
        "format of the output, with options: png, jpg:quality=80; else as the output's name "
        "says, png in a directory"),
    OPTION(
        0, "OPTIONS", TEXT, "input", AT(input),
        "options for reading: orient=0 keeps the stored orientation, partial=1 accepts truncated "
        "files, strict=1 refuses files with warnings, raw=LAYOUT:w=N:h=N or raw=LAYOUT:N:N reads "
        "a camera's frame (gray8, gray16, rgb24, rgba32, nv12, yuyv)"),
    OPTION('r', NULL, FLAG, "recursive", AT(recursive),
           "take pictures from all directories below, too; results go to the same directories "
           "below the output directory"),
    OPTION_EACH(
        0, "TEMPLATE", TEXT, "name", WISH(name),
        "name of results in a directory: {stem} and {name} of the input, {chain}, {date}; it ends "
        "in .{ext}",
        DEFAULT("{stem}.{ext}")),
    OPTION(0, "RULE", CHOICE, "on-exists", AT(on_exists),
           "when a result's name is taken: replace that file, leave the input out, call the "
           "result photo-1.png, or fail",
           CHOICES({"overwrite", EXISTS_RULE_OVERWRITE}, {"skip", EXISTS_RULE_SKIP},
                   {"number", EXISTS_RULE_NUMBER}, {"fail", EXISTS_RULE_FAIL}),
           DEFAULT("overwrite")),
    {0},
};

/* Completes what is asked for the results. */
static void take_wishes(struct batch *batch)
{
    const struct batch_options *o = batch->options;
    const struct batch_wish *first = &o->wishes[0];
    batch->n_places = o->n_wishes;
    for (size_t i = 0; i < o->n_wishes; i++) {
        struct batch_wish *wish = &batch->places[i].wish;
        *wish = o->wishes[i];
        if (!wish->chain)
            wish->chain = first->chain;
        if (!wish->output)
            wish->output = first->output;
        if (!wish->name)
            wish->name = first->name;
    }
}

/* By its own -f, by the name of its file, or else as the first. */
static int choose_format(const struct batch *batch, struct batch_place *place, struct fault *fault)
{
    struct batch_wish *wish = &place->wish;
    const char *output = wish->output;
    bool is_stdout = strcmp(output, "-") == 0;
    if (!wish->format && (place->to_folder || is_stdout))
        wish->format = batch->options->wishes[0].format;
    const char *format = wish->format;
    if (format) {
        int result = format_parse(&place->format, format, fault);
        if (result == 0 && !is_stdout && !place->to_folder)
            result = format_check_name(&place->format, output, fault);
        return result;
    }
    if (is_stdout)
        return fault_set(fault, FAULT_USAGE, "-o - needs --format");
    if (place->to_folder)
        return format_parse(&place->format, "png", fault);
    if (!path_name(output)[path_stem_length(path_name(output))])
        return fault_set(fault, FAULT_USAGE,
                         "'%s' has no extension to tell the output format by; say --format, or -o "
                         "%s/ for a directory",
                         output, output);
    return format_for_name(&place->format, output, fault);
}

/* Whether OUT is a folder, existing or to be made. */
static int choose_place(struct batch *batch, struct batch_place *place, char **operands,
                        size_t count, struct fault *fault)
{
    const char *out = place->wish.output;
    struct stat status;
    bool is_folder = count == 1 && strcmp(operands[0], "-") != 0 &&
                     stat(operands[0], &status) == 0 && S_ISDIR(status.st_mode);
    bool many = count > 1 || is_folder, is_stdout = strcmp(out, "-") == 0;
    batch->alone = !many;
    if (!out[0])
        return fault_set(fault, FAULT_USAGE, "-o: a name is missing");
    place->to_folder = !is_stdout && path_is_directory(out);
    if (place->to_folder || !many)
        return 0;
    place->to_folder = !is_stdout && !format_is_named(out) && lstat(out, &status) != 0;
    if (place->to_folder)
        return 0;
    if (is_folder)
        return fault_set(fault, FAULT_NO_INPUT,
                         "%s is a directory, whose results need one, too: -o DIRECTORY/",
                         operands[0]);
    return fault_set(fault, FAULT_USAGE,
                     "%zu inputs need a directory for their results: -o DIRECTORY/", count);
}

static int make_folder(const struct batch *batch, const char *out, struct fault *fault)
{
    if (mkdir(out, 0777) == 0) {
        if (!batch->options->common.quiet)
            fprintf(stderr, "sluice: made the directory %s\n", out);
        return 0;
    }
    struct stat status;
    if (errno != EEXIST)
        return fault_set_errno(fault, FAULT_CREATE, out);
    if (stat(out, &status) == 0 && S_ISDIR(status.st_mode))
        return 0;
    return fault_set(fault, FAULT_CREATE, "%s is there and is no directory", out);
}

/* Devices and pipes are not tried, since their readers would notice. */
static int try_output(const struct batch_place *place, struct fault *fault)
{
    const char *out = place->wish.output;
    struct file_draft draft;
    struct stat status;
    char *path;
    if (strcmp(out, "-") == 0 ||
        (stat(out, &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode)))
        return 0;
    if (asprintf(&path, "%s%s", out,
                 place->to_folder ? "/result" + (out[strlen(out) - 1] == '/') : "") < 0)
        return fault_set(fault, FAULT_MEMORY, "no memory for a file name");
    int result = file_draft_open(&draft, path, fault);
    file_draft_discard(&draft);
    free(path);
    return result;
}

int batch_try_output(const struct batch *batch, struct fault *fault)
{
    int result = 0;
    for (size_t i = 0; i < batch->n_places && result == 0; i++)
        result = try_output(&batch->places[i], fault);
    return result;
}

static int check_options(const struct batch *batch, struct fault *fault)
{
    const struct batch_options *o = batch->options;
    size_t n_stdout = 0;
    for (size_t i = 0; i < batch->n_places; i++) {
        const struct batch_place *place = &batch->places[i];
        const char *name = o->wishes[i].name;
        struct fault why = FAULT_INIT;
        if (settings_check_name(place->wish.name, &why) != 0)
            return fault_set(fault, FAULT_USAGE, "--name: %s", why.text);
        if (!place->to_folder && name && strcmp(name, "{stem}.{ext}") != 0)
            return fault_set(fault, FAULT_USAGE,
                             "--name is for results in a directory, which -o %s is not",
                             place->wish.output);
        n_stdout += strcmp(place->wish.output, "-") == 0;
    }
    if (n_stdout > 1)
        return fault_set(fault, FAULT_USAGE, "two results, and both want stdout (-o -)");
    if (o->common.json && n_stdout > 0)
        return fault_set(fault, FAULT_USAGE, "--json and -o - both want stdout");
    return 0;
}

/* Finds a chain where the first picture belongs, before anything is done. */
static int check_operand(const struct batch *batch, const char *operand, struct fault *fault)
{
    struct fault no_chain = FAULT_INIT;
    struct chain chain = {0};
    struct stat status;
    if (batch->places[0].wish.chain || lstat(operand, &status) == 0 || errno != ENOENT)
        return 0;
    bool is_chain = chain_parse(&chain, operand, &no_chain) == 0 && chain.n_steps > 0;
    chain_finish(&chain);
    return is_chain ? fault_set(fault, FAULT_USAGE,
                                "%s: there is no such file; a chain is given by -c", operand)
                    : 0;
}

static int list_inputs(struct batch *batch, char **operands, size_t count, struct fault *fault)
{
    struct stat out[CHAIN_RESULTS_MAX];
    struct inputs_rules rules = {.recursive = batch->options->recursive,
                                 .verbose = batch->options->common.verbose,
                                 .any = batch->decode.raw != RAW_NONE,
                                 .outs = out};
    struct inputs inputs;
    bool clash = batch->n_places > 1;
    for (size_t i = 0; i < batch->n_places; i++) {
        const struct batch_place *place = &batch->places[i];
        clash |= place->to_folder;
        if (place->to_folder && stat(place->wish.output, &out[rules.n_outs]) == 0)
            rules.n_outs++;
    }
    int result = inputs_gather(&inputs, operands, count, &rules, fault);
    batch->inputs = inputs;
    if (result == 0 && clash)
        result =
            inputs_find_clashes(&batch->inputs, batch_name_result, batch->n_places, batch, fault);
    return result;
}

/* ---- progress and signals ---- */

static struct batch *shown; /* the batch whose progress bar may be on the terminal */

/* How many there are, as far as it is known; 0 while they are being listed. */
static size_t count_pictures(const struct batch *batch)
{
    return batch->files ? batch->inputs.count - batch->n_no_pictures - batch->n_twice : 0;
}

void batch_show(void *batch_)
{
    struct batch *batch = batch_;
    char waiting[ENGINE_PREPARING_MAX] = "";
    pthread_mutex_lock(&batch->lock);
    if (!batch->files)
        snprintf(waiting, sizeof waiting, "looking for pictures");
    else if (batch->n_busy > 0)
        batch->waiting(batch->context, waiting);
    struct progress_state state = {.total = count_pictures(batch),
                                   .ended = batch->n_ended,
                                   .failed = batch->n_failed,
                                   .pixels = batch->pixels,
                                   .waiting = waiting};
    progress_show(&batch->progress, &state);
    pthread_mutex_unlock(&batch->lock);
}

static bool make_room_for_log(enum log_level level, const char *program, const char *line,
                              const struct log_subject *about)
{
    /* Only tries: whoever has this lock may wait for a lock of the engine's that this thread has.
     */
    if (pthread_mutex_trylock(&shown->lock) == 0) {
        progress_clear(&shown->progress);
        pthread_mutex_unlock(&shown->lock);
    }
    return false; /* the line goes to stderr */
}

/* Called on the thread that handles signals. With the lock, no result gets its name any more.
 * Whoever keeps the lock for long waits for a terminal or pipe that nobody reads. */
static void interrupted(void *batch_)
{
    struct batch *batch = batch_;
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec++;
    pthread_mutex_timedlock(&batch->lock, &until);
    file_drafts_abandon();
    progress_clear(&batch->progress);
    if (batch->files && !batch->options->common.quiet)
        fprintf(stderr, "sluice: interrupted: %zu of %zu files done\n", batch->n_done,
                count_pictures(batch));
}

/* A thread that handles SIGINT, SIGTERM and SIGHUP for the whole process, and calls `tick` ten
 * times a second. */
static struct {
    bool begun;
    pthread_t thread;
    sigset_t signals, before;
    void (*tick)(void *context), (*ending)(void *context);
    void *context;
} taker;

/* ends the thread; nobody else sends it */
#define WAKE SIGRTMIN

static void *take_signals(void *unused)
{
    static const struct timespec interval = {.tv_nsec = 100000000};
    int signal;
    while ((signal = sigtimedwait(&taker.signals, NULL, &interval)) != WAKE) {
        if (signal > 0) {
            taker.ending(taker.context);
            _exit(128 + signal);
        }
        taker.tick(taker.context);
    }
    return NULL;
}

/* To be called before any other thread starts, because the signals are then blocked. Signals that
 * were ignored (nohup) stay so. At a signal `ending` is called, and the process ends at once with
 * the exit status 128 plus the signal's number. */
static void begin_signals(void (*tick)(void *context), void (*ending)(void *context), void *context)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction action;
    taker.tick = tick;
    taker.ending = ending;
    taker.context = context;
    sigemptyset(&taker.signals);
    sigaddset(&taker.signals, WAKE);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        if (sigaction(signals[i], NULL, &action) == 0 && action.sa_handler != SIG_IGN)
            sigaddset(&taker.signals, signals[i]);
    pthread_sigmask(SIG_BLOCK, &taker.signals, &taker.before);
    taker.begun = pthread_create(&taker.thread, NULL, take_signals, NULL) == 0;
    if (!taker.begun) /* without the thread, signals end the process as usual */
        pthread_sigmask(SIG_SETMASK, &taker.before, NULL);
}

void batch_end_signals(void)
{
    if (!taker.begun)
        return;
    pthread_kill(taker.thread, WAKE);
    pthread_join(taker.thread, NULL);
    taker.begun = false;
    pthread_sigmask(SIG_SETMASK, &taker.before, NULL);
}

/* ---- all of it ---- */

int batch_open(struct batch *batch, const struct batch_options *options, char **operands,
               size_t count)
{
    struct fault fault = FAULT_INIT;
    batch->options = options;
    batch->end = fault;
    pthread_mutex_init(&batch->lock, NULL);
    pthread_cond_init(&batch->changed, NULL);
    name_today(batch->day);
    progress_begin(&batch->progress, options->common.quiet);
    batch->begun = clock_now();
    shown = batch;
    log_set_sink(make_room_for_log);
    begin_signals(batch_show, interrupted, batch);
    /* temporary files would stay, so the signal is handled; a write reports it, too */
    take_wishes(batch);
    bool is_stdout = false;
    int result = 0;
    for (size_t i = 0; i < batch->n_places && result == 0; i++) {
        is_stdout |= strcmp(batch->places[i].wish.output, "-") == 0;
        result = choose_place(batch, &batch->places[i], operands, count, &fault);
        if (result == 0)
            result = choose_format(batch, &batch->places[i], &fault);
    }
    if (!is_stdout)
        signal(SIGPIPE, SIG_IGN);
    if (result == 0)
        result = check_options(batch, &fault);
    if (result == 0)
        result = check_operand(batch, operands[0], &fault);
    if (result == 0)
        result = decode_options_parse(&batch->decode, options->input, "--input", &fault);
    for (size_t i = 0; i < batch->n_places && result == 0; i++)
        if (batch->places[i].to_folder)
            result = make_folder(batch, batch->places[i].wish.output, &fault);
    if (result == 0)
        result = batch_try_output(batch, &fault);
    struct batch_file *files = calloc(BATCH_FILES, sizeof *files);
    if (result == 0 && !files)
        result = fault_set(&fault, FAULT_MEMORY, "no memory for files");
    if (result == 0)
        result = list_inputs(batch, operands, count, &fault);
    pthread_mutex_lock(&batch->lock);
    batch->files = files;
    progress_clear(&batch->progress);
    pthread_mutex_unlock(&batch->lock);
    return result ? cli_complain(NULL, &fault) : 0;
}
