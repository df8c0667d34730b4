/* Every setting of the daemon, once: what the file, the environment, the command line and the
 * reference page know of it. */
#include "config/settings.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/number.h"

#define AT(member) offsetof(struct settings, member)

static int parse_min_free(const char *text, void *to, struct fault *fault)
{
    struct free_space *space = to;
    size_t length = strlen(text);
    struct free_space given = {0};
    bool good = length > 1 && text[length - 1] == '%'
                    ? number_parse_real(text, length - 1, &given.percent) && given.percent >= 0 &&
                          given.percent <= 99
                    : number_parse_size(text, length, false, &given.bytes);
    if (!good)
        return fault_set(
            fault, FAULT_CONFIG,
            "min_free: '%.60s': expected a share such as 5%%, at most 99%%, or a size such as 1GiB",
            text);
    *space = given;
    return 0;
}

static int parse_jobs(const char *text, void *to, struct fault *fault)
{
    int64_t *jobs = to;
    *jobs = 0;
    if (strcmp(text, "auto") == 0)
        return 0;
    if (number_parse_integer(text, strlen(text), jobs) && *jobs >= 0 && *jobs <= 256)
        return 0;
    return fault_set(fault, FAULT_CONFIG,
                     "jobs: expected an integer from 0 to 256, or auto, not '%.60s'", text);
}

static int parse_fallback(const char *text, void *to, struct fault *fault)
{
    bool none = strcmp(text, "none") == 0;
    *(const char **)to = none ? NULL : strcmp(text, "reference") == 0 ? "reference" : "cpu";
    if (none || strcmp(text, *(const char **)to) == 0)
        return 0;
    return fault_set(fault, FAULT_CONFIG, "fallback: '%.60s': there are cpu, reference, none",
                     text);
}

static const struct param_choice sandbox_choices[] = {
    {"auto", SANDBOX_AUTO}, {"required", SANDBOX_REQUIRED}, {"off", SANDBOX_OFF}, {NULL, 0}};

static const struct setting device_settings[] = {
    {{.name = "select",
      .type = PARAM_TEXT,
      .offset = AT(device),
      .fallback = "auto",
      .help = "auto, gpu, cpu, reference (plain C, no OpenCL), or part of a device's or platform's "
              "name"},
     .option = "device",
     .value_name = "SEL",
     .variable = "SLUICE_DEVICE"},
    {{.name = "fallback",
      .type = PARAM_TEXT,
      .offset = AT(fallback),
      .fallback = "cpu",
      .help = "what computes while the device fails: cpu, reference or none"},
     .option = "fallback",
     .value_name = "SEL",
     .parse = parse_fallback},
    {{.name = "self_check",
      .type = PARAM_FLAG,
      .offset = AT(self_check),
      .fallback = "1",
      .help = "check kernels against their references at the first start with a device"}},
    {{.name = "sandbox",
      .type = PARAM_CHOICE,
      .offset = AT(sandbox),
      .choices = sandbox_choices,
      .fallback = "auto",
      .help =
          "what the worker puts on before it loads a driver: what the kernel has (auto), all of "
          "it or no start (required), or nothing"},
     .option = "sandbox",
     .value_name = "MODE"},
    {{0}},
};

