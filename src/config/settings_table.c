/* The table of all settings: what the file, the environment, the command line and the reference
 * page know about each. */
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/number.h"
#include "config/settings.h"

#define AT(member) offsetof(struct settings, member)

static int parse_min_free(const char *text, void *to, struct fault *fault)
{
    struct free_space *space = to;
    size_t length = strlen(text);
    struct free_space given = {0};
    bool good = length > 1 && text[length - 1] == '%'
                    ? number_parse_real(text, length - 1, &given.percent) && given.percent >= 0 &&
                          given.percent <= 99
                    : number_parse_unit(NUMBER_SIZE, text, length, false, &given.bytes);
    if (!good)
        return fault_set(
            fault, FAULT_CONFIG,
            "'%.60s': expected a share such as 5%%, at most 99%%, or a size such as 1GiB",
            text);
    *space = given;
    return 0;
}

static int parse_jobs(const char *text, void *to, struct fault *fault)
{
    return setting_parse_count(text, to, 256, fault);
}

/* Without native kernels processors use OpenCL. */
#ifdef SLUICE_NATIVE
#define PROCESSOR "native"
#else
#define PROCESSOR "cpu"
#endif

static int parse_fallback(const char *text, void *to, struct fault *fault)
{
    static const char *const names[][2] = {
        {"native", PROCESSOR}, {"cpu", "cpu"}, {"reference", "reference"}};
    *(const char **)to = NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(text, names[i][0]) == 0)
            *(const char **)to = names[i][1];
    if (*(const char **)to || strcmp(text, "none") == 0)
        return 0;
    return fault_set(fault, FAULT_CONFIG,
                     "'%.60s': there are native, cpu, reference, none", text);
}

static const struct setting device_settings[] = {
    {PARAM(TEXT, "select", AT(device),
           "auto (a GPU, else native), gpu, native (this processor), cpu (this processor by "
           "OpenCL), reference (plain C), or part of a device's or platform's name",
           DEFAULT("auto")),
     .option = "device", .value_name = "SEL", .variable = "SLUICE_DEVICE", .of_worker = true},
    {PARAM(TEXT, "fallback", AT(fallback),
           "what does the work while the device fails: native, cpu, reference or none",
           DEFAULT("native")),
     .option = "fallback", .value_name = "SEL", .parse = parse_fallback, .of_worker = true},
    {PARAM(FLAG, "self_check", AT(self_check),
           "check kernels against their references at the first start with a device", DEFAULT("1")),
     .of_worker = true},
    {PARAM(FLAG, "wait", AT(wait),
           "wait for a GPU's compiler before jobs are taken; else they run on native until the GPU "
           "has what they need",
           DEFAULT("0")),
     .of_worker = true},
    {PARAM(CHOICE, "sandbox", AT(sandbox),
           "the worker's sandbox: as much as the kernel supports (auto); the whole one, or no "
           "worker is started (required); none (off)",
           CHOICES({"auto", SANDBOX_AUTO}, {"required", SANDBOX_REQUIRED}, {"off", SANDBOX_OFF}),
           DEFAULT("auto")),
     .option = "sandbox", .value_name = "MODE", .of_worker = true},
    {{0}},
};

