#include "daemon/options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "param/options.h"
#include "version.h"

#define AT(member) offsetof(struct daemon_options, member)
#define SECOND     UINT64_C(1000000000)
enum {
    FALLBACK_NONE,
    FALLBACK_CPU,
    FALLBACK_REFERENCE,
};

#define CHAIN_BYTES_MAX 50000 /* what fits a message; a chain may be shorter still */

static const struct param_choice fallbacks[] = {
    {"none", FALLBACK_NONE}, {"cpu", FALLBACK_CPU}, {"reference", FALLBACK_REFERENCE}, {0}};

static const struct options_row rows[] = {
    {'w',
     "DIR",
     {.name = "watch",
      .type = PARAM_TEXT,
      .offset = AT(watch),
      .help = "folder whose new pictures are taken"}},
    {'o',
     "DIR",
     {.name = "output",
      .type = PARAM_TEXT,
      .offset = AT(output),
      .help = "folder for the results"}},
    {'c',
     "CHAIN",
     {.name = "chain",
      .type = PARAM_TEXT,
      .offset = AT(chain),
      .help = "stages joined by commas; an empty one only converts formats"}},
    {'f',
     "FORMAT",
     {.name = "format",
      .type = PARAM_TEXT,
      .offset = AT(format),
      .fallback = "png",
      .help = "of the results, with options: jpg:quality=80"}},
    {0,
     "OPTIONS",
     {.name = "input",
      .type = PARAM_TEXT,
      .offset = AT(input),
      .help =
          "how to read: orient=0 keeps the stored orientation, partial=1 takes truncated files, "
          "raw=LAYOUT:w=N:h=N a camera's frames"}},
    {0,
     "DIR",
     {.name = "state",
      .type = PARAM_TEXT,
      .offset = AT(state),
      .help = "what outlives a run; else STATE_DIRECTORY, XDG_STATE_HOME/sluice or "
              "~/.local/state/sluice"}},
    {0,
     "SEL",
     {.name = "device",
      .type = PARAM_TEXT,
      .offset = AT(device),
      .help = "auto, gpu, cpu, reference (plain C, no OpenCL), or part of a device's or platform's "
              "name; else SLUICE_DEVICE, else auto"}},
    {0,
     "SEL",
     {.name = "fallback",
      .type = PARAM_CHOICE,
      .offset = AT(fallback),
      .choices = fallbacks,
      .fallback = "cpu",
      .help = "where work goes while the device fails: cpu (OpenCL's CPU device where there is "
              "one, else the references), reference, none"}},
    {0},
};

static const struct options_row limit_rows[] = {
    {0,
     "PIXELS",
     {.name = "max-pixels",
      .type = PARAM_PIXELS,
      .offset = AT(max_pixels),
      .min = 1,
      .max = 500e6,
      .fallback = "100MP",
      .help = "largest picture that is read"}},
    {0,
     "SIZE",
     {.name = "max-file",
      .type = PARAM_SIZE,
      .offset = AT(max_file),
      .min = 1,
      .max = 4.0 * (1 << 30),
      .fallback = "256MiB",
      .help = "largest file that is read"}},
    {0,
     "SIZE",
     {.name = "memory",
      .type = PARAM_SIZE,
      .offset = AT(memory),
      .min = 1 << 20,
      .max = 1e12,
      .fallback = "512MiB",
      .help = "memory for pictures, all jobs together"}},
    {0,
     "N",
     {.name = "jobs",
      .type = PARAM_INTEGER,
      .offset = AT(jobs),
      .min = 0,
      .max = 256,
      .fallback = "0",
      .help = "pictures at once; 0: as many as processors"}},
    {0,
     "TIME",
     {.name = "job-time",
      .type = PARAM_DURATION,
      .offset = AT(job_time),
      .min = 1e8,
      .max = 1e14,
      .fallback = "60s",
      .help = "that one picture may take"}},
    {0,
     "N",
     {.name = "worker-jobs",
      .type = PARAM_INTEGER,
      .offset = AT(worker_jobs),
      .min = 0,
      .max = 1e9,
      .fallback = "10000",
      .help = "jobs after which the worker is replaced by a fresh one; 0: any number"}},
    {0,
     "TIME",
     {.name = "worker-time",
      .type = PARAM_DURATION,
      .offset = AT(worker_time),
      .min = 0,
      .max = 1e18,
      .fallback = "1h",
      .help = "time after which it is replaced; 0s: any"}},
    {0,
     "SIZE",
     {.name = "worker-growth",
      .type = PARAM_SIZE,
      .offset = AT(worker_growth),
      .min = 0,
      .max = 1e12,
      .fallback = "0B",
      .help = "growth of its memory after which it is replaced; 0B: twice --memory and a little"}},
    {0},
};