static const struct setting limit_settings[] = {
    {{.name = "max_pixels",
      .type = PARAM_PIXELS,
      .offset = AT(max_pixels),
      .min = 1,
      .max = 500e6,
      .fallback = "100MP",
      .help = "largest picture that is read"},
     .option = "max-pixels",
     .value_name = "PIXELS"},
    {{.name = "max_file",
      .type = PARAM_SIZE,
      .offset = AT(max_file),
      .min = 1,
      .max = 4.0 * (1 << 30),
      .fallback = "256MiB",
      .help = "largest file that is read"},
     .option = "max-file",
     .value_name = "SIZE"},
    {{.name = "memory",
      .type = PARAM_SIZE,
      .offset = AT(memory),
      .min = 1 << 20,
      .max = 1e12,
      .fallback = "512MiB",
      .help = "memory for pictures, all jobs together"},
     .option = "memory",
     .value_name = "SIZE"},
    {{.name = "jobs",
      .type = PARAM_INTEGER,
      .offset = AT(jobs_wanted),
      .min = 0,
      .max = 256,
      .fallback = "auto",
      .help = "pictures at once; auto, or 0: as many as processors"},
     .option = "jobs",
     .value_name = "N",
     .parse = parse_jobs},
    {{.name = "queue",
      .type = PARAM_INTEGER,
      .offset = AT(queue),
      .min = 1,
      .max = 65536,
      .fallback = "256",
      .help = "files that are claimed at a time; the others wait where they are"},
     .option = "queue",
     .value_name = "N"},
    {{.name = "job_time",
      .type = PARAM_DURATION,
      .offset = AT(job_time),
      .min = 1e8,
      .max = 2 * 86400e9,
      .fallback = "60s",
      .help = "that one picture may take"},
     .option = "job-time",
     .value_name = "TIME"},
    {{.name = "worker_jobs",
      .type = PARAM_INTEGER,
      .offset = AT(worker_jobs),
      .min = 0,
      .max = 1e9,
      .fallback = "10000",
      .help = "jobs after which the worker is replaced by a fresh one; 0: any number"},
     .option = "worker-jobs",
     .value_name = "N"},
    {{.name = "worker_time",
      .type = PARAM_DURATION,
      .offset = AT(worker_time),
      .min = 0,
      .max = 10000 * 86400e9,
      .fallback = "1h",
      .help = "time after which it is replaced; 0s: any"},
     .option = "worker-time",
     .value_name = "TIME"},
    {{.name = "worker_growth",
      .type = PARAM_SIZE,
      .offset = AT(worker_growth),
      .min = 0,
      .max = 1e12,
      .fallback = "0B",
      .help = "growth of its memory after which it is replaced; 0B: twice memory and a little"},
     .option = "worker-growth",
     .value_name = "SIZE"},
    {{.name = "shutdown",
      .type = PARAM_DURATION,
      .offset = AT(shutdown),
      .min = 1e8,
      .max = 2 * 86400e9,
      .fallback = "25s",
      .help = "that running jobs are given when the daemon is told to end"},
     .option = "shutdown",
     .value_name = "TIME"},
    {{.name = "min_free",
      .type = PARAM_TEXT,
      .offset = AT(min_free),
      .fallback = "0%",
      .help = "space that stays free where results and claimed files are: a share such as 5% or a "
              "size such as 1GiB; below it nothing new is claimed"},
     .option = "min-free",
     .value_name = "SPACE",
     .parse = parse_min_free},
    {{0}},
};

static const struct param_choice levels[] = {{"error", LOG_LEVEL_ERROR},
                                             {"warning", LOG_LEVEL_WARNING},
                                             {"info", LOG_LEVEL_INFO},
                                             {"debug", LOG_LEVEL_DEBUG},
                                             {NULL, 0}};

static const struct setting log_settings[] = {
    {{.name = "level",
      .type = PARAM_CHOICE,
      .offset = AT(log_level),
      .choices = levels,
      .fallback = "info",
      .help = "what is logged"}},
    {{0}},
};

static const struct setting top_settings[] = {
    {{.name = "state",
      .type = PARAM_TEXT,
      .offset = AT(state),
      .help = "directory of what outlives a run; else STATE_DIRECTORY, XDG_STATE_HOME/sluice or "
              "~/.local/state/sluice"},
     .option = "state",
     .value_name = "DIR"},
    {{0}},
};

static const struct setting listen_settings[] = {
    {{.name = "http",
      .type = PARAM_TEXT,
      .offset = AT(http.unix_path),
      .help = "Unix socket for jobs and health over HTTP (docs/http.md); in the file {unix: PATH}"},
     .option = "http-socket",
     .value_name = "PATH"},
    {{.name = "jobs",
      .type = PARAM_TEXT,
      .offset = AT(jobs_socket.unix_path),
      .help =
          "Unix socket for jobs by descriptors (docs/jobs-socket.md); in the file {unix: PATH}"},
     .option = "jobs-socket",
     .value_name = "PATH"},
    {{0}},
};