static const struct setting limit_settings[] = {
    {PARAM(PIXELS, "max_pixels", AT(max_pixels), "largest picture that is read", RANGE(1, 500e6),
           DEFAULT("100MP")),
     .option = "max-pixels", .value_name = "PIXELS", .of_worker = true},
    {PARAM(SIZE, "max_file", AT(max_file), "largest file that is read", RANGE(1, 4.0 * (1 << 30)),
           DEFAULT("256MiB")),
     .option = "max-file", .value_name = "SIZE", .of_worker = true},
    {PARAM(SIZE, "memory", AT(memory), "memory for pictures, all jobs together",
           RANGE(1 << 20, 1e12), DEFAULT("512MiB")),
     .option = "memory", .value_name = "SIZE", .of_worker = true},
    {PARAM(INTEGER, "jobs", AT(jobs_wanted),
           "pictures at once; auto, or 0: as many as processors; from 2 on, one more for a user or "
           "folder that has none under way",
           RANGE(0, 256), DEFAULT("auto")),
     .option = "jobs", .value_name = "N", .parse = parse_jobs, .of_worker = true},
    {PARAM(INTEGER, "queue", AT(queue),
           "files that are claimed at a time; others wait in their folders", RANGE(1, 65536),
           DEFAULT("256")),
     .option = "queue", .value_name = "N"},
    {PARAM(DURATION, "job_time", AT(job_time), "time that a picture may take",
           RANGE(1e8, 2 * 86400e9), DEFAULT("60s")),
     .option = "job-time", .value_name = "TIME"},
    {PARAM(INTEGER, "worker_jobs", AT(worker_jobs),
           "jobs after which the worker is replaced by a fresh one; 0: never", RANGE(0, 1e9),
           DEFAULT("10000")),
     .option = "worker-jobs", .value_name = "N", .of_worker = true},
    {PARAM(DURATION, "worker_time", AT(worker_time), "time after which it is replaced; 0s: never",
           RANGE(0, 10000 * 86400e9), DEFAULT("1h")),
     .option = "worker-time", .value_name = "TIME", .of_worker = true},
    {PARAM(SIZE, "worker_growth", AT(worker_growth),
           "growth of its memory after which it is replaced; 0B: twice memory and 64MiB",
           RANGE(0, 1e12), DEFAULT("0B")),
     .option = "worker-growth", .value_name = "SIZE", .of_worker = true},
    {PARAM(DURATION, "shutdown", AT(shutdown),
           "time that running jobs get when the daemon is told to stop", RANGE(1e8, 2 * 86400e9),
           DEFAULT("25s")),
     .option = "shutdown", .value_name = "TIME"},
    {PARAM(TEXT, "min_free", AT(min_free),
           "space that stays free where results and claimed files are: a share such as 5% or a "
           "size such as 1GiB; below it nothing new is claimed",
           DEFAULT("5%")),
     .option = "min-free", .value_name = "SPACE", .parse = parse_min_free},
    {{0}},
};

static const struct setting log_settings[] = {
    {PARAM(CHOICE, "level", AT(log_level), "what is logged",
           CHOICES({"error", LOG_LEVEL_ERROR}, {"warning", LOG_LEVEL_WARNING},
                   {"info", LOG_LEVEL_INFO}, {"debug", LOG_LEVEL_DEBUG}),
           DEFAULT("info")),
     .of_worker = true},
    {PARAM(CHOICE, "format", AT(log_format),
           "lines of text, or a JSON object on each line (also where stderr is the journal)",
           CHOICES({"text", LOG_FORMAT_TEXT}, {"json", LOG_FORMAT_JSON}), DEFAULT("text")),
     .option = "log-format", .value_name = "FORMAT", .of_worker = true},
    {{0}},
};

static const struct setting top_settings[] = {
    {PARAM(TEXT, "state", AT(state),
           "directory for what is kept between runs; else STATE_DIRECTORY, "
           "XDG_STATE_HOME/sluice or ~/.local/state/sluice"),
     .option = "state", .value_name = "DIR"},
    {{0}},
};

static int parse_socket(const char *text, void *to, struct fault *fault)
{
    *(const char **)to = text;
    return settings_check_socket(text, fault);
}

static const struct setting listen_settings[] = {
    {PARAM(TEXT, "http", AT(http.unix_path),
           "Unix socket for jobs and health over HTTP (docs/http.md); in the file {unix: PATH}"),
     .option = "http-socket", .value_name = "PATH", .parse = parse_socket},
    {PARAM(TEXT, "jobs", AT(jobs_socket.unix_path),
           "Unix socket for jobs by descriptors (docs/jobs-socket.md); in the file {unix: PATH}"),
     .option = "jobs-socket", .value_name = "PATH", .parse = parse_socket},
    {{0}},
};

const struct settings_section settings_sections[] = {
    {"", top_settings, "Keys outside of all sections"},
    {"device", device_settings, "Devices"},
    {"limits", limit_settings, "Limits for one picture, and for all together"},
    {"listen", listen_settings, "Sockets for clients"},
    {"log", log_settings, "What is logged"},
    {"relay", relay_settings_table,
     "What sluice-relay and sluice enqueue read (docs/fleet.md); sluiced only "
     "checks how it is written",
     AT(relay)},
    {0},
};

