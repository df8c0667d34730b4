/* sluice plan: prints steps and kernels of the plan that `run` would make. */
#include <string.h>

#include "base/number.h"
#include "chain/board.h"
#include "chain/source.h"
#include "chain/tuned.h"
#include "cli/common.h"
#include "cli/plan.h"

/* What is asked for one result; of a further one what is NULL is as for the first. */
struct plan_wish {
    const char *chain, *format;
};

struct plan_command_options {
    struct common_options common;
    size_t n_wishes;
    struct plan_wish wishes[CHAIN_RESULTS_MAX];
    const char *type, *profile, *board;
    bool source, generic;
};

#define AT(member)   offsetof(struct plan_command_options, member)
#define WISH(member) offsetof(struct plan_wish, member)

static const struct options_groups groups = {"results of one picture", AT(wishes),
                                             sizeof(struct plan_wish), CHAIN_RESULTS_MAX,
                                             AT(n_wishes)};

static const struct options_row options[] = {
    OPTION_EACH('c', "CHAIN", TEXT, "chain", WISH(chain),
                "the chain; given again, that of a further result of the same picture"),
    OPTION(0, "TYPE", TEXT, "type", AT(type),
           "of the picture's samples: u8, i8, u16, i16, i32, f16, f32, f64", DEFAULT("u8")),
    OPTION_EACH('f', "FORMAT", TEXT, "format", WISH(format),
                "of the output; without it the frame stays as the chain leaves it"),
    OPTION(0, "CLASS", TEXT, "profile", AT(profile),
           "plan for a class of device that need not be there: native, cpu, gpu or mali"),
    OPTION(0, "NAME", TEXT, "board", AT(board),
           "plan for an ARM board, and say what bounds each kernel there and how long it takes at "
           "least: rock5b, rock3a, odroid-n2 or genio-1200-evk"),
    OPTION(0, NULL, FLAG, "source", AT(source), "print the OpenCL C program instead"),
    OPTION(0, NULL, FLAG, "generic", AT(generic),
           "plan generic kernels, as the daemon has for unconfigured chains"),
    {0},
};

static const struct options_usage usage = {
    .command = "plan",
    .operands = "-c CHAIN [-c CHAIN …] WIDTHxHEIGHT[xCHANNELS]",
    .summary = "Prints the steps and kernels that would run, the bytes moved and the peak memory; "
               "runs nothing.",
    .details = "sluice plan -c luminance,sobel:scale=1 1920x1080x3\n"
               "sluice plan -c luminance,sobel -c luminance,resize:w=200 1920x1080x3\n",
    .tables = {options, cli_config_options, cli_define_options, cli_device_options, cli_plan_options,
               cli_output_options},
    .groups = &groups,
};

static void print_frame(const struct frame *frame)
{
    for (size_t i = 0; i < frame->n_planes; i++) {
        const struct plane *p = &frame->planes[i];
        fprintf(cli_stdout, "%s%s%s%ux%ux%u %s", i ? ", " : "", p->name, p->name[0] ? " " : "",
                p->width, p->height, p->channels, sample_name(p->type));
        if (p->layers > 0)
            fprintf(cli_stdout, " of %u layers", p->layers);
        if (!sample_is_integer(p->type))
            fprintf(cli_stdout, " white %.9g", plane_white(p));
    }
    fputc('\n', cli_stdout);
}

/* Which results a step gives, where there are several: " result 2, result 3". */
static void print_results_of(const struct plan *plan, size_t number)
{
    for (size_t r = 0; r < plan->n_results && plan->n_results > 1; r++)
        if (plan->results[r].step == number)
            fprintf(cli_stdout, "        gives result %zu\n", r + 1);
}

/* The step, at `index` or after it, whose kernels do the work of step `index`. */
static size_t place_of_work(const struct plan *plan, size_t index)
{
    while (plan->steps[index].merged)
        index++;
    return index;
}

