/* Rows of whole files: the engine reads, decodes, runs, encodes and writes them, as for `sluice
 * run`. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/name.h"
#include "bench/bench.h"

/* Times of a run, in seconds; medians are reported. */
enum span {
    SPAN_READ,
    SPAN_DECODE,
    SPAN_PREPARE,
    SPAN_DEVICE,
    SPAN_ENCODE,
    SPAN_WRITE,
    SPAN_WALL,
    SPAN_CPU,
    SPAN_KERNELS,
    SPAN_QUEUED,
    SPAN_WAIT,
    SPANS
};

static const char *const span_keys[SPANS] = {
    "read_s", "decode_s", "prepare_s", "device_s", "encode_s", "write_s",
    "wall_s", "cpu_s",    "run_s",     "queued_s", "wait_s",
};

struct run {
    const struct bench_context *context;
    struct chain chain;
    struct format format;
    struct decode_options decode;
    struct engine *engine;
    char folder[64]; /* for results, which are removed */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    size_t n_running;
};

/* One run of one file. */
struct job {
    struct run *run;
    struct engine_job job;
    struct engine_result result;
    struct file_draft draft;
    char path[96];
};

/* A file's figures over all iterations. */
struct figures {
    struct engine_report report; /* of the last run */
    struct bench_time spans[SPANS];
    double copy_per_second;
};

static int open_result(void *context, size_t result_index, const char *plane, int *fd,
                       struct fault *fault)
{
    struct job *job = context;
    char *path = path_of_result(job->path, 0, plane);
    if (!path)
        return fault_set(fault, FAULT_MEMORY, "no memory for a file name");
    int result = file_draft_open(&job->draft, path, fault);
    *fd = job->draft.fd;
    free(path);
    return result;
}

static int close_result(void *context, int fd, bool good, struct fault *fault)
{
    struct job *job = context;
    if (good)
        return file_draft_commit(&job->draft, false, fault);
    file_draft_discard(&job->draft);
    return 0;
}

static void begin_job(struct job *job, struct run *run, unsigned number)
{
    *job = (struct job){.run = run, .result = {.format = &run->format}, .draft = {.fd = -1}};
    job->job = (struct engine_job){.in_fd = -1,
                                   .chain = &run->chain,
                                   .results = &job->result,
                                   .decode = run->decode,
                                   .output = {open_result, close_result, job},
                                   .user = job};
    snprintf(job->path, sizeof job->path, "%s/%u.%s", run->folder, number, run->format.extension);
}

/* Reads the times of one run, in seconds. */
static void read_spans(const struct engine_report *r, uint64_t cpu, double spans[SPANS])
{
    const uint64_t parts[] = {r->read,   r->decode, r->prepare, r->device,
                              r->encode, r->write,  r->total,   cpu};
    for (int i = 0; i <= SPAN_CPU; i++)
        spans[i] = (double)parts[i] * 1e-9;
    spans[SPAN_KERNELS] = 0;
    for (size_t i = 0; i < r->n_launches; i++)
        spans[SPAN_KERNELS] += (double)r->launches[i].run * 1e-9;
    spans[SPAN_QUEUED] = r->n_launches ? (double)r->launches[0].queued * 1e-9 : 0;
    spans[SPAN_WAIT] = r->n_launches ? (double)r->launches[0].wait * 1e-9 : 0;
}

static int run_once(struct run *run, const char *file, double spans[SPANS],
                    struct engine_report *report, struct fault *fault)
{
    struct job job;
    begin_job(&job, run, 0);
    unlink(job.path); /* ext4 writes a file that replaces another to the disk at once */
    int result = file_open_input(file, 0, &job.job.in_fd, &job.job.fault);
    uint64_t cpu = clock_cpu();
    if (result == 0)
        result = engine_run(run->engine, &job.job);
    read_spans(&job.job.report, clock_cpu() - cpu, spans);
    file_close(&job.job.in_fd);
    if (result != 0)
        fault_set(fault, job.job.fault.code, "%s", job.job.fault.text);
    engine_report_finish(report);
    *report = job.job.report;
    return result;
}

static uint64_t bytes_to_move(const struct engine_report *r)
{
    return plane_bytes(&r->in) + plane_bytes(&r->results[0].plane) * r->results[0].n_planes;
}

/* Measures what copying the file's pixels takes on the same device. */
static int measure_copy(struct run *run, struct figures *f, struct fault *fault)
{
    struct device *device = engine_device(run->engine);
    struct bench_copy *copy = NULL;
    size_t n = run->context->iterations;
    uint64_t bytes = 0;
    if (!device || f->report.n_launches == 0)
        return 0;
    double *seconds = calloc(n + 1, sizeof *seconds);
    int result = seconds ? bench_copy_create(&copy, device, bytes_to_move(&f->report), fault)
                         : fault_set(fault, FAULT_MEMORY, "no memory for times");
    for (size_t i = 0; i <= n && result == 0; i++)
        result = bench_copy_run(copy, &seconds[i ? i - 1 : 0], &bytes, fault);
    if (result == 0)
        f->copy_per_second = (double)bytes / bench_summarise(seconds, n).median;
    bench_copy_destroy(&copy);
    free(seconds);
    return result;
}

