/* sluice run: the engine, fed from the command line. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "cli/commands.h"
#include "cli/common.h"
#include "cli/paths.h"
#include "cli/progress.h"
#include "cli/report.h"

struct run_options {
    struct common_options common;
    const char *chain, *output, *format, *input;
    bool verify, timing;
    int64_t iterations;
};

#define AT(member) offsetof(struct run_options, member)

static const struct options_row options[] = {
    {'c',
     "CHAIN",
     {.name = "chain",
      .type = PARAM_TEXT,
      .offset = AT(chain),
      .help = "stages joined by commas; without it formats are converted and no device is opened"}},
    {'o',
     "OUT",
     {.name = "output",
      .type = PARAM_TEXT,
      .offset = AT(output),
      .fallback = ".",
      .help = "a file (one input), a directory (ends in / or exists as one), or - for stdout"}},
    {'f',
     "FORMAT",
     {.name = "format",
      .type = PARAM_TEXT,
      .offset = AT(format),
      .help = "of the output, with options: png, jpg:quality=80; else by the output's name, in a "
              "directory png"}},
    {0,
     "OPTIONS",
     {.name = "input",
      .type = PARAM_TEXT,
      .offset = AT(input),
      .help =
          "how to read: orient=0 keeps the stored orientation, partial=1 takes truncated files, "
          "strict=1 refuses odd ones, raw=LAYOUT:w=N:h=N or raw=LAYOUT:N:N a camera's frame "
          "(gray8, "
          "gray16, rgb24, rgba32, nv12, yuyv)"}},
    {0,
     NULL,
     {.name = "verify",
      .type = PARAM_FLAG,
      .offset = AT(verify),
      .fallback = "0",
      .help = "compare the device's result with the plain C reference; exit 70 if they differ"}},
    {0,
     NULL,
     {.name = "timing",
      .type = PARAM_FLAG,
      .offset = AT(timing),
      .fallback = "0",
      .help = "print how long each step and each kernel took"}},
    {0,
     "N",
     {.name = "iterations",
      .type = PARAM_INTEGER,
      .offset = AT(iterations),
      .min = 1,
      .max = 100000,
      .fallback = "1",
      .help = "run the kernels N times; the last run is timed"}},
    {0},
};

static const struct options_usage usage = {
    .program = "sluice",
    .command = "run",
    .operands = "[-c CHAIN] [-o OUT] IN…",
    .summary = "Runs a chain on pictures, here, without a daemon. IN may be - for stdin.",
    .details = "sluice run -c luminance,sobel -o edges.png photo.jpg\n"
               "sluice run -c luminance,box:radius=4 -f jpg:quality=80 -o out/ *.jpg\n",
    .tables = {options, cli_config_options, cli_device_options, cli_plan_options, cli_limit_options,
               cli_output_options},
};

/* One input file on its way. */
struct run_file {
    struct run *run;
    const char *input;
    char *output; /* owned; "-" for stdout */
    struct file_draft draft;
    struct engine_job job;
    bool done;
};

struct run {
    struct run_options options;
    struct config config;
    struct chain chain;
    struct format format;
    struct decode_options decode;
    struct engine *engine;
    size_t n_files;
    struct run_file *files;
    struct progress progress;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    size_t n_done, n_failed;
};

static int open_output(void *context, const char *plane, int *fd, struct fault *fault)
{
    struct run_file *file = context;
    if (strcmp(file->output, "-") == 0) {
        if (plane[0])
            return fault_set(
                fault, FAULT_USAGE,
                "several planes do not fit one stream of this format; say --format npz, or write "
                "to files");
        *fd = fileno(cli_stdout);
        return 0;
    }
    char *path = paths_plane(file->output, plane);
    if (!path)
        return fault_set(fault, FAULT_MEMORY, "no memory for a file name");
    int result = file_draft_open(&file->draft, path, fault);
    *fd = file->draft.fd;
    free(path);
    return result;
}

static int close_output(void *context, int fd, bool good, struct fault *fault)
{
    struct run_file *file = context;
    (void)fd;
    if (strcmp(file->output, "-") == 0)
        return 0;
    if (good)
        return file_draft_commit(&file->draft, false, fault);
    file_draft_discard(&file->draft);
    return 0;
}