static void print_bound(const struct board *board, const struct pass *pass)
{
    struct board_bound bound = board_bound(board, pass);
    fprintf(cli_stdout, "          memory %.3f ms", bound.memory * 1e3);
    if (bound.unit)
        fprintf(cli_stdout, ", %s %.3f ms: bound by %s", bound.unit, bound.cycles * 1e3, bound.by);
    else
        fputs("; its cycles have not been counted", cli_stdout);
    fputc('\n', cli_stdout);
}

static void print_board(const struct board *board, const struct plan *plan)
{
    double seconds = board_seconds(board, plan);
    fprintf(cli_stdout, "%s: %s, %u core%s at %.0f MHz, memory of %.1f GB/s\n(%s)\n", board->label,
            board_gpu_name(board->gpu), board->cores, board->cores == 1 ? "" : "s",
            board->clock * 1e-6, board->bandwidth * 1e-9, board->sources);
    if (seconds >= 0)
        fprintf(cli_stdout, "%.3f ms at least\n", seconds * 1e3);
}

/* Which part of a JPEG of that size is decoded, if not all of it. */
static bool of_jpeg(const struct chain *chain, struct plane *plane, struct stage_source *source)
{
    *source = chain_source(chain, plane, VIDEO_BT601);
    plane->width = (plane->width + source->reduce - 1) / source->reduce;
    plane->height = (plane->height + source->reduce - 1) / source->reduce;
    source->luma &= plane->channels == 3;
    plane->channels = source->luma ? 1 : plane->channels;
    return plane->type == SAMPLE_U8 && plane->channels % 2 == 1 &&
           (source->luma || source->reduce > 1);
}

static void print_jpeg(const struct chain *chain, const struct plane *in)
{
    struct stage_source source;
    struct plane plane = *in;
    if (!of_jpeg(chain, &plane, &source))
        return;
    fprintf(cli_stdout, "      of a jpeg %ux%ux%u: ", plane.width, plane.height, plane.channels);
    if (source.reduce > 1)
        fprintf(cli_stdout, "decoded at 1/%u of its sides%s", source.reduce,
                source.luma ? ", " : "");
    fprintf(cli_stdout, "%s\n", source.luma ? "its own Y channel" : "");
}

static json_t *jpeg_json(const struct chain *chain, const struct plane *in)
{
    struct stage_source source;
    struct plane plane = *in;
    if (!of_jpeg(chain, &plane, &source))
        return NULL;
    return json_pack("{s:i, s:i, s:i, s:i, s:b}", "width", (int)plane.width, "height",
                     (int)plane.height, "channels", (int)plane.channels, "reduced",
                     (int)source.reduce, "stored_luma", (int)source.luma);
}

static void print_totals(const char *what, const struct plan *plan)
{
    size_t launches = plan_total_launches(plan);
    fprintf(cli_stdout, "%s%zu launch%s, %s moved, %s of memory at the peak\n", what, launches,
            launches == 1 ? "" : "es", number_size(plan_bytes_moved(plan)),
            number_size(plan_peak(plan)));
}

/* The most memory that a run takes whose rows come and are taken in order (plan_options.rows_in);
 * 0: no part of it goes by rows. */
static uint64_t peak_by_rows(const struct chain *chain, const struct frame *in,
                             const struct plan_options *like)
{
    struct plan_options how = *like;
    struct plan *plan = NULL;
    how.rows_in = how.strips = true;
    how.rows_out = UINT32_MAX;
    int result = plan_create(&plan, chain, in, &how, NULL);
    uint64_t peak = result == 0 && plan->by_rows ? plan_peak(plan) : 0;
    plan_destroy(&plan);
    return peak;
}

/* Prints the plan. `apart`: the plan with kernels for each stage of its own, to compare; NULL: this
 * is that plan. `by_rows`: see peak_by_rows. */