#define WATCH_AT(member) offsetof(struct watch_settings, member)

const struct param settings_retention[] = {
    PARAM(SIZE, "keep", offsetof(struct retention, keep), NULL, RANGE(0, 1e15)),
    PARAM(DURATION, "age", offsetof(struct retention, age), NULL, RANGE(0, 10000 * 86400e9)),
    {0},
};

static int parse_name(const char *text, void *to, struct fault *fault)
{
    char part[256];
    int result = 0;
    *(const char **)to = text;
    for (size_t i = 0; i < text_count_parts(text) && result == 0; i++)
        result = settings_check_name(watch_part(text, i, part, sizeof part), fault);
    return result;
}

/* Folders below OUT, which are made. */
static int parse_folder(const char *text, void *to, struct fault *fault)
{
    char part[256];
    size_t length;
    *(const char **)to = text;
    for (size_t i = 0; i < text_count_parts(text); i++) {
        text_find_part(text, i, &length);
        watch_part(text, i, part, sizeof part);
        const char *name = part;
        bool good = length < sizeof part && (length == 0 || part[length - 1] != '/');
        for (; *name && good; name += *name == '/') {
            good = *name != '.' && *name != '/';
            name += strcspn(name, "/");
        }
        if (!good)
            return fault_set(fault, FAULT_CONFIG,
                             "'%.60s': expected a folder below the output, such as thumbs or "
                             "web/small; none of its names begins with a dot",
                             part);
    }
    return 0;
}

/* Parses "keep=1GiB:age=7d"; unlike in a chain, units are required. */
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

/* Parses patterns into one block of memory, array and texts. They replace the previous patterns. */
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

/* A program and its arguments. */
static int parse_hook(const char *text, void *to, struct fault *fault)
{
    *(const char **)to = text;
    if (text[0] == '/' && strlen(text) <= HOOK_BYTES_MAX)
        return 0;
    return fault_set(
        fault, FAULT_CONFIG,
        "'%.60s': expected a program's absolute path, and its arguments behind blanks, "
        "%d bytes at most",
        text, HOOK_BYTES_MAX);
}

#define RETENTION "`{keep: SIZE, age: TIME}`; as a variable `keep=SIZE:age=TIME`"

