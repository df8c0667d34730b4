/* What the page asks to tune a chain: what there is, a chain's mistakes, pictures, plans, results.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/file.h"
#include "chain/board.h"
#include "cli/plan.h"
#include "version.h"
#include "view/compute.h"
#include "view/view.h"
#include "worker/describe.h"

static const char *text_of(const struct view_request *request, const char *name)
{
    const char *text = request->query(request, name);
    return text ? text : "";
}

/* ---- what there is ---- */

static json_t *files_json(const struct viewer *view)
{
    json_t *files = json_array();
    for (size_t i = 0; i < view->n_files; i++) {
        char *path = view_path(view, i);
        json_t *name = json_string(path ? path : "");
        json_array_append_new(files, name ? name : json_string("(a name that is not UTF-8)"));
        free(path);
    }
    return files;
}

static json_t *chains_json(const struct config *config)
{
    json_t *chains = json_array();
    for (size_t i = 0; i < config->n_chains; i++)
        json_array_append_new(chains, json_pack("{s:s, s:s}", "name", config->chains[i].name,
                                                "chain", config->chains[i].text));
    return chains;
}

static json_t *formats_json(void)
{
    json_t *formats = json_array();
    for (const struct codec *const *codec = codecs; *codec; codec++)
        if ((*codec)->fit)
            json_array_append_new(formats, json_string((*codec)->extensions[0]));
    return formats;
}

static json_t *boards_json(void)
{
    json_t *boards = json_array();
    const struct board *board;
    for (size_t i = 0; (board = board_get(i)) != NULL; i++)
        json_array_append_new(boards,
                              json_pack("{s:s, s:s}", "name", board->name, "label", board->label));
    return boards;
}

/* Of words that mean the same the first, which is the one that is printed. */
static json_t *words_json(const struct param *param)
{
    json_t *words = json_array();
    for (const struct param_choice *c = param->choices; c && c->name; c++)
        if (param_choice_name(param->choices, c->value) == c->name)
            json_array_append_new(words, json_string(c->name));
    return words;
}

/* A stage as `sluice stages --json` has it, with what a page needs besides: words without aliases,
 * and how to begin with it. */
static json_t *stage_json(const struct stage *stage)
{
    json_t *json = describe_stage(stage), *params = json_object_get(json, "params");
    for (size_t i = 0; i < json_array_size(params); i++)
        if (stage->params[i].choices)
            json_object_set_new(json_array_get(params, i), "words", words_json(&stage->params[i]));
    if (stage->bench && !strchr(stage->bench, ','))
        json_object_set_new(json, "start", json_string(stage->bench));
    return json;
}

static void answer_start(struct viewer *view, struct view_answer *answer)
{
    const struct device_info *device = compute_device(view->compute);
    char directory[PATH_MAX];
    json_t *stages = json_array();
    for (const struct stage *const *s = stage_registry; *s; s++)
        if (!(*s)->internal)
            json_array_append_new(stages, stage_json(*s));
    view_answer_json(answer, 200,
                     json_pack("{s:s, s:s, s:o, s:s, s:o, s:o, s:o, s:o, s:s, s:s?, s:s?, s:s?}",
                               "mode", "tune", "version", SLUICE_VERSION, "files", files_json(view), "chain",
                               view->chain, "stages", stages, "chains", chains_json(&view->config),
                               "formats", formats_json(), "boards", boards_json(), "device",
                               !device                         ? "reference"
                               : device->kind == DEVICE_NATIVE ? "native"
                                                               : device->name,
                               "config", view->options->common.config, "input",
                               view->options->input, "directory",
                               getcwd(directory, sizeof directory)));
}

/* ---- chains ---- */

/* A chain's mistakes, or the chain in both its forms. */
static void answer_chain(struct viewer *view, const struct view_request *request,
                         struct view_answer *answer)
{
    struct chain chain = {0};
    struct faults faults = {0};
    struct fault fault = FAULT_INIT;
    struct text canonical = {0}, brief = {0};
    if (chain_parse_all(&chain, text_of(request, "chain"), &view->config.definitions, &faults) !=
        0) {
        faults_first(&faults, &fault);
        view_answer_fault(answer, &fault, &faults);
        return;
    }
    json_t *stages = json_array();
    for (size_t i = 0; i < chain.n_steps; i++) {
        struct text text = {0};
        struct chain one = {.n_steps = 1, .steps = &chain.steps[i]};
        chain_print(&one, &text);
        json_array_append_new(stages, json_string(text_string(&text)));
        text_finish(&text);
    }
    chain_print(&chain, &canonical);
    chain_print_short(&chain, &brief);
    view_answer_json(answer, 200,
                     json_pack("{s:s, s:s, s:o}", "canonical", text_string(&canonical), "short",
                               text_string(&brief), "stages", stages));
    text_finish(&canonical);
    text_finish(&brief);
    chain_finish(&chain);
}

/* ---- pictures ---- */