static const struct options_row output_rows[] = {
    {'q',
     NULL,
     {.name = "quiet",
      .type = PARAM_FLAG,
      .offset = AT(quiet),
      .fallback = "0",
      .help = "log errors alone"}},
    {'v',
     NULL,
     {.name = "verbose",
      .type = PARAM_FLAG,
      .offset = AT(verbose),
      .fallback = "0",
      .help = "log more"}},
    {'V',
     NULL,
     {.name = "version",
      .type = PARAM_FLAG,
      .offset = AT(version),
      .fallback = "0",
      .help = "print the version"}},
    {0},
};

static const struct options_usage usage = {
    .program = "sluiced",
    .operands = "--watch DIR --output DIR --chain CHAIN [OPTIONS]",
    .summary = "Runs a chain on every picture that is put into a folder.",
    .details = "sluiced --watch in/ --output out/ --chain luminance,sobel --format jpg\n\n"
               "An original goes to DIR/.sluice/done/ when its result is there, to "
               "DIR/.sluice/failed/ with\nthe reason when there can be none.\n",
    .tables = {rows, limit_rows, output_rows},
};

static const char *const ignored_names[] = {".*", "*.tmp", "*.part", "*~", NULL};

static int complain(const char *why)
{
    fprintf(stderr, "sluiced: %s (see sluiced --help)\n", why);
    return 64;
}

static int check(const struct daemon_options *o, int n_operands)
{
    if (n_operands > 0)
        return complain("there are no operands; the folder is named by --watch");
    if (!o->watch)
        return complain("which folder? --watch DIR is missing");
    if (!o->output)
        return complain("where to? --output DIR is missing");
    if (!o->chain)
        return complain("what is to be done? --chain CHAIN is missing");
    if (strlen(o->chain) > CHAIN_BYTES_MAX || strlen(o->format) > 1000 ||
        (o->input && strlen(o->input) > 1000))
        return complain("such a long chain, format or input is no message to a worker");
    return -1;
}

static enum log_level choose_log_level(const struct daemon_options *o)
{
    enum log_level level = LOG_LEVEL_INFO;
    const char *from_environment = getenv("SLUICE_LOG_LEVEL");
    if (from_environment && !log_level_parse(from_environment, &level))
        fprintf(stderr, "sluiced: SLUICE_LOG_LEVEL=%s: expected error, warning, info or debug\n",
                from_environment);
    if (o->quiet)
        return LOG_LEVEL_ERROR;
    return o->verbose ? LOG_LEVEL_DEBUG : level;
}

static const char *choose_device(const struct daemon_options *o)
{
    const char *device = o->device ? o->device : getenv("SLUICE_DEVICE");
    return device && device[0] ? device : "auto";
}

static const char *choose_fallback(const struct daemon_options *o)
{
    return o->fallback == FALLBACK_CPU         ? "cpu"
           : o->fallback == FALLBACK_REFERENCE ? "reference"
                                               : NULL;
}

static unsigned choose_jobs(const struct daemon_options *o)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    if (o->jobs > 0)
        return (unsigned)o->jobs;
    return processors > 0 ? (unsigned)processors : 1;
}

int daemon_options_read(struct daemon_options *options, struct settings *settings, int argc,
                        char **argv)
{
    *options = (struct daemon_options){0};
    int first = options_parse(&usage, options, argc, argv, stdout);
    if (first < 0)
        return first == OPTIONS_HELP_SHOWN ? 0 : -first;
    if (options->version) {
        puts("sluiced " SLUICE_VERSION);
        return 0;
    }
    int status = check(options, argc - first);
    options->folder = (struct watch_settings){.input = options->watch,
                                              .output = options->output,
                                              .chain = options->chain,
                                              .format = options->format,
                                              .reading = options->input,
                                              .ignore = ignored_names,
                                              .stable = 2 * SECOND};
    *settings = (struct settings){.device = choose_device(options),
                                  .fallback = choose_fallback(options),
                                  .worker_jobs = (unsigned)options->worker_jobs,
                                  .worker_time = options->worker_time,
                                  .worker_growth = options->worker_growth,
                                  .max_pixels = options->max_pixels,
                                  .max_file = options->max_file,
                                  .memory = options->memory,
                                  .jobs = choose_jobs(options),
                                  .queue = 256,
                                  .job_time = options->job_time,
                                  .shutdown = 25 * SECOND,
                                  .state = options->state,
                                  .log_level = choose_log_level(options),
                                  .n_watches = 1,
                                  .watches = &options->folder};
    return status;
}