static const struct setting watch_table[] = {
    {PARAM(TEXT, "input", WATCH_AT(input), "folder whose new pictures are taken", .required = true),
     .option = "watch", .letter = 'w', .value_name = "DIR", .place = WATCH_AT(input_at)},
    {PARAM(TEXT, "output", WATCH_AT(output), "folder for the results", .required = true),
     .option = "output", .letter = 'o', .value_name = "DIR", .place = WATCH_AT(output_at)},
    {PARAM(TEXT, "chain", WATCH_AT(chain),
           "name of a chain of the file, or stages joined by commas; an empty one only converts "
           "formats; several with ; between them: several results of each picture",
           .required = true),
     .option = "chain", .letter = 'c', .value_name = "CHAIN", .place = WATCH_AT(chain_at)},
    {PARAM(TEXT, "format", WATCH_AT(format), "format of the results, with options: jpg:quality=80",
           DEFAULT("png")),
     .option = "format", .letter = 'f', .value_name = "FORMAT", .place = WATCH_AT(format_at)},
    {PARAM(TEXT, "read", WATCH_AT(reading),
           "options for reading: orient=0 keeps the stored orientation, partial=1 accepts "
           "truncated files, strict=1 refuses files with warnings, raw=LAYOUT:w=N:h=N reads a "
           "camera's frames"),
     .option = "input", .value_name = "OPTIONS", .place = WATCH_AT(reading_at)},
    {PARAM(TEXT, "name", WATCH_AT(name),
           "name of results: {stem} and {name} of the original, {chain}, {date}; it ends in .{ext}",
           DEFAULT("{stem}.{ext}")),
     .option = "name", .value_name = "TEMPLATE", .parse = parse_name},
    {PARAM(TEXT, "folder", WATCH_AT(folder),
           "folder for the results below `output`, which is made"),
     .option = "folder", .value_name = "DIR", .parse = parse_folder},
    {PARAM(
         CHOICE, "on_exists", WATCH_AT(on_exists),
         "when the result's name is taken: photo-1.png, replace it, or fail the file",
         CHOICES({"number", EXISTS_NUMBER}, {"overwrite", EXISTS_OVERWRITE}, {"fail", EXISTS_FAIL}),
         DEFAULT("number")),
     .option = "on-exists", .value_name = "RULE"},
    {PARAM(
         CHOICE, "originals", WATCH_AT(originals),
         "what happens to originals: they are moved to done, deleted, or kept in the folder",
         CHOICES({"done", ORIGINALS_DONE}, {"delete", ORIGINALS_DELETE}, {"keep", ORIGINALS_KEEP}),
         DEFAULT("done")),
     .option = "originals", .value_name = "RULE"},
    {PARAM(WORDS, "done", WATCH_AT(done),
           "how much of .sluice/done is kept, the newest files; everything by default"),
     .parse = parse_retention, .allowed = RETENTION},
    {PARAM(WORDS, "failed", WATCH_AT(failed),
           "the same for .sluice/failed; a reason is removed with its file"),
     .parse = parse_retention, .allowed = RETENTION},
    {PARAM(CHOICE, "report", WATCH_AT(report),
           "file: the report of each job lies beside its results, as NAME.report.json",
           CHOICES({"none", REPORT_NONE}, {"file", REPORT_FILE}), DEFAULT("none")),
     .option = "report", .value_name = "WHERE"},
    {PARAM(TEXT, "on_done", WATCH_AT(on_done),
           "program that is told of each file that is done, with fixed arguments behind blanks (no "
           "shell); its environment says which"),
     .option = "on-done", .value_name = "COMMAND", .parse = parse_hook},
    {PARAM(TEXT, "on_failed", WATCH_AT(on_failed), "the same for each file that has failed"),
     .option = "on-failed", .value_name = "COMMAND", .parse = parse_hook},
    {PARAM(DURATION, "hook_time", WATCH_AT(hook_time),
           "time that such a program may take; then it is killed", RANGE(1e6, 3600e9),
           DEFAULT("10s")),
     .option = "hook-time", .value_name = "TIME"},
    {PARAM(CHOICE, "claim", WATCH_AT(claim),
           "how files are taken; none for a folder that must not be written to (originals stay "
           "there, and only one daemon may watch it)",
           CHOICES({"rename", CLAIM_RENAME}, {"none", CLAIM_NONE}), DEFAULT("rename")),
     .option = "claim", .value_name = "RULE"},
    {PARAM(CHOICE, "sync", WATCH_AT(sync),
           "whether results are synced to the disk before they count; batch is an older word for "
           "each",
           CHOICES({"each", SYNC_EACH}, {"batch", SYNC_BATCH}, {"off", SYNC_OFF}), DEFAULT("each")),
     .option = "sync", .value_name = "RULE"},
    {PARAM(DURATION, "settle", WATCH_AT(settle),
           "time for which nobody may have opened or changed a file that was closed after "
           "writing",
           RANGE(0, 86400e9), DEFAULT("250ms")),
     .option = "settle", .value_name = "TIME"},
    {PARAM(DURATION, "stable", WATCH_AT(stable),
           "time without a change after which a found file counts as complete",
           RANGE(1e6, 2 * 86400e9), DEFAULT("2s")),
     .option = "stable", .value_name = "TIME"},
    {PARAM(WORDS, "ignore", WATCH_AT(ignore),
           "names that are left alone; those that begin with a dot always are",
           DEFAULT(".*,*.tmp,*.part,*.partial,*.crdownload,*.download,*.filepart,*~,.~lock.*,~$*,"
                   "Thumbs.db,desktop.ini,ehthumbs.db,@eaDir,.DS_Store")),
     .parse = parse_ignore, .allowed = "a list of patterns; as a variable joined by commas"},
    {PARAM(FLAG, "recursive", WATCH_AT(recursive),
           "take pictures from the folders below, too; they are read every 2s", DEFAULT("0"))},
    {PARAM(CHOICE, "mode", WATCH_AT(mode),
           "how new files are noticed; auto polls network and FUSE file systems",
           CHOICES({"auto", MODE_AUTO}, {"inotify", MODE_INOTIFY}, {"poll", MODE_POLL}),
           DEFAULT("auto")),
     .option = "mode", .value_name = "MODE"},
    {{0}},
};