static void answer_picture(struct viewer *view, const struct view_request *request,
                           struct view_answer *answer)
{
    struct fault fault = FAULT_INIT;
    struct faults faults = {0};
    struct compute_result r;
    struct compute_ask ask = {
        .file = view_query_number(request, "file", 0),
        .chain = text_of(request, "chain"),
        .n_steps = view_query_number(request, "steps", CHAIN_STEPS_MAX),
        .plane = request->query(request, "plane"),
        .x = (uint32_t)view_query_number(request, "x", 0),
        .y = (uint32_t)view_query_number(request, "y", 0),
        .width = (uint32_t)view_query_number(request, "width", 0),
        .height = (uint32_t)view_query_number(request, "height", 0),
        .every = (uint32_t)view_query_number(request, "every", 1),
        .moving = view_query_number(request, "moving", 0) != 0,
    };
    if (ask.every > 256)
        ask.every = 256;
    if (compute_run(view->compute, &ask, &r, &faults, &fault) != 0) {
        view_answer_fault(answer, &fault, &faults);
        return;
    }
    view_answer_picture(answer, &r);
    compute_finish(&r);
}

/* ---- plans ---- */

static int describe_plan(struct viewer *view, const struct view_request *request, json_t **json,
                         struct faults *faults, struct fault *fault)
{
    const char *name = request->query(request, "board");
    const struct device_profile *native = device_profile_by_name("native");
    const struct board *board = name ? board_find(name, fault) : NULL;
    struct device_profile profile = board ? board_profile(board) : *native;
    struct plane plane = {0};
    struct chain chain = {0};
    if (name && !board)
        return FAULT_USAGE;
    int result = compute_shape(view->compute, view_query_number(request, "file", 0), &plane, fault);
    if (result == 0 &&
        chain_parse_all(&chain, text_of(request, "chain"), &view->config.definitions, faults) != 0)
        result = faults_first(faults, fault);
    if (result == 0)
        result = cli_plan_json(&chain, &plane, &profile, board, view->options->common.no_fuse, json,
                               fault);
    chain_finish(&chain);
    return result;
}

static void answer_plan(struct viewer *view, const struct view_request *request,
                        struct view_answer *answer)
{
    struct fault fault = FAULT_INIT;
    struct faults faults = {0};
    json_t *json = NULL;
    if (describe_plan(view, request, &json, &faults, &fault) != 0)
        view_answer_fault(answer, &fault, &faults);
    else
        view_answer_json(answer, 200, json);
}

/* ---- results, as files ---- */

struct saving {
    int fd; /* of memory */
    bool opened;
};

static int open_output(void *saving_, size_t result, const char *plane, int *fd,
                       struct fault *fault)
{
    struct saving *saving = saving_;
    if (saving->opened)
        return fault_set(fault, FAULT_SHAPE,
                         "several planes come out, which one file of this format does not hold: "
                         "npz does");
    saving->opened = true;
    *fd = saving->fd;
    return 0;
}

static int close_output(void *saving, int fd, bool good, struct fault *fault)
{
    return 0;
}

/* Runs the file through the chain as `sluice run` does. */
static int run_file(struct viewer *view, const struct view_request *request,
                    const struct format *format, struct bytes *bytes, struct faults *faults,
                    struct fault *fault)
{
    size_t file = view_query_number(request, "file", 0);
    struct saving saving = {.fd = memfd_create("result", MFD_CLOEXEC)};
    struct chain chain = {0};
    int fd = -1, result = 0;
    if (saving.fd < 0)
        return fault_set_errno(fault, FAULT_MEMORY, "memfd_create");
    if (chain_parse_all(&chain, text_of(request, "chain"), &view->config.definitions, faults) != 0)
        result = faults_first(faults, fault);
    else if (file >= view->n_files)
        result = fault_set(fault, FAULT_NO_INPUT, "there is no file of that number");
    else
        result = inputs_open(&view->inputs, view->files[file], &fd, fault);
    if (result == INPUTS_OTHER)
        result = fault_set(fault, FAULT_FORMAT, "it is no picture");
    if (result == 0) {
        struct engine_result of = {.format = format};
        struct engine_job job = {.in_fd = fd,
                                 .chain = &chain,
                                 .results = &of,
                                 .decode = view->decode,
                                 .output = {open_output, close_output, &saving}};
        result = engine_run(view->engine, &job);
        if (result != 0)
            *fault = job.fault;
        engine_report_finish(&job.report);
    }
    if (result == 0)
        result = file_read(saving.fd, INT64_MAX, bytes, fault);
    file_close(&fd);
    file_close(&saving.fd);
    chain_finish(&chain);
    return result;
}

static void answer_result(struct viewer *view, const struct view_request *request,
                          struct view_answer *answer)
{
    const char *name = request->query(request, "format");
    struct format format = {0};
    struct fault fault = FAULT_INIT;
    struct faults faults = {0};
    struct bytes bytes = {0};
    int result = format_parse(&format, name ? name : "png", &fault);
    if (result == 0)
        result = run_file(view, request, &format, &bytes, &faults, &fault);
    if (result == 0)
        *answer =
            (struct view_answer){200, format.codec->media_type, (char *)bytes.data, bytes.size};
    else
        view_answer_fault(answer, &fault, &faults);
    format_finish(&format);
}

void tune_answer(struct viewer *view, const struct view_request *request, struct view_answer *answer)
{
    static const struct {
        const char *path;
        void (*answer)(struct viewer *, const struct view_request *, struct view_answer *);
    } paths[] = {
        {"chain", answer_chain},
        {"picture", answer_picture},
        {"plan", answer_plan},
        {"result", answer_result},
    };
    if (view->options->daemon || request->is_post)
        return;
    if (strcmp(request->path, "start") == 0)
        answer_start(view, answer);
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        if (strcmp(request->path, paths[i].path) == 0)
            paths[i].answer(view, request, answer);
}
