/* sluice run: runs the engine on the files of the command line. */
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/number.h"
#include "cli/batch.h"
#include "cli/common.h"
#include "worker/describe.h"

/* Limits the open descriptors to the jobs under way. */
#define AHEAD 32

struct run_options {
    struct batch_options batch;
    bool verify, timing;
    int64_t iterations;
};

#define AT(member) offsetof(struct run_options, member)

static const struct options_row options[] = {
    OPTION(0, NULL, FLAG, "verify", AT(verify),
           "compare the device's result with the plain C reference and print the difference; exit "
           "70 if it is too large"),
    OPTION(0, NULL, FLAG, "timing", AT(timing), "print how long each step and each kernel took"),
    OPTION(0, "N", INTEGER, "iterations", AT(iterations),
           "run the kernels N times; the last run is timed", RANGE(1, 100000), DEFAULT("1")),
    {0},
};

static const struct options_usage usage = {
    .command = "run",
    .operands = "[-c CHAIN] [-o OUT] [-c CHAIN -o OUT …] IN…",
    .summary = "Runs a chain on pictures, here, without a daemon. IN is a file, a directory, or - "
               "for stdin.",
    .details = "sluice run -c luminance,sobel:scale=1 -o edges.png photo.jpg\n"
               "sluice run -c luminance,box:radius=4 -f jpg:quality=80 -o out/ *.jpg\n"
               "sluice run -r -c luminance -o grey/ --on-exists skip photos/\n"
               "sluice run -c resize:w=800 -o large.jpg -c resize:w=200 -o small.jpg photo.jpg\n",
    .tables = {cli_batch_options, options, cli_config_options, cli_define_options, cli_device_options,
               cli_binary_options, cli_plan_options, cli_limit_options, cli_output_options},
    .groups = &cli_batch_groups,
};

struct run {
    const struct run_options *options;
    struct config config;
    struct chain chain;
    struct batch batch;
    struct engine *engine;
    struct engine_result results[CHAIN_RESULTS_MAX]; /* the same for all jobs */
    struct engine_job *jobs; /* by the places of their files (batch.h) */
    bool verified;           /* at least one result was compared, and all agree */
    double largest;          /* the largest difference of all results */
};

/* ---- --timing ---- */

static double ms(uint64_t nanoseconds)
{
    return (double)nanoseconds * 1e-6;
}

static void print_plane(const char *label, const char *format, const struct plane *plane, FILE *to)
{
    if (plane->width > 0)
        fprintf(to, "  %-8s %s %ux%ux%u %s\n", label, format, plane->width, plane->height,
                plane->channels, sample_name(plane->type));
}

static void print_timing(const char *input, const struct engine_job *job, FILE *to)
{
    const struct engine_report *r = &job->report;
    fprintf(to, "%s: %s\n", input, job->fault.code ? fault_name(job->fault.code) : "done");
    if (r->ran_on)
        fprintf(to, "  device   %s, driver %s\n", r->ran_on->name, r->ran_on->driver);
    print_plane("in", r->in_format, &r->in, to);
    for (size_t i = 0; i < r->n_results; i++)
        print_plane("out", r->results[i].format, &r->results[i].plane, to);
    if (r->reduced > 1)
        fprintf(to, "  decoded at 1/%u of its sides, which are %ux%u\n", r->reduced,
                r->in.whole_width, r->in.whole_height);
    if (r->n_results > 1)
        fprintf(to, "  %zu results: %zu stages have run, in place of %zu\n", r->n_results,
                r->n_stages, r->n_asked);
    if (r->stored_luma)
        fprintf(to, "  the file's own Y channel was taken as luminance\n");
    fprintf(to, "  read %s, decode %s, prepare %s, device %s, encode %s, write %s, total %s\n",
            number_duration(r->read), number_duration(r->decode), number_duration(r->prepare),
            number_duration(r->device), number_duration(r->encode), number_duration(r->write),
            number_duration(r->total));
    if (r->n_launches > 0)
        fprintf(to, "  %-12s %-44s %10s %10s %10s\n", "stage", "kernel", "queued ms", "wait ms",
                "run ms");
    for (size_t i = 0; i < r->n_launches; i++)
        fprintf(to, "  %-12s %-44s %10.3f %10.3f %10.3f\n", r->launches[i].stage,
                r->launches[i].kernel, ms(r->launches[i].queued), ms(r->launches[i].wait),
                ms(r->launches[i].run));
    fprintf(to,
            "  handed to the device %" PRIu64 "×, back %" PRIu64 "×; copied by the host %" PRIu64
            " bytes\n",
            r->crossings_in, r->crossings_out, r->bytes_copied);
}

/* ---- the files ---- */

/* stderr when a picture goes to stdout. */
static FILE *answers(const struct run *run)
{
    bool is_stdout = false;
    for (size_t i = 0; i < run->batch.n_places; i++)
        is_stdout |= strcmp(run->batch.places[i].wish.output, "-") == 0;
    return is_stdout ? stderr : cli_stdout;
}

static void job_done(struct engine_job *job)
{
    struct batch_file *file = job->user;
    const struct run *run = file->batch->context;
    const struct engine_report *report = &job->report;
    file->fault = job->fault;
    file->pixels = (uint64_t)report->in.width * report->in.height;
    /* The device works, but this picture needs another one. */
    file->is_its_own = job->fault.code == FAULT_NO_DEVICE && engine_device(run->engine);
    batch_end(file);
}