/* Measures one file after the other. The first run, which may compile, does not count. */
static int measure(struct run *run, const char *file, struct figures *f, struct fault *fault)
{
    size_t n = run->context->iterations;
    double *all = calloc((n + 1) * SPANS, sizeof *all);
    double *one = calloc(n + 1, sizeof *one);
    int result = all && one ? 0 : fault_set(fault, FAULT_MEMORY, "no memory for times");
    for (size_t i = 0; i <= n && result == 0; i++)
        result = run_once(run, file, all + i * SPANS, &f->report, fault);
    for (int span = 0; span < SPANS && result == 0; span++) {
        for (size_t i = 0; i < n; i++)
            one[i] = all[(i + 1) * SPANS + span];
        f->spans[span] = bench_summarise(one, n);
    }
    free(all);
    free(one);
    return result ? result : measure_copy(run, f, fault);
}

static void print_figures(const char *file, const struct plane *p, const double spans[SPANS],
                          uint64_t copied, uint64_t bytes, double rate)
{
    static const enum span shown[] = {SPAN_READ,   SPAN_DECODE, SPAN_DEVICE, SPAN_KERNELS,
                                      SPAN_ENCODE, SPAN_WRITE,  SPAN_WALL,   SPAN_CPU};
    char picture[48];
    snprintf(picture, sizeof picture, "%ux%ux%u %s", p->width, p->height, p->channels,
             sample_name(p->type));
    fprintf(cli_stdout, "%-30s %-18s", path_name(file), picture);
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++)
        fprintf(cli_stdout, " %8.2f", spans[shown[i]] * 1e3);
    fprintf(cli_stdout, " %9llu %10llu %8.2f\n", (unsigned long long)copied,
            (unsigned long long)bytes, rate);
    fflush(cli_stdout);
}

static void add_row(const struct run *run, const char *file, const char *variant,
                    const struct figures *f, unsigned runs, double rate)
{
    const struct engine_report *r = &f->report;
    const struct bench_time *kernels = &f->spans[SPAN_KERNELS];
    double spans[SPANS], per_second = (double)bytes_to_move(r) / kernels->median;
    struct text name = {0};
    for (int i = 0; i < SPANS; i++)
        spans[i] = f->spans[i].median;
    if (run->context->lines)
        print_figures(file, &r->in, spans, r->bytes_copied, r->bytes_out, rate);
    chain_print_short(&run->chain, &name);
    json_t *row = bench_row_json(text_string(&name), variant, &r->in, runs);
    text_finish(&name);
    json_object_set_new(row, "file", json_string(file));
    bench_set_real(row, "median_s", kernels->median);
    bench_set_real(row, "min_s", kernels->min);
    json_object_set_new(row, "bytes", json_integer((json_int_t)bytes_to_move(r)));
    bench_set_real(row, "gb_per_s", per_second * 1e-9);
    bench_set_real(row, "copy_gb_per_s", f->copy_per_second > 0 ? f->copy_per_second * 1e-9 : -1);
    bench_set_real(row, "share", f->copy_per_second > 0 ? per_second / f->copy_per_second : -1);
    json_object_set_new(row, "launches", json_integer((json_int_t)r->n_launches));
    for (int i = 0; i < SPANS; i++)
        bench_set_real(row, span_keys[i], spans[i]);
    json_object_set_new(row, "bytes_copied", json_integer((json_int_t)r->bytes_copied));
    json_object_set_new(row, "crossings_in", json_integer((json_int_t)r->crossings_in));
    json_object_set_new(row, "crossings_out", json_integer((json_int_t)r->crossings_out));
    json_object_set_new(row, "bytes_in", json_integer((json_int_t)r->bytes_in));
    json_object_set_new(row, "bytes_out", json_integer((json_int_t)r->bytes_out));
    bench_set_real(row, "files_per_s", rate);
    bench_add_row(run->context, row, r->ran_on);
}

static void job_done(struct engine_job *done)
{
    struct job *job = done->user;
    struct run *run = job->run;
    close(done->in_fd);
    pthread_mutex_lock(&run->lock);
    run->n_running--;
    pthread_cond_broadcast(&run->changed);
    pthread_mutex_unlock(&run->lock);
}

static void wait_below(struct run *run, size_t limit)
{
    pthread_mutex_lock(&run->lock);
    while (run->n_running > limit)
        pthread_cond_wait(&run->changed, &run->lock);
    pthread_mutex_unlock(&run->lock);
}

/* Runs all files `iterations` times, as many at once as the engine has threads, to show how jobs
 * overlap. */