static void print_plan(const struct plan *plan, const struct plan *apart, uint64_t by_rows,
                       const struct chain *chain, const struct board *board)
{
    struct text canonical = {0};
    chain_print(chain, &canonical);
    fprintf(cli_stdout, "chain %s\nin    ", text_string(&canonical));
    text_finish(&canonical);
    print_frame(&plan->in);
    print_jpeg(chain, &plan->in.planes[0]);
    print_results_of(plan, 0);
    for (size_t i = 0; i < plan->n_steps; i++) {
        const struct plan_step *step = &plan->steps[i];
        fprintf(cli_stdout, "%-5zu %s%s%s: ", i + 1, step->name, step->only ? ":only=" : "",
                step->only ? step->only : "");
        print_frame(&step->out);
        if (step->before == 0 && i > 0)
            fputs("        of the picture\n", cli_stdout);
        else if (step->before != i)
            fprintf(cli_stdout, "        of step %zu\n", step->before);
        if (step->work.warning)
            fprintf(cli_stdout, "        warning: %s\n", step->work.warning);
        if (step->merged)
            fprintf(cli_stdout, "        with step %zu\n", place_of_work(plan, i) + 1);
        else if (step->work.n_passes == 0)
            fputs("        nothing to do\n", cli_stdout);
        for (unsigned p = 0; p < step->work.n_passes; p++) {
            const struct pass *pass = &step->work.passes[p];
            fprintf(cli_stdout, "        %s%s%s%s: %zu launch%s, reads %s, writes %s\n", pass->name,
                    pass->place[0] ? " (" : "", pass->place, pass->place[0] ? ")" : "",
                    plan_launches(pass, plan->profile),
                    plan_launches(pass, plan->profile) == 1 ? "" : "es",
                    number_size(pass->bytes_read), number_size(pass->bytes_written));
            if (board)
                print_bound(board, pass);
        }
        print_results_of(plan, i + 1);
    }
    for (size_t r = 0; r < plan->n_results; r++) {
        if (plan->n_results > 1)
            fprintf(cli_stdout, "out %zu ", r + 1);
        else
            fputs("out   ", cli_stdout);
        print_frame(plan->results[r].frame);
    }
    if (plan->n_results > 1)
        fprintf(cli_stdout, "%zu results: %zu stages run, in place of %zu\n", plan->n_results,
                plan->n_chain_steps, plan->n_asked);
    print_totals("", plan);
    if (by_rows)
        fprintf(cli_stdout, "%s: %s of memory at the peak\n",
                plan->profile->prebuilt ? "rows in, rows out"
                                        : "in strips of rows, where there is less memory",
                number_size(by_rows));
    if (apart)
        print_totals("not fused: ", apart);
    if (board)
        print_board(board, plan);
}

static json_t *frame_json(const struct frame *frame)
{
    json_t *planes = json_array();
    for (size_t i = 0; i < frame->n_planes; i++) {
        const struct plane *p = &frame->planes[i];
        json_array_append_new(
            planes, json_pack("{s:s, s:i, s:i, s:i, s:o*, s:s, s:f}", "name", p->name, "width",
                              (int)p->width, "height", (int)p->height, "channels", (int)p->channels,
                              "layers", p->layers ? json_integer(p->layers) : NULL, "type",
                              sample_name(p->type), "white", plane_white(p)));
    }
    return planes;
}

/* "in", "out", "scratch0", "table0" … */
static json_t *memory_json(unsigned operand)
{
    if (operand >= OPERAND_TABLE)
        return json_sprintf("table%u", operand - OPERAND_TABLE);
    if (operand >= OPERAND_SCRATCH)
        return json_sprintf("scratch%u", operand - OPERAND_SCRATCH);
    return json_string(operand == OPERAND_IN ? "in" : "out");
}