static void told(struct batch_file *file, json_t *entry)
{
    struct run *run = file->batch->context;
    struct engine_job *job = &run->jobs[file->place];
    if (job->user != file) /* it was never started */
        *job = (struct engine_job){0};
    if (job->report.verified) {
        run->verified = true;
        if (job->report.largest_difference > run->largest)
            run->largest = job->report.largest_difference;
    }
    job->fault = file->fault;
    cli_tell_warnings(file->input, text_string(&job->report.warnings));
    if (entry)
        json_object_update_missing_new(entry, describe_report(&job->report, SIZE_MAX));
    if (entry && file->fault.code && job->report.step)
        json_object_set_new(entry, "step", json_string(job->report.step));
    if (!entry && run->options->timing)
        print_timing(file->input, job, answers(run));
    engine_report_finish(&job->report);
    job->user = NULL;
}

static void waiting(void *run_, char text[ENGINE_PREPARING_MAX])
{
    const struct run *run = run_;
    engine_preparing(run->engine, text);
}

/* Whether a result goes to stdout or another pipe. */
static bool is_final(const struct run *run, const struct batch_file *file)
{
    struct stat status;
    bool final = false;
    for (size_t i = 0; i < run->batch.n_places; i++)
        final |= strcmp(file->outputs[i], "-") == 0 ||
                 (stat(file->outputs[i], &status) == 0 && S_ISFIFO(status.st_mode));
    return final;
}

static void submit(struct run *run, struct batch_file *file)
{
    struct engine_job *job = &run->jobs[file->place];
    *job = (struct engine_job){
        .in_fd = file->fd,
        .chain = &run->chain,
        .results = run->results,
        .decode = run->batch.decode,
        .output = {batch_open_output, batch_close_output, file, .is_final = is_final(run, file)},
        .verify = run->options->verify,
        .iterations = (unsigned)run->options->iterations,
        .done = job_done,
        .user = file};
    engine_submit(run->engine, job);
}

static void tell_verified(const struct run *run)
{
    const struct common_options *common = &run->options->batch.common;
    if (!run->options->verify || common->json || common->quiet || run->batch.n_done == 0)
        return;
    if (!run->verified)
        fputs("verified: nothing, no device has computed\n", answers(run));
    else if (run->largest > 0)
        fprintf(answers(run), "verified: largest difference %.3g\n", run->largest);
    else
        fputs("verified: equal\n", answers(run));
}

/* Checks files for program binaries early: the binary is written after pictures are done, and a
 * binary that cannot be read is no picture's fault. */
static int check_binaries(const char *dump, const char *load)
{
    struct file_draft draft;
    struct fault fault = FAULT_INIT;
    char what[PATH_MAX + 16];
    if (dump && file_draft_open(&draft, dump, &fault) == 0)
        file_draft_discard(&draft);
    snprintf(what, sizeof what, "--dump-binary %s", dump ? dump : "");
    if (!fault.code && load && access(load, R_OK) != 0) {
        fault_set_errno(&fault, FAULT_NO_INPUT, NULL);
        snprintf(what, sizeof what, "--load-binary %s", load);
    }
    return fault.code ? cli_complain(what, &fault) : 0;
}

static int open_engine(struct run *run)
{
    struct engine_options how;
    struct fault fault = FAULT_INIT;
    run->jobs = calloc(BATCH_FILES, sizeof *run->jobs);
    cli_engine_options(&run->options->batch.common, &how);
    how.held = definitions_picture_bytes(&run->config.definitions);
    if (!run->jobs)
        fault_set(&fault, FAULT_MEMORY, "no memory for jobs");
    else
        engine_open(&run->engine, &how, &fault);
    return fault.code ? cli_complain(NULL, &fault) : 0;
}

static int run_all(struct run *run, char **inputs, size_t count)
{
    const struct batch_options *o = &run->options->batch;
    const char *texts[CHAIN_RESULTS_MAX];
    for (size_t i = 0; i < o->n_wishes; i++)
        texts[i] = o->wishes[i].chain   ? o->wishes[i].chain
                   : o->wishes[0].chain ? o->wishes[0].chain
                                        : "";
    int status = cli_read_definitions(&o->common, &run->config, &texts[0]);
    for (size_t i = 1; i < o->n_wishes && status == 0; i++)
        status = cli_find_chain(&o->common, &run->config, &texts[i]);
    if (status == 0)
        status = cli_parse_chains(&run->chain, texts, o->n_wishes, &run->config.definitions);
    if (status != 0)
        return status;
    status = batch_open(&run->batch, o, inputs, count);
    for (size_t i = 0; i < o->n_wishes; i++)
        run->results[i].format = &run->batch.places[i].format;
    if (status == 0)
        status = check_binaries(o->common.dump_binary, o->common.load_binary);
    if (status == 0)
        status = open_engine(run);
    if (status != 0)
        return status;
    struct batch_file *file;
    enum batch_step step;
    while ((step = batch_next(&run->batch, &file)) != BATCH_OVER) {
        if (step == BATCH_FILE)
            submit(run, file);
        else
            batch_wait(&run->batch);
    }
    struct text canonical = {0};
    struct device *device = engine_device(run->engine);
    chain_print(&run->chain, &canonical);
    status =
        batch_tell(&run->batch, text_string(&canonical), device ? device_counters(device) : NULL);
    text_finish(&canonical);
    tell_verified(run);
    return status;
}

static int run(void *options_, char **inputs, size_t count)
{
    struct run run = {.options = options_,
                      .batch = {.ahead = AHEAD, .told = told, .waiting = waiting}};
    run.batch.context = &run;
    cli_common_apply(&((struct run_options *)options_)->batch.common);
    int status = run_all(&run, inputs, count);
    engine_close(&run.engine);
    batch_finish(&run.batch);
    free(run.jobs);
    chain_finish(&run.chain);
    config_finish(&run.config);
    return status;
}

const struct command command_run = {&usage, sizeof(struct run_options), run, .missing = "no input"};