static int measure_together(struct run *run, char **files, size_t count, struct figures *sum,
                            double *rate, struct fault *fault)
{
    enum {
        AHEAD = 16
    };
    size_t n = count * run->context->iterations, begun = 0;
    struct job *jobs = calloc(n, sizeof *jobs);
    int result = jobs ? 0 : fault_set(fault, FAULT_MEMORY, "no memory for jobs");
    uint64_t begin = clock_now(), cpu = clock_cpu();
    for (; begun < n && result == 0; begun++) {
        struct job *job = &jobs[begun];
        begin_job(job, run, (unsigned)begun);
        job->job.done = job_done;
        wait_below(run, AHEAD);
        result = file_open_input(files[begun % count], 0, &job->job.in_fd, &job->job.fault);
        if (result != 0)
            break;
        pthread_mutex_lock(&run->lock);
        run->n_running++;
        pthread_mutex_unlock(&run->lock);
        engine_submit(run->engine, &job->job);
    }
    wait_below(run, 0);
    double wall = (double)(clock_now() - begin) * 1e-9, used = (double)(clock_cpu() - cpu) * 1e-9;
    for (size_t i = 0; i < begun; i++) {
        double spans[SPANS];
        struct engine_report *r = &jobs[i].job.report;
        if (jobs[i].job.fault.code && result == 0)
            result = fault_set(fault, jobs[i].job.fault.code, "%s: %s", files[i % count],
                               jobs[i].job.fault.text);
        read_spans(r, 0, spans);
        for (int span = 0; span < SPANS; span++)
            sum->spans[span].min = sum->spans[span].median += spans[span];
        sum->report.bytes_in += r->bytes_in;
        sum->report.bytes_out += r->bytes_out;
        sum->report.bytes_copied += r->bytes_copied;
        sum->report.crossings_in += r->crossings_in;
        sum->report.crossings_out += r->crossings_out;
        if (i == 0) {
            sum->report.in = r->in;
            sum->report.results[0] = r->results[0];
            sum->report.n_launches = r->n_launches;
        }
        engine_report_finish(r);
    }
    free(jobs);
    sum->spans[SPAN_WALL].median = wall;
    sum->spans[SPAN_CPU].median = used;
    *rate = (double)n / wall;
    return result;
}

/* Returns 0, or the exit status after a complaint. */
static int all_files(struct run *run, char **files, size_t count)
{
    struct fault fault = FAULT_INIT;
    if (run->context->lines)
        fprintf(cli_stdout, "%-30s %-18s %8s %8s %8s %8s %8s %8s %8s %8s %9s %10s %8s\n", "file",
                "picture", "read ms", "decode", "device", "kernels", "encode", "write", "wall",
                "cpu", "copied B", "file bytes", "files/s");
    for (size_t i = 0; i < count; i++) {
        struct figures f = {0};
        int result = measure(run, files[i], &f, &fault);
        if (result == 0)
            add_row(run, files[i], "end-to-end", &f, run->context->iterations,
                    1 / f.spans[SPAN_WALL].median);
        engine_report_finish(&f.report);
        if (result != 0)
            return cli_complain(files[i], &fault);
    }
    struct figures sum = {0};
    double rate;
    if (measure_together(run, files, count, &sum, &rate, &fault) != 0)
        return cli_complain(NULL, &fault);
    add_row(run, "all, side by side", "side by side", &sum, run->context->iterations, rate);
    return 0;
}

/* Removes only results of our jobs. */
static void remove_folder(const char *folder)
{
    DIR *d = folder[0] ? opendir(folder) : NULL;
    struct dirent *entry;
    while (d && (entry = readdir(d)) != NULL)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            unlinkat(dirfd(d), entry->d_name, 0);
    if (d)
        closedir(d);
    if (folder[0])
        rmdir(folder);
}

static int make_folder(char *folder, size_t size, struct fault *fault)
{
    const char *parent = getenv("TMPDIR");
    int length =
        snprintf(folder, size, "%s/sluice-bench-XXXXXX", parent && parent[0] ? parent : "/tmp");
    if (length > 0 && (size_t)length < size && mkdtemp(folder))
        return 0;
    folder[0] = '\0';
    return fault_set_errno(fault, FAULT_CREATE, "a folder for results");
}

static int run_files(struct run *run, const char *text, char **files, size_t count)
{
    const struct bench_options *o = run->context->options;
    struct fault fault = FAULT_INIT;
    struct engine_options engine;
    int status = cli_parse_chain(&run->chain, text, &run->context->config->definitions);
    if (status != 0)
        return status;
    cli_engine_options(&o->common, &engine);
    engine.held = definitions_picture_bytes(&run->context->config->definitions);
    if (format_parse(&run->format, o->format, &fault) != 0 ||
        decode_options_parse(&run->decode, o->input, "--input", &fault) != 0 ||
        make_folder(run->folder, sizeof run->folder, &fault) != 0 ||
        engine_open(&run->engine, &engine, &fault) != 0)
        return cli_complain(NULL, &fault);
    status = all_files(run, files, count);
    return status ? status : bench_give_rows(run->context, engine_device(run->engine));
}

int bench_files(const struct bench_context *context, const char *text, char **files, size_t count)
{
    struct run run = {.context = context};
    pthread_mutex_init(&run.lock, NULL);
    pthread_cond_init(&run.changed, NULL);
    int status = run_files(&run, text, files, count);
    engine_close(&run.engine);
    remove_folder(run.folder);
    format_finish(&run.format);
    chain_finish(&run.chain);
    pthread_cond_destroy(&run.changed);
    pthread_mutex_destroy(&run.lock);
    return status;
}