const struct settings_section settings_watch = {"watch", watch_table, "One entry of the list"};

/* ---- whether two folders are the same ---- */

static bool is_same(const struct setting *setting, const struct watch_settings *a,
                    const struct watch_settings *b)
{
    const void *x = (const char *)a + setting->param.offset;
    const void *y = (const char *)b + setting->param.offset;
    switch (setting->param.type) {
    case PARAM_TEXT:
        return texts_equal(*(const char *const *)x, *(const char *const *)y);
    case PARAM_CHOICE:
        return *(const int *)x == *(const int *)y;
    case PARAM_FLAG:
        return *(const bool *)x == *(const bool *)y;
    case PARAM_WORDS:
        if (setting->parse == parse_retention)
            return memcmp(x, y, sizeof(struct retention)) == 0;
        for (const char *const *i = a->ignore, *const *k = b->ignore;; i++, k++)
            if (!*i || !*k || strcmp(*i, *k) != 0)
                return !*i && !*k;
    default: /* times and sizes */
        return *(const uint64_t *)x == *(const uint64_t *)y;
    }
}

bool watch_settings_equal(const struct watch_settings *a, const struct watch_settings *b)
{
    for (const struct setting *s = watch_table; s->param.name; s++)
        if (!is_same(s, a, b))
            return false;
    return texts_equal(a->chain_name, b->chain_name) &&
           a->min_free.percent == b->min_free.percent && a->min_free.bytes == b->min_free.bytes;
}

/* ---- the tables of docs/configuration.md ---- */

/* In a table | would end the cell. */
static void print_cell(struct text *text, const char *cell)
{
    for (; *cell; cell++) {
        if (*cell == '|')
            text_append(text, "\\");
        text_append_bytes(text, cell, 1);
    }
}

static void print_allowed(struct text *text, const struct setting *setting)
{
    const struct param *param = &setting->param;
    struct text allowed = {0};
    if (setting->allowed)
        text_append(&allowed, setting->allowed);
    else if (param->type == PARAM_FLAG)
        text_append(&allowed, "true or false");
    else if (param->choices && param->type == PARAM_CHOICE)
        for (const struct param_choice *c = param->choices; c->name; c++)
            text_printf(&allowed, "%s`%s`", c == param->choices ? "" : ", ", c->name);
    else
        param_print_allowed(param, &allowed);
    print_cell(text, text_string(&allowed));
    text_finish(&allowed);
}

static void print_section(struct text *text, const struct settings_section *section)
{
    char variable[SETTINGS_VARIABLE_MAX];
    bool top = !section->name[0];
    text_printf(text,
                "### %s%s%s\n\n%s.\n\n| key | value | default | environment | option | |\n"
                "|---|---|---|---|---|---|\n",
                top ? "" : "`", top ? "Top level" : section->name, top ? "" : "`", section->help);
    for (const struct setting *s = section->table; s->param.name; s++) {
        text_printf(text, "| `%s` | ", s->param.name);
        print_allowed(text, s);
        text_append(text, " | ");
        const char *fallback = s->param.fallback;
        if (s->param.type == PARAM_FLAG && fallback)
            fallback = strcmp(fallback, "1") == 0 ? "true" : "false";
        if (s->param.required)
            text_append(text, "required");
        else if (fallback)
            text_printf(text, "`%s`", fallback);
        text_printf(text, " | `%s` | %s%s%s | ", setting_variable(section, s, variable),
                    s->option ? "`--" : "", s->option ? s->option : "", s->option ? "`" : "");
        print_cell(text, s->param.help);
        text_append(text, " |\n");
    }
    text_append(text, "\n");
}

void settings_print_reference(struct text *text)
{
    for (const struct settings_section *s = settings_sections; s->name; s++)
        print_section(text, s);
    print_section(text, &settings_watch);
}