/* The values of a kernel's parameters after GRID. */
static json_t *args_json(const struct plan_step *step, const struct pass *pass)
{
    json_t *args = json_array();
    for (unsigned i = 0; i < pass->n_args; i++) {
        const struct pass_arg *arg = &pass->args[i];
        json_t *json;
        if (arg->kind == PASS_PLANE) {
            const struct plane *p = &plan_operand_frame(step, arg->operand)->planes[arg->plane];
            json_int_t size = (json_int_t)sample_size(p->type);
            json = json_pack("{s:o, s:I, s:I}", "memory", memory_json(arg->operand), "offset",
                             (json_int_t)p->offset / size, "stride", (json_int_t)p->stride / size);
        } else if (arg->kind == PASS_BUFFER) {
            json = json_pack("{s:o}", "memory", memory_json(arg->operand));
        } else if (arg->kind == PASS_LONG) {
            json = json_pack("{s:I}", "long", (json_int_t)arg->l);
        } else if (arg->kind == PASS_FLOAT || arg->kind == PASS_DOUBLE) {
            json = json_pack("{s:f}", arg->kind == PASS_FLOAT ? "float" : "double",
                             arg->kind == PASS_FLOAT ? (double)arg->f : arg->d);
        } else {
            json = json_integer(arg->i);
        }
        json_array_append_new(args, json);
    }
    return args;
}

static json_t *pass_json(const struct plan *plan, const struct plan_step *step,
                         const struct pass *pass, const struct board *board)
{
    unsigned group[2];
    pass_group(pass, plan->profile, group);
    json_t *json =
        json_pack("{s:s, s:s, s:I, s:I, s:I, s:[ii], s:i, s:f, s:[ii], s:o}", "kernel", pass->name,
                  "form", kernel_form_name(pass->form), "launches",
                  (json_int_t)plan_launches(pass, plan->profile), "bytes_read",
                  (json_int_t)pass->bytes_read, "bytes_written", (json_int_t)pass->bytes_written,
                  "grid", (int)pass->grid_width, (int)pass->grid_height, "span", (int)pass->span,
                  "work", pass->work, "group", (int)group[0], (int)group[1], "args", args_json(step, pass));
    if (pass->place[0])
        json_object_set_new(json, "place", json_string(pass->place));
    if (board) {
        struct board_bound bound = board_bound(board, pass);
        json_t *unit = bound.unit ? json_real(bound.cycles) : json_null();
        json_object_set_new(json, "bound",
                            json_pack("{s:s, s:f, s:f, s:s?, s:o}", "by", bound.by, "seconds",
                                      bound.seconds, "memory_s", bound.memory, "unit", bound.unit,
                                      "unit_s", unit));
    }
    return json;
}

static json_t *step_json(size_t index, const struct plan *plan, const struct board *board)
{
    const struct plan_step *step = &plan->steps[index];
    json_t *passes = json_array();
    for (unsigned i = 0; i < step->work.n_passes; i++)
        json_array_append_new(passes, pass_json(plan, step, &step->work.passes[i], board));
    json_t *json = json_pack("{s:s, s:o, s:o}", "stage", step->name, "out", frame_json(&step->out),
                             "passes", passes);
    if (step->only)
        json_object_set_new(json, "only", json_string(step->only));
    json_object_set_new(json, "of", json_integer((json_int_t)step->before));
    if (step->merged) /* steps are counted from 1, as in the text */
        json_object_set_new(json, "with_step",
                            json_integer((json_int_t)place_of_work(plan, index) + 1));
    return json;
}

static json_t *totals_json(const struct plan *plan)
{
    return json_pack("{s:I, s:I, s:I}", "launches", (json_int_t)plan_total_launches(plan),
                     "bytes_moved", (json_int_t)plan_bytes_moved(plan), "peak_bytes",
                     (json_int_t)plan_peak(plan));
}