const struct settings_section settings_sections[] = {
    {"", top_settings, "At the top level"},
    {"device", device_settings, "What computes"},
    {"limits", limit_settings, "What one picture and all together may take"},
    {"listen", listen_settings, "Where clients come"},
    {"log", log_settings, "What is logged"},
    {0},
};

#define WATCH_AT(member) offsetof(struct watch_settings, member)

const struct param settings_retention[] = {
    {.name = "keep",
     .type = PARAM_SIZE,
     .offset = offsetof(struct retention, keep),
     .min = 0,
     .max = 1e15},
    {.name = "age",
     .type = PARAM_DURATION,
     .offset = offsetof(struct retention, age),
     .min = 0,
     .max = 10000 * 86400e9},
    {0},
};

static const struct param_choice exists_choices[] = {
    {"number", EXISTS_NUMBER}, {"overwrite", EXISTS_OVERWRITE}, {"fail", EXISTS_FAIL}, {NULL, 0}};
static const struct param_choice originals_choices[] = {
    {"done", ORIGINALS_DONE}, {"delete", ORIGINALS_DELETE}, {"keep", ORIGINALS_KEEP}, {NULL, 0}};
static const struct param_choice claim_choices[] = {
    {"rename", CLAIM_RENAME}, {"none", CLAIM_NONE}, {NULL, 0}};
static const struct param_choice sync_choices[] = {
    {"each", SYNC_EACH}, {"batch", SYNC_BATCH}, {"off", SYNC_OFF}, {NULL, 0}};
static const struct param_choice mode_choices[] = {
    {"auto", MODE_AUTO}, {"inotify", MODE_INOTIFY}, {"poll", MODE_POLL}, {NULL, 0}};

static int parse_name(const char *text, void *to, struct fault *fault)
{
    *(const char **)to = text;
    return settings_check_name(text, fault);
}

/* "keep=1GiB:age=7d"; unlike in a chain units must be there. */
static int parse_retention(const char *text, void *to, struct fault *fault)
{
    int result = 0;
    for (size_t length; *text && result == 0; text += length + (text[length] == ':')) {
        size_t name = strcspn(text, "=:");
        const struct param *param = param_find(settings_retention, text, name, NULL);
        length = strcspn(text, ":");
        result = param && text[name] == '='
                     ? param_set(param, to, text + name + 1, length - name - 1, false,
                                 "what is to stay", fault)
                     : fault_set(fault, FAULT_CONFIG, "'%.*s': expected keep=SIZE or age=TIME",
                                 (int)length, text);
    }
    return result;
}

/* The array and the texts that it points to in one piece. The list replaces the one before. */
static int parse_ignore(const char *text, void *to, struct fault *fault)
{
    size_t length = strlen(text), count = 1;
    for (const char *c = text; *c; c++)
        count += *c == ',';
    const char **list = malloc((count + 1) * sizeof *list + length + 1);
    if (!list)
        return fault_set(fault, FAULT_MEMORY, "no memory for patterns");
    char *at = memcpy(list + count + 1, text, length + 1);
    for (size_t i = 0; i < count; i++) {
        list[i] = at;
        at += strcspn(at, ",");
        *at++ = '\0';
    }
    list[count] = NULL;
    free(*(const char ***)to);
    *(const char ***)to = list;
    return 0;
}

#define RETENTION "`{keep: SIZE, age: TIME}`; as a variable `keep=SIZE:age=TIME`"