static void file_done(struct engine_job *job)
{
    struct run_file *file = job->user;
    struct run *run = file->run;
    if (job->in_fd > STDIN_FILENO)
        close(job->in_fd);
    pthread_mutex_lock(&run->lock);
    file->done = true;
    run->n_done++;
    if (job->fault.code || job->report.warnings.length)
        progress_clear(&run->progress);
    cli_tell_warnings(file->input, text_string(&job->report.warnings));
    if (job->fault.code) {
        run->n_failed++;
        cli_complain(file->input, &job->fault);
    }
    progress_show(&run->progress, run->n_done, run->n_files, run->n_failed);
    pthread_cond_broadcast(&run->changed);
    pthread_mutex_unlock(&run->lock);
}

static int open_input(struct run_file *file, struct fault *fault)
{
    if (strcmp(file->input, "-") == 0) {
        file->job.in_fd = STDIN_FILENO;
        return 0;
    }
    file->job.in_fd = open(file->input, O_RDONLY | O_CLOEXEC);
    if (file->job.in_fd >= 0)
        return 0;
    return fault_set(fault, errno == EACCES ? FAULT_PERMISSION : FAULT_NO_INPUT, "%s",
                     strerror(errno));
}

static int prepare_file(struct run *run, struct run_file *file, const char *input,
                        struct fault *fault)
{
    file->run = run;
    file->input = input;
    file->draft = (struct file_draft){.fd = -1, .directory_fd = -1};
    file->output = paths_output(run->options.output, input, run->format.extension);
    if (!file->output)
        return fault_set(fault, FAULT_MEMORY, "no memory for a file name");
    if (paths_is_directory(run->options.output) && paths_same_file(file->output, input))
        return fault_set(fault, FAULT_CREATE, "the result %s would replace its own input",
                         file->output);
    file->job = (struct engine_job){.in_fd = -1,
                                    .chain = &run->chain,
                                    .format = &run->format,
                                    .decode = run->decode,
                                    .output = {open_output, close_output, file},
                                    .verify = run->options.verify,
                                    .iterations = (unsigned)run->options.iterations,
                                    .done = file_done,
                                    .user = file};
    return 0;
}

/* Two inputs of one directory run may end in one name: a.jpg and a.png. */
static int check_names(const struct run *run, struct fault *fault)
{
    for (size_t i = 0; i < run->n_files; i++)
        for (size_t k = 0; k < i; k++)
            if (strcmp(run->files[i].output, run->files[k].output) == 0)
                return fault_set(fault, FAULT_USAGE, "%s and %s would both be written to %s",
                                 run->files[k].input, run->files[i].input, run->files[i].output);
    return 0;
}

static int choose_format(struct run *run, struct fault *fault)
{
    const struct run_options *o = &run->options;
    if (o->format)
        return format_parse(&run->format, o->format, fault);
    if (strcmp(o->output, "-") == 0)
        return fault_set(fault, FAULT_USAGE, "-o - needs --format");
    if (paths_is_directory(o->output))
        return format_parse(&run->format, "png", fault);
    return format_for_name(&run->format, o->output, fault);
}

static int setup(struct run *run, struct fault *fault)
{
    const struct run_options *o = &run->options;
    int result = choose_format(run, fault);
    return result ? result : decode_options_parse(&run->decode, o->input, "--input", fault);
}

static int add_files(struct run *run, char **inputs, size_t count, struct fault *fault)
{
    run->files = calloc(count, sizeof *run->files);
    if (!run->files)
        return fault_set(fault, FAULT_MEMORY, "no memory for %zu files", count);
    if (count > 1 && !paths_is_directory(run->options.output))
        return fault_set(fault, FAULT_USAGE,
                         "%zu inputs need a directory for their results: -o DIRECTORY/", count);
    size_t length = strlen(run->options.output);
    if (length > 0 && run->options.output[length - 1] == '/' &&
        mkdir(run->options.output, 0777) != 0 && errno != EEXIST)
        return fault_set_errno(fault, FAULT_CREATE, run->options.output);
    for (size_t i = 0; i < count; i++) {
        run->n_files++;
        int result = prepare_file(run, &run->files[i], inputs[i], fault);
        if (result != 0)
            return result;
    }
    return check_names(run, fault);
}

/* As many descriptors are open as jobs can be under way, not as many as there are files. */
static void submit_all(struct run *run)
{
    enum {
        AHEAD = 32
    };
    for (size_t i = 0; i < run->n_files; i++) {
        struct run_file *file = &run->files[i];
        struct fault fault = FAULT_INIT;
        pthread_mutex_lock(&run->lock);
        while (i - run->n_done >= AHEAD)
            pthread_cond_wait(&run->changed, &run->lock);
        pthread_mutex_unlock(&run->lock);
        if (open_input(file, &fault) == 0) {
            engine_submit(run->engine, &file->job);
        } else {
            file->job.fault = fault;
            file_done(&file->job);
        }
    }
    pthread_mutex_lock(&run->lock);
    while (run->n_done < run->n_files)
        pthread_cond_wait(&run->changed, &run->lock);
    pthread_mutex_unlock(&run->lock);
}