static json_t *plan_json(const struct plan *plan, const struct plan *apart,
                         const struct chain *chain, const struct board *board)
{
    struct text canonical = {0};
    json_t *steps = json_array(), *warnings = json_array(), *results = json_array();
    for (size_t r = 0; r < plan->n_results; r++)
        json_array_append_new(results,
                              json_pack("{s:I, s:o}", "step", (json_int_t)plan->results[r].step,
                                        "out", frame_json(plan->results[r].frame)));
    chain_print(chain, &canonical);
    for (size_t i = 0; i < plan->n_steps; i++) {
        const struct plan_step *step = &plan->steps[i];
        json_array_append_new(steps, step_json(i, plan, board));
        if (step->work.warning)
            json_array_append_new(warnings, json_sprintf("%s: %s", step->name, step->work.warning));
    }
    json_t *json = json_pack("{s:s, s:o, s:o, s:o, s:o}", "chain", text_string(&canonical), "in",
                             frame_json(&plan->in), "steps", steps, "out", frame_json(plan->out),
                             "warnings", warnings);
    json_object_set_new(json, "results", results);
    json_object_set_new(json, "stages_run", json_integer((json_int_t)plan->n_chain_steps));
    json_object_set_new(json, "stages_asked", json_integer((json_int_t)plan->n_asked));
    json_t *totals = totals_json(plan), *jpeg = jpeg_json(chain, &plan->in.planes[0]);
    if (jpeg)
        json_object_set_new(json, "jpeg", jpeg);
    json_object_update(json, totals);
    json_decref(totals);
    if (apart)
        json_object_set_new(json, "not_fused", totals_json(apart));
    if (board) {
        double seconds = board_seconds(board, plan);
        json_object_set_new(
            json, "board",
            json_pack("{s:s, s:s, s:s, s:i, s:f, s:f, s:s, s:o}", "name", board->name, "label",
                      board->label, "gpu", board_gpu_name(board->gpu), "cores", (int)board->cores,
                      "clock_hz", board->clock, "bytes_per_s", board->bandwidth, "sources",
                      board->sources, "seconds", seconds >= 0 ? json_real(seconds) : json_null()));
    }
    text_finish(&canonical);
    return json;
}

int cli_plan_json(const struct chain *chain, const struct plane *plane,
                  const struct device_profile *profile, const struct board *board, bool no_fuse,
                  json_t **json, struct fault *fault)
{
    struct frame frame = {0};
    struct plan *plan = NULL, *apart = NULL;
    struct plan_options how = {.profile = profile, .no_fuse = no_fuse}, unfused = how;
    unfused.no_fuse = true;
    int result = frame_add_plane(&frame, plane, FRAME_ALIGNMENT)
                     ? 0
                     : fault_set(fault, FAULT_MEMORY, "no memory for a plan");
    if (result == 0)
        result = plan_create(&plan, chain, &frame, &how, fault);
    if (result == 0 && !no_fuse)
        result = plan_create(&apart, chain, &frame, &unfused, fault);
    if (result == 0)
        *json = plan_json(plan, apart, chain, board);
    plan_destroy(&plan);
    plan_destroy(&apart);
    frame_finish(&frame);
    return result;
}

static int print_source(const struct plan *plan)
{
    struct fault fault = FAULT_INIT;
    struct program_source source;
    if (program_source_create(&source, plan, &fault) != 0)
        return cli_complain(NULL, &fault);
    fputs(text_string(&source.text), cli_stdout);
    program_source_finish(&source);
    return 0;
}

/* The profile of the board, or the one that was named. */
static int named_profile(const struct plan_command_options *o, const struct board **board,
                         struct device_profile *profile, struct fault *fault)
{
    if (o->board && o->profile)
        return fault_set(fault, FAULT_USAGE, "either --board or --profile, not both");
    if (o->board) {
        *board = board_find(o->board, fault);
        if (*board)
            *profile = board_profile(*board);
        return *board ? 0 : FAULT_USAGE;
    }
    const struct device_profile *named = device_profile_by_name(o->profile);
    if (!named)
        return fault_set(fault, FAULT_USAGE, "--profile=%s: expected one of native, cpu, gpu, mali",
                         o->profile);
    *profile = *named;
    return 0;
}