static const struct setting watch_table[] = {
    {{.name = "input",
      .type = PARAM_TEXT,
      .offset = WATCH_AT(input),
      .required = true,
      .help = "folder whose new pictures are taken"},
     .option = "watch",
     .letter = 'w',
     .value_name = "DIR",
     .place = WATCH_AT(input_at)},
    {{.name = "output",
      .type = PARAM_TEXT,
      .offset = WATCH_AT(output),
      .required = true,
      .help = "folder for the results"},
     .option = "output",
     .letter = 'o',
     .value_name = "DIR",
     .place = WATCH_AT(output_at)},
    {{.name = "chain",
      .type = PARAM_TEXT,
      .offset = WATCH_AT(chain),
      .required = true,
      .help = "name of a chain of the file, or stages joined by commas; an empty one only converts "
              "formats"},
     .option = "chain",
     .letter = 'c',
     .value_name = "CHAIN",
     .place = WATCH_AT(chain_at)},
    {{.name = "format",
      .type = PARAM_TEXT,
      .offset = WATCH_AT(format),
      .fallback = "png",
      .help = "of the results, with options: jpg:quality=80"},
     .option = "format",
     .letter = 'f',
     .value_name = "FORMAT",
     .place = WATCH_AT(format_at)},
    {{.name = "read",
      .type = PARAM_TEXT,
      .offset = WATCH_AT(reading),
      .help = "how to read: orient=0 keeps the stored orientation, partial=1 takes truncated "
              "files, strict=1 refuses odd ones, raw=LAYOUT:w=N:h=N a camera's frames"},
     .option = "input",
     .value_name = "OPTIONS",
     .place = WATCH_AT(reading_at)},
    {{.name = "name",
      .type = PARAM_TEXT,
      .offset = WATCH_AT(name),
      .fallback = "{stem}.{ext}",
      .help = "of results: {stem} and {name} of the original, {chain}, {date}, .{ext} at its end"},
     .option = "name",
     .value_name = "TEMPLATE",
     .parse = parse_name},
    {{.name = "on_exists",
      .type = PARAM_CHOICE,
      .offset = WATCH_AT(on_exists),
      .choices = exists_choices,
      .fallback = "number",
      .help = "when the result's name is taken: photo-1.png, replace it, or fail the file"},
     .option = "on-exists",
     .value_name = "RULE"},
    {{.name = "originals",
      .type = PARAM_CHOICE,
      .offset = WATCH_AT(originals),
      .choices = originals_choices,
      .fallback = "done",
      .help = "when the result is there: moved to done, deleted, or left in the folder"},
     .option = "originals",
     .value_name = "RULE"},
    {{.name = "done",
      .type = PARAM_WORDS,
      .offset = WATCH_AT(done),
      .help = "what of .sluice/done stays, the newest first; everything, unless this says less"},
     .parse = parse_retention,
     .allowed = RETENTION},
    {{.name = "failed",
      .type = PARAM_WORDS,
      .offset = WATCH_AT(failed),
      .help = "the same of .sluice/failed; a reason goes with its file"},
     .parse = parse_retention,
     .allowed = RETENTION},
    {{.name = "claim",
      .type = PARAM_CHOICE,
      .offset = WATCH_AT(claim),
      .choices = claim_choices,
      .fallback = "rename",
      .help = "how files are taken; none for a folder that is not to be written to (originals are "
              "kept then, and one daemon alone may watch it)"},
     .option = "claim",
     .value_name = "RULE"},
    {{.name = "sync",
      .type = PARAM_CHOICE,
      .offset = WATCH_AT(sync),
      .choices = sync_choices,
      .fallback = "each",
      .help = "when results are forced to the disk: each, all that end together, or never"},
     .option = "sync",
     .value_name = "RULE"},
    {{.name = "stable",
      .type = PARAM_DURATION,
      .offset = WATCH_AT(stable),
      .min = 1e6,
      .max = 2 * 86400e9,
      .fallback = "2s",
      .help = "time without a change after which a found file counts as complete"},
     .option = "stable",
     .value_name = "TIME"},
    {{.name = "ignore",
      .type = PARAM_WORDS,
      .offset = WATCH_AT(ignore),
      .fallback = ".*,*.tmp,*.part,*~",
      .help = "names that are left alone; those that begin with a dot always are"},
     .parse = parse_ignore,
     .allowed = "a list of patterns; as a variable joined by commas"},
    {{.name = "recursive",
      .type = PARAM_FLAG,
      .offset = WATCH_AT(recursive),
      .fallback = "0",
      .help = "take pictures from the folders below, too; they are read every 2s"}},
    {{.name = "mode",
      .type = PARAM_CHOICE,
      .offset = WATCH_AT(mode),
      .choices = mode_choices,
      .fallback = "auto",
      .help = "how news are learned; auto polls network and FUSE file systems"},
     .option = "mode",
     .value_name = "MODE"},
    {{0}},
};

const struct settings_section settings_watch = {"watch", watch_table, "One entry of the list"};