static int exit_status(const struct run *run)
{
    if (run->n_failed == 0)
        return 0;
    if (run->n_files == 1)
        return fault_exit_status(run->files[0].job.fault.code);
    return 1;
}

static void print_failures(const struct run *run)
{
    if (run->n_files < 2 || run->n_failed == 0)
        return;
    fprintf(stderr, "sluice: %zu of %zu files failed:\n", run->n_failed, run->n_files);
    for (size_t i = 0; i < run->n_files; i++)
        if (run->files[i].job.fault.code)
            fprintf(stderr, "  %s (%s)\n", run->files[i].input,
                    fault_name(run->files[i].job.fault.code));
}

static void print_reports(struct run *run, uint64_t wall)
{
    if (run->options.common.json) {
        struct report_json *json = report_json_begin(&run->chain, run->engine, wall);
        for (size_t i = 0; i < run->n_files; i++)
            report_json_add(json, run->files[i].input, run->files[i].output, &run->files[i].job);
        report_json_end(json, cli_stdout);
    } else if (run->options.timing) {
        /* To stderr when the picture itself goes to stdout. */
        FILE *to = strcmp(run->options.output, "-") == 0 ? stderr : cli_stdout;
        for (size_t i = 0; i < run->n_files; i++)
            report_print_timing(run->files[i].input, &run->files[i].job, run->engine, to);
    }
}

static void finish(struct run *run)
{
    engine_close(&run->engine);
    for (size_t i = 0; i < run->n_files; i++) {
        engine_report_finish(&run->files[i].job.report);
        free(run->files[i].output);
    }
    free(run->files);
    format_finish(&run->format);
    chain_finish(&run->chain);
    config_finish(&run->config);
    pthread_cond_destroy(&run->changed);
    pthread_mutex_destroy(&run->lock);
}

/* The program is written after pictures are done, when it is late to hear that it cannot be. */
static int check_dump(const char *path)
{
    struct file_draft draft;
    struct fault fault = FAULT_INIT;
    char what[PATH_MAX + 16];
    if (!path)
        return 0;
    if (file_draft_open(&draft, path, &fault) == 0) {
        file_draft_discard(&draft);
        return 0;
    }
    snprintf(what, sizeof what, "--dump-binary %s", path);
    return cli_complain(what, &fault);
}

static int run_all(struct run *run, char **inputs, size_t count)
{
    struct fault fault = FAULT_INIT;
    struct engine_options engine;
    const char *text = run->options.chain ? run->options.chain : "";
    int status = cli_read_config(&run->options.common, &run->config, &text);
    if (status != 0)
        return status;
    status = cli_parse_chain(&run->chain, text, &run->config.definitions);
    if (status != 0)
        return status;
    if (setup(run, &fault) != 0 || add_files(run, inputs, count, &fault) != 0)
        return cli_complain(NULL, &fault);
    if (run->options.common.json && strcmp(run->options.output, "-") == 0) {
        fputs("sluice: --json and -o - both want stdout\n", stderr);
        return 64;
    }
    status = check_dump(run->options.common.dump_binary);
    if (status != 0)
        return status;
    cli_engine_options(&run->options.common, &engine);
    if (engine_open(&run->engine, &engine, &fault) != 0)
        return cli_complain(NULL, &fault);
    progress_begin(&run->progress, run->options.common.quiet || count < 2);
    uint64_t begin = clock_now();
    submit_all(run);
    uint64_t wall = clock_now() - begin;
    progress_clear(&run->progress);
    print_reports(run, wall);
    if (!run->options.common.quiet)
        print_failures(run);
    return exit_status(run);
}

int command_run(int argc, char **argv)
{
    struct run run = {0};
    int first = options_parse(&usage, &run.options, argc, argv, cli_stdout);
    if (first < 0)
        return first == OPTIONS_HELP_SHOWN ? 0 : -first;
    cli_common_apply(&run.options.common);
    if (first == argc) {
        fputs("sluice: run: no input (see sluice run --help)\n", stderr);
        return 64;
    }
    pthread_mutex_init(&run.lock, NULL);
    pthread_cond_init(&run.changed, NULL);
    int status = run_all(&run, argv + first, (size_t)(argc - first));
    finish(&run);
    return status;
}