/* Which of two devices `auto` takes, and why. */
struct choice {
    const struct device_info *device, *native; /* NULL: there are not two */
    bool is_known;                             /* it was measured, as `times` says */
    struct tuned_choice times;
    char why[320];
};

/* As a job would choose (engine.c). */
static int choose(const struct device_options *how, const struct chain *chain,
                  const struct plane *plane, struct choice *choice, struct fault *fault)
{
    struct frame frame = {0};
    struct tuned *tuned = NULL;
    struct fault none = FAULT_INIT;
    if (!tuned_may_choose(how) || !device_may_load(how) ||
        tuned_pair(how, &choice->device, &choice->native, &none) != 0) {
        choice->device = NULL;
        return 0;
    }
    int result = frame_add_plane(&frame, plane, FRAME_ALIGNMENT)
                     ? tuned_create(&tuned, choice->device, choice->native, fault)
                     : fault_set(fault, FAULT_MEMORY, "no memory for a frame");
    if (result == 0)
        choice->is_known = tuned_choose(tuned, chain, &frame, &choice->times);
    const struct tuned_choice *times = &choice->times;
    if (choice->is_known)
        snprintf(choice->why, sizeof choice->why,
                 "a job takes %.3f ms there, %.3f ms on %s, by what sluice tune has measured of %s",
                 (times->native ? times->native_s : times->device_s) * 1e3,
                 (times->native ? times->device_s : times->native_s) * 1e3,
                 times->native ? choice->device->name : choice->native->name,
                 times->by_stages ? "its stages" : "this chain");
    else
        snprintf(choice->why, sizeof choice->why,
                 "a GPU comes first; sluice tune has not measured this chain on %s of %u channel%s",
                 sample_name(plane->type), plane->channels, plane->channels == 1 ? "" : "s");
    tuned_destroy(&tuned);
    frame_finish(&frame);
    return result;
}

static const char *chosen_name(const struct choice *choice)
{
    return choice->times.native ? choice->native->name : choice->device->name;
}

static json_t *choice_json(const struct choice *choice)
{
    const struct tuned_choice *times = &choice->times;
    return json_pack("{s:s, s:s, s:s, s:o, s:o}", "device", chosen_name(choice), "other",
                     times->native ? choice->device->name : choice->native->name, "why",
                     choice->why, "device_s",
                     choice->is_known ? json_real(times->device_s) : json_null(), "native_s",
                     choice->is_known ? json_real(times->native_s) : json_null());
}

/* The profile that was asked for, otherwise that of the device that would be chosen. */
static int find_profile(const struct plan_command_options *o, const struct chain *chain,
                        const struct plane *plane, struct device **device,
                        const struct board **board, struct device_profile *profile,
                        struct choice *choice, struct fault *fault)
{
    static const struct device_options native = {
        .select = "native", .platform_index = -1, .device_index = -1};
    struct engine_options engine;
    if (o->profile || o->board)
        return named_profile(o, board, profile, fault);
    cli_engine_options(&o->common, &engine);
    if (engine.reference) {
        *profile = *device_profile_by_name("cpu");
        return 0;
    }
    int result = choose(&engine.device, chain, plane, choice, fault);
    if (result == 0)
        result =
            device_open_best(device, choice->times.native ? &native : &engine.device, fault);
    if (result == 0)
        *profile = *device_profile(*device);
    return result;
}

static int make_plan(const struct plan_command_options *o, const struct chain *chain,
                     const struct plane *plane, const struct device_profile *profile,
                     const struct board *board, const struct choice *choice)
{
    struct fault fault = FAULT_INIT;
    struct frame frame = {0};
    struct format formats[CHAIN_RESULTS_MAX] = {0};
    struct plan_target targets[CHAIN_RESULTS_MAX] = {0};
    struct plan *plan = NULL, *apart = NULL;
    struct device_profile own = *profile;
    struct plan_options how = {.profile = &own, .no_fuse = o->common.no_fuse}, unfused;
    int status = 0;
    own.generic |= o->generic;
    for (size_t i = 0; i < o->n_wishes && !fault.code; i++) {
        const char *text = o->wishes[i].format ? o->wishes[i].format : o->wishes[0].format;
        if (text && format_parse(&formats[i], text, &fault) == 0)
            targets[i] =
                (struct plan_target){format_fit, &formats[i], format_mosaic_gain(&formats[i])};
    }
    how.targets = targets;
    unfused = how;
    unfused.no_fuse = true;
    if (fault.code) {
        status = cli_complain(NULL, &fault);
    } else if (!frame_add_plane(&frame, plane, FRAME_ALIGNMENT)) {
        status = 70;
    } else if (plan_create(&plan, chain, &frame, &how, &fault) != 0 ||
               (!how.no_fuse && plan_create(&apart, chain, &frame, &unfused, &fault) != 0)) {
        device_tell_fp64(profile, &fault);
        status = cli_complain("plan", &fault);
    } else if (o->source) {
        status = print_source(plan);
    } else if (o->common.json) {
        json_t *json = plan_json(plan, apart, chain, board);
        uint64_t by_rows = peak_by_rows(chain, &frame, &how);
        if (by_rows)
            json_object_set_new(json, "peak_bytes_by_rows", json_integer((json_int_t)by_rows));
        if (choice->device)
            json_object_set_new(json, "choice", choice_json(choice));
        cli_print_json(json);
    } else {
        print_plan(plan, apart, peak_by_rows(chain, &frame, &how), chain, board);
        if (choice->device)
            fprintf(cli_stdout, "on %s: %s\n", chosen_name(choice), choice->why);
    }
    plan_destroy(&plan);
    plan_destroy(&apart);
    frame_finish(&frame);
    for (size_t i = 0; i < o->n_wishes; i++)
        format_finish(&formats[i]);
    return status;
}

static int plan(void *options_, char **operands, size_t count)
{
    struct plan_command_options *o = options_;
    struct fault fault = FAULT_INIT;
    struct plane plane = {0};
    struct config config;
    struct chain chain = {0};
    struct device *device = NULL;
    const struct board *board = NULL;
    struct device_profile profile;
    struct choice choice = {0};
    cli_common_apply(&o->common);
    if (count != 1 || !plane_parse_size(operands[0], &plane))
        return cli_refuse(64,
                          "plan: the picture's size is WIDTHxHEIGHT[xCHANNELS], 1 to 4 "
                          "channels%s%s (see sluice plan --help)",
                          count == 1 ? ", not " : "", count == 1 ? operands[0] : "");
    if (!sample_find(o->type, &plane.type))
        return cli_refuse(64, "--type=%s: expected u8, i8, u16, i16, i32, f16, f32 or f64",
                          o->type);
    const char *texts[CHAIN_RESULTS_MAX];
    for (size_t i = 0; i < o->n_wishes; i++)
        texts[i] = o->wishes[i].chain ? o->wishes[i].chain : "";
    int status = cli_read_definitions(&o->common, &config, &texts[0]);
    for (size_t i = 1; i < o->n_wishes && status == 0; i++)
        status = cli_find_chain(&o->common, &config, &texts[i]);
    if (status == 0)
        status = cli_parse_chains(&chain, texts, o->n_wishes, &config.definitions);
    if (status == 0)
        status = find_profile(o, &chain, &plane, &device, &board, &profile, &choice, &fault) == 0
                     ? make_plan(o, &chain, &plane, &profile, board, &choice)
                     : cli_complain(NULL, &fault);
    device_close(&device);
    chain_finish(&chain);
    config_finish(&config);
    return status;
}

const struct command command_plan = {&usage, sizeof(struct plan_command_options), plan};
