/* One job from its input's first byte to its result's last. */
#include "engine/engine_internal.h"

#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "base/clock.h"
#include "base/deadline.h"
#include "base/file.h"
#include "base/number.h"
#include "base/sealed.h"
#include "chain/reference.h"
#include "codec/output.h"
#include "stage/video.h"

/* A picture is small when all that it takes on the device is at most this. Starting another one
 * then takes a fraction of a millisecond, which delays the first one's result unnoticeably. */
#define SMALL_BYTES (4u << 20)

static uint64_t span(struct job_state *s)
{
    uint64_t now = clock_now(), passed = now - s->mark;
    s->mark = now;
    return passed;
}

uint64_t job_take_reading(struct job_state *s)
{
    uint64_t time = s->decoder.input.time;
    s->decoder.input.time = 0;
    s->job->report.read += time;
    return time;
}

static void drop_file(struct job_state *s)
{
    if (s->is_mapped)
        sealed_unmap(&s->file);
    else
        bytes_finish(&s->file);
}

/* Frees everything, whatever the job's state. */
static void let_go(struct job_state *s)
{
    if (s->prepared && s->prepared->recording)
        recording_run_finish(s->prepared->recording, &s->run);
    if (s->device)
        device_buffer_release(s->device, &s->in_buffer);
    if (!s->in_place) /* otherwise it belongs to plan and file */
        picture_destroy(&s->host_in);
    for (size_t i = 0; i < CHAIN_RESULTS_MAX; i++)
        picture_destroy(&s->host_out[i]);
    if (s->decoder.input.fault.code)
        s->job->report.step = "read";
    s->job->report.warnings = s->decoder.warnings;
    s->decoder.warnings = (struct text){0};
    const struct plan *plan = s->prepared ? s->prepared->plan : NULL;
    for (size_t i = 0; plan && i < plan->n_steps; i++)
        if (plan->steps[i].work.warning)
            text_printf(&s->job->report.warnings, "%s: %s\n", plan->steps[i].name,
                        plan->steps[i].work.warning);
    decoder_close(&s->decoder);
    drop_file(s);
    prepared_release(s->engine, &s->prepared);
    budget_give(&s->engine->files, s->reserved_file);
    budget_give(&s->engine->planes, s->reserved);
}

/* Reserves memory. A thread that waits for it holds none but this job's own. */
static int take(struct job_state *s, struct budget *budget, uint64_t bytes, uint64_t *reserved,
                struct fault *fault)
{
    int result = 0;
    if (!budget_take_now(budget, bytes)) {
        burst_settle(s->burst);
        result = budget_take(budget, bytes, fault);
    }
    if (result == 0)
        *reserved = bytes;
    return result;
}

/* Reads the input, or leaves it to the decoder to read pieces of a file when it needs them. What is
 * in memory counts against the budget until it is decoded. An input larger than the whole budget
 * for inputs is read while no other is held. A pipe does not tell its size. A file that cannot
 * change any more is used without a copy. */
static int read_file(struct job_state *s, struct decoder_input *input, struct fault *fault)
{
    struct budget *files = &s->engine->files;
    uint64_t limit = s->engine->options.max_file, bytes = limit;
    struct stat status;
    if (fstat(s->job->in_fd, &status) == 0 && S_ISREG(status.st_mode))
        bytes = (uint64_t)status.st_size < limit ? (uint64_t)status.st_size : limit;
    else
        burst_settle(s->burst); /* reading a pipe may take any time */
    bool is_sealed = sealed_is(s->job->in_fd);
    bool in_pieces = false;
    if (!is_sealed && bytes < limit && bytes > INPUT_PIECE) {
        *input = input_of_file(s->job->in_fd, bytes);
        const struct codec *codec = codec_of(input, &s->job->decode);
        in_pieces = codec && codec->reads_pieces;
        if (!in_pieces)
            input_finish(input);
    }
    bytes = in_pieces ? INPUT_PIECE : bytes;
    int result =
        take(s, files, bytes < files->total ? bytes : files->total, &s->reserved_file, fault);
    if (result != 0 && in_pieces)
        input_finish(input);
    if (result != 0 || in_pieces)
        return result;
    s->is_mapped = is_sealed && sealed_map(s->job->in_fd, limit, &s->file);
    if (!s->is_mapped)
        result = file_read(s->job->in_fd, limit, &s->file, fault);
    if (is_sealed && !s->is_mapped)
        s->job->report.bytes_copied += s->file.size;
    *input = input_of_memory(s->file.data, s->file.size);
    return result;
}

bool job_has_free_processor(struct engine *engine)
{
    pthread_mutex_lock(&engine->queue_lock);
    unsigned n_jobs = atomic_load(&engine->n_jobs) + engine->n_queued;
    pthread_mutex_unlock(&engine->queue_lock);
    return 2 * n_jobs <= engine->processors;
}

static int read_header(struct job_state *s, struct fault *fault)
{
    const struct engine_options *options = &s->engine->options;
    struct engine_report *report = &s->job->report;
    struct decoder_input input;
    int result = read_file(s, &input, fault);
    report->read = span(s);
    input.time = 0;
    if (result != 0)
        return result;
    report->bytes_in = input.size;
    report->step = "decode";
    if (s->job->began)
        s->job->began(s->job);
    struct decode_options decode = s->job->decode;
    struct statfs status;
    struct codec_limits limits = {options->max_pixels, options->memory};
    decode.two_threads = job_has_free_processor(s->engine);
    decode.padded = fstatfs(s->job->in_fd, &status) == 0 && status.f_type == HUGETLBFS_MAGIC;
    for (size_t i = 0; i < chain_count_results(s->job->chain); i++) {
        enum metadata_choice meta = format_meta(s->job->results[i].format);
        decode.meta = i == 0 || meta > decode.meta ? meta : decode.meta;
    }
    result = decoder_open_input(&s->decoder, &input, &decode, &limits, fault);
    if (result != 0)
        return result;
    struct stage_source source =
        chain_source(s->job->chain, &s->decoder.frame.planes[0], VIDEO_BT601);
    result = decoder_narrow(&s->decoder, source.luma, source.reduce, fault);
    if (result != 0)
        return result;
    s->mark += job_take_reading(s);
    snprintf(report->in_format, sizeof report->in_format, "%s", s->decoder.codec->name);
    report->in = s->decoder.frame.video.format ? video_picture(&s->decoder.frame.video)
                                               : s->decoder.frame.planes[0];
    report->stored_luma = s->decoder.stored_luma;
    report->reduced = s->decoder.reduced;
    return 0;
}

static bool keeps_input(const struct engine_job *job)
{
    return job->verify || job->iterations > 1;
}

/* Chooses formats by the number of planes, which the plan tells before anything is computed. */
static int choose_formats(struct job_state *s, struct fault *fault)
{
    struct engine_job *job = s->job;
    struct plan_options as_it_is = {0};
    struct plan *plan = NULL;
    size_t count = chain_count_results(job->chain);
    bool wanted = false;
    for (size_t i = 0; i < count; i++)
        wanted |= job->results[i].frame_format != NULL;
    int result = wanted ? plan_create(&plan, job->chain, &s->decoder.frame, &as_it_is, fault) : 0;
    for (size_t i = 0; i < count && result == 0; i++) {
        struct engine_result *of = &job->results[i];
        if (of->frame_format && plan->results[i].frame->n_planes > 1)
            of->format = of->frame_format;
        s->formats[i] = *of->format;
    }
    plan_destroy(&plan);
    return result;
}

/* True for the references and for CPU devices. A demoted chain may run on another device than the
 * engine's; the plan tells which. */
static bool takes_host_memory(const struct device *device)
{
    return !device || device_profile(device)->host_memory;
}

/* Uses a raw frame where it lies in its sealed file, if its samples lie as the plan needs them.
 * That memory is then never reused for results. */
static int prepare_in_place(struct job_state *s, struct fault *fault)
{
    struct engine *engine = s->engine;
    struct device *device = NULL;
    struct frame frame = {0};
    int result = 0;
    if (!s->is_mapped || keeps_input(s->job))
        return 0;
    if (s->job->chain->n_steps > 0 && !engine->options.reference &&
        !engine_prefers_native(engine, s->job->chain, &s->decoder.frame))
        result = engine_need_device(engine, s->job->chain, &device, false, fault);
    if (device) /* which may be another one already */
        device = engine_device(engine);
    if (result != 0 || !takes_host_memory(device) || !decoder_in_place(&s->decoder, &frame))
        return result;
    result = prepared_get(engine, s->job->chain, &frame, s->formats, PREPARE_KEEP_INPUT,
                          &s->prepared, fault);
    frame_finish(&frame);
    s->in_place = result == 0 && takes_host_memory(s->prepared->device);
    if (!s->in_place)
        prepared_release(engine, &s->prepared);
    return result;
}

static bool writes_one_file(const struct job_state *s, size_t index)
{
    return format_holds_frame(&s->formats[index]) ||
           s->prepared->plan->results[index].frame->n_planes == 1;
}

/* Whether each result is one file. */
static bool writes_one_each(const struct job_state *s)
{
    bool one = true;
    for (size_t i = 0; i < s->prepared->plan->n_results; i++)
        one &= writes_one_file(s, i);
    return one;
}

bool job_writes_files(const struct job_state *s)
{
    return !s->job->output.is_final && writes_one_each(s);
}

/* Rows come in order from most decoders, and are taken so by most encoders. But a JPEG that is
 * decoded at a part of its size for one result is soonest there by two threads, and what follows
 * takes little. What cannot be taken back is not begun before the input has been read. */
static unsigned how_to_run(const struct job_state *s)
{
    unsigned rows_out = 0;
    for (size_t i = 0; i < chain_count_results(s->job->chain) && !s->job->output.is_final; i++)
        rows_out |= s->formats[i].codec->writes_whole ? 0 : PREPARE_ROWS_OUT << i;
    if (keeps_input(s->job))
        return PREPARE_KEEP_INPUT;
    if (!plan_is_large(&s->decoder.frame) ||
        (s->decoder.reduced > 1 && s->decoder.options.two_threads &&
         chain_count_results(s->job->chain) == 1))
        return 0;
    return (s->decoder.whole ? 0 : PREPARE_ROWS_IN) | rows_out;
}

/* What the job holds in all. */
static uint64_t bytes_needed(const struct job_state *s)
{
    const struct plan *plan = s->prepared->plan;
    const struct device *device = s->prepared->recording ? s->prepared->device : NULL;
    uint64_t bytes = s->decoder.working_memory + plan_peak(plan);
    bool by_reference = plan->n_steps > 0 && !s->prepared->recording;
    if (by_reference || s->job->verify) /* the references hold frames of their own */
        for (size_t i = 0; i < plan->n_steps; i++)
            bytes += plan->steps[i].out.size;
    if (device && device_copies(device))
        bytes += plan->slot_size[plan->in_slot];
    for (size_t i = 0; device && i < plan->n_results && device_copies(device); i++)
        bytes += plan->slot_size[plan->results[i].slot];
    return bytes;
}

/* Finds or makes a plan. If one of several results takes several files, all are written when they
 * are there. */
static int get_prepared(struct job_state *s, unsigned how, struct fault *fault)
{
    const struct frame *in = &s->decoder.frame;
    int result = prepared_get(s->engine, s->job->chain, in, s->formats, how, &s->prepared, fault);
    if (result != 0 || s->prepared->plan->n_results == 1 || writes_one_each(s))
        return result;
    prepared_release(s->engine, &s->prepared);
    return prepared_get(s->engine, s->job->chain, in, s->formats, how % PREPARE_ROWS_OUT,
                        &s->prepared, fault);
}

/* Plans whole planes on OpenCL, or strips of rows where these are larger than a buffer or than the
 * memory. The reason why there is no room is that for whole planes. */
static int prepare_room(struct job_state *s, struct fault *fault)
{
    struct engine *engine = s->engine;
    const struct frame *in = &s->decoder.frame;
    unsigned how = how_to_run(s);
    struct prepared *strips = NULL;
    int result = get_prepared(s, how, fault);
    bool fits = result == 0 && bytes_needed(s) <= engine->planes.total;
    if (fits || (result != 0 && result != FAULT_LIMIT) ||
        (how & (PREPARE_ROWS_IN | PREPARE_ROWS_OUT)) == 0)
        return result;
    if (prepared_get(engine, s->job->chain, in, s->formats, how | PREPARE_STRIPS, &strips, NULL) !=
            0 ||
        !strips->plan->by_rows) {
        prepared_release(engine, &strips);
        return result;
    }
    fault_clear(fault);
    prepared_release(engine, &s->prepared);
    s->prepared = strips;
    return 0;
}

static int prepare(struct job_state *s, struct fault *fault)
{
    s->job->report.step = "plan";
    int result = choose_formats(s, fault);
    if (result != 0)
        return result;
    result = prepare_in_place(s, fault);
    if (result == 0 && !s->in_place)
        result = prepare_room(s, fault);
    if (result != 0)
        return result;
    const struct plan *plan = s->prepared->plan;
    s->job->report.n_stages = plan->n_chain_steps;
    s->job->report.n_asked = plan->n_asked;
    if (plan->stored_luma) {
        s->job->report.stored_luma = true;
        s->job->report.in.channels = 1;
    }
    uint64_t bytes = bytes_needed(s);
    if (s->prepared->recording) {
        s->device = s->prepared->device;
        s->job->report.ran_on = device_info(s->device);
    }
    s->is_small =
        s->prepared->recording && !keeps_input(s->job) && !plan->by_rows && bytes <= SMALL_BYTES;
    if (!s->is_small)
        burst_settle(s->burst);
    result = take(s, &s->engine->planes, bytes, &s->reserved, fault);
    s->job->report.prepare = span(s);
    return result;
}

static int take_in_place(struct job_state *s, struct fault *fault)
{
    int result = 0;
    if (s->prepared->recording)
        result = device_buffer_wrap(s->device, s->file.data, s->file.size, false, &s->in_buffer, fault);
    else
        s->host_in = (struct picture){s->prepared->plan->in, s->file.data};
    s->job->report.decode = span(s);
    return result;
}

/* Makes room for the input: device memory, which is mapped, or our own where no device runs. */
static int make_room(struct job_state *s, struct fault *fault)
{
    const struct plan *plan = s->prepared->plan;
    uint64_t size = window_bytes(&plan->in, &plan->held);
    if (s->prepared->recording) {
        int result = recording_open(s->prepared->recording, &s->run, fault);
        s->in = s->run.in;
        s->sinks = s->run.sinks;
        return result;
    }
    if (!frame_copy(&s->host_in.frame, &plan->in) ||
        !(s->host_in.data = aligned_alloc(
              FRAME_ALIGNMENT, (size_t)size / FRAME_ALIGNMENT * FRAME_ALIGNMENT + FRAME_ALIGNMENT)))
        return fault_set(fault, FAULT_MEMORY, "no memory for a picture of %s", number_size(size));
    s->in = &s->host_rows;
    s->sinks = s->host_sinks;
    window_init(&s->host_rows, &plan->in, &plan->held, s->host_in.data);
    for (size_t i = 0; i < plan->n_results; i++)
        s->sinks[i].window = s->in;
    return 0;
}

int job_decode_rows(struct job_state *s, uint32_t end, struct fault *fault)
{
    struct picture rows = {s->prepared->plan->in, window_at(s->in, s->decoder.row)};
    int result = decoder_rows(&s->decoder, &rows, end, fault);
    if (result == 0)
        atomic_store(&s->in->written, end);
    if (result == 0 && end == window_height(s->in) && s->decoder.is_copy)
        s->job->report.bytes_copied += frame_bytes(&s->decoder.frame);
    return result;
}

/* Decodes the picture, unless its rows are to pass through. */
static int decode(struct job_state *s, struct fault *fault)
{
    const struct plan *plan = s->prepared->plan;
    s->job->report.step = "decode";
    if (s->in_place)
        return take_in_place(s, fault);
    int result = make_room(s, fault);
    if (result != 0 || plan->by_rows)
        return result;
    result = job_decode_rows(s, window_height(s->in), fault);
    if (result == 0 && s->job->verify && s->prepared->recording) {
        if (!picture_create(&s->host_in, &plan->in))
            return fault_set(fault, FAULT_MEMORY, "no memory for --verify");
        memcpy(s->host_in.data, s->in->memory, plan->in.size);
        s->job->report.bytes_copied += plan->in.size;
    }
    s->job->report.decode = span(s);
    s->job->report.decode -= job_take_reading(s);
    drop_file(s); /* it is not needed any more */
    return result;
}

static int copy_launches(struct job_state *s, struct fault *fault)
{
    struct engine_report *report = &s->job->report;
    const struct plan *plan = s->prepared->plan;
    report->launches = calloc(s->run.n_launches + 1, sizeof *report->launches);
    if (!report->launches)
        return fault_set(fault, FAULT_MEMORY, "no memory for a report");
    for (size_t i = 0; i < s->run.n_launches; i++) {
        const struct launch_report *from = &s->run.launches[i];
        struct engine_launch *to = &report->launches[report->n_launches++];
        snprintf(to->stage, sizeof to->stage, "%s", plan->steps[from->step].label);
        snprintf(to->kernel, sizeof to->kernel, "%s", from->kernel);
        to->queued = from->queued;
        to->wait = from->wait;
        to->run = from->run;
    }
    return 0;
}

int job_note_run(struct job_state *s, struct fault *fault)
{
    s->job->report.crossings_in = s->run.traffic.crossings_in;
    s->job->report.crossings_out = s->run.traffic.crossings_out;
    s->job->report.bytes_copied += s->run.traffic.bytes_copied;
    return copy_launches(s, fault);
}

static int start_on_device(struct job_state *s, struct fault *fault)
{
    if (!s->prepared->recording || s->prepared->plan->by_rows)
        return 0;
    unsigned iterations = s->job->iterations > 1 ? s->job->iterations : 1;
    s->job->report.step = "device";
    int result = s->in_place ? recording_start(s->prepared->recording, &s->in_buffer, NULL,
                                               iterations, &s->run, fault)
                             : recording_submit(s->prepared->recording, iterations, &s->run, fault);
    s->job->report.device = span(s);
    return result;
}

static int wait_for_device(struct job_state *s, struct fault *fault)
{
    const struct plan *plan = s->prepared->plan;
    bool is_first = !s->prepared->stored; /* PoCL compiles the rest during the first run */
    if (is_first)
        engine_tell_preparing(s->engine, "running kernels for the first time");
    int result = recording_wait(s->prepared->recording, &s->run, fault);
    if (is_first)
        engine_tell_preparing(s->engine, "");
    s->job->report.device += span(s);
    if (result == 0)
        result = job_note_run(s, fault);
    if (result != 0)
        return result;
    for (size_t i = 0; i < plan->n_results; i++)
        s->results[i] =
            (struct picture){*plan->results[i].frame,
                             (uint8_t *)recording_result(s->prepared->recording, &s->run, i)};
    if (result == 0 && s->job->verify) {
        result = reference_run(plan, &s->host_in, s->host_out, fault);
        if (result == 0)
            result = reference_verify(plan, &s->host_in, s->host_out, s->results,
                                      &s->job->report.largest_difference, fault);
        s->job->report.verified = result == 0;
        span(s);
    }
    return result;
}

static int run_on_host(struct job_state *s, struct fault *fault)
{
    const struct plan *plan = s->prepared->plan;
    s->job->report.step = "device";
    if (plan->n_steps == 0) {
        for (size_t i = 0; i < plan->n_results; i++)
            s->results[i] = s->host_in;
        return 0;
    }
    int result = reference_run(plan, &s->host_in, s->host_out, fault);
    memcpy(s->results, s->host_out, sizeof s->results);
    s->job->report.device = span(s);
    return result;
}

int job_open_file(struct job_state *s, size_t index, size_t plane, const char *name,
                  struct job_file *file, struct fault *fault)
{
    const struct engine_output *to = &s->job->output;
    s->job->report.step = "write";
    *file = (struct job_file){.result = index};
    int result = to->open(to->context, index, name, &file->fd, fault);
    if (result != 0)
        return result;
    s->job->report.step = "encode";
    const struct format *format = &s->formats[index];
    file->metadata = metadata_part(&s->decoder.metadata, format_meta(format));
    file->output = output_create(file->fd);
    if (file->output) {
        file->output->metadata = &file->metadata;
        result = encoder_open(&file->encoder, format, plane, file->output, fault);
    } else {
        result = fault_set(fault, FAULT_MEMORY, "no memory for an output");
    }
    return result ? job_close_file(s, file, result, fault) : 0;
}

int job_close_file(struct job_state *s, struct job_file *file, int result, struct fault *fault)
{
    const struct engine_output *to = &s->job->output;
    if (file->output && output_flush(file->output, result ? NULL : fault) != 0 && result == 0)
        result = fault->code;
    if (file->output) {
        s->job->report.results[file->result].bytes += file->output->written;
        s->job->report.bytes_out += file->output->written;
    }
    encoder_close(&file->encoder);
    output_destroy(&file->output);
    s->job->report.encode += span(s);
    if (result == 0)
        s->job->report.step = "write";
    int closed = to->close(to->context, file->fd, result == 0, result == 0 ? fault : NULL);
    s->job->report.write += span(s);
    return result ? result : closed;
}

static int encode_file(struct job_state *s, size_t index, size_t plane, const char *name,
                       struct fault *fault)
{
    const struct picture *picture = &s->results[index];
    struct job_file file;
    int result = job_open_file(s, index, plane, name, &file, fault);
    if (result != 0)
        return result;
    result = encoder_rows(&file.encoder, picture, picture->frame.planes[plane].height, fault);
    return job_close_file(s, &file, result, fault);
}

/* The part of the file's name that names the plane. */
static const char *file_name(const struct plane *plane)
{
    return plane->name[0] ? plane->name : "image";
}

void job_note_result(struct job_state *s, size_t index, const struct frame *frame)
{
    struct engine_written *written = &s->job->report.results[index];
    snprintf(written->format, sizeof written->format, "%s", s->formats[index].codec->name);
    written->plane = frame->planes[0];
    written->n_planes = frame->n_planes;
}

void job_name_result(const struct job_state *s, size_t index, struct fault *fault)
{
    struct fault why = *fault;
    if (chain_count_results(s->job->chain) == 1)
        return;
    fault_clear(fault);
    fault_set(fault, why.code, "result %zu: %s", index + 1, why.text);
}

static int encode(struct job_state *s, size_t index, struct fault *fault)
{
    const struct frame *frame = &s->results[index].frame;
    job_note_result(s, index, frame);
    if (writes_one_file(s, index))
        return encode_file(s, index, 0, "", fault);
    for (size_t i = 0; i < frame->n_planes; i++)
        for (size_t k = 0; k < i; k++)
            if (strcmp(file_name(&frame->planes[i]), file_name(&frame->planes[k])) == 0)
                return fault_set(fault, FAULT_SHAPE, "two planes would both be written to .%s",
                                 file_name(&frame->planes[i]));
    int result = 0;
    for (size_t i = 0; i < frame->n_planes && result == 0; i++)
        result = encode_file(s, index, i, file_name(&frame->planes[i]), fault);
    return result;
}

/* Encodes one result after the other; a fault names the one that it is about. */
static int encode_all(struct job_state *s, struct fault *fault)
{
    size_t count = chain_count_results(s->job->chain);
    int result = 0;
    for (size_t i = 0; i < count && result == 0; i++) {
        result = i > 0 ? deadline_check(fault) : 0;
        if (result == 0)
            result = encode(s, i, fault);
        if (result != 0)
            job_name_result(s, i, fault);
    }
    return result;
}

void job_start(struct job_state *s, struct engine *engine, struct engine_job *job,
               struct burst *burst)
{
    uint64_t now = clock_now();
    *s =
        (struct job_state){.engine = engine, .job = job, .burst = burst, .begin = now, .mark = now};
    fault_clear(&job->fault);
    job->report =
        (struct engine_report){.step = "read", .n_results = chain_count_results(job->chain)};
    if (job->submitted > 0)
        job->report.queue = now - job->submitted;
    static int (*const steps[])(struct job_state *, struct fault *) = {read_header, prepare, decode,
                                                                       start_on_device};
    int result = 0;
    atomic_fetch_add(&engine->n_jobs, 1);
    deadline_set(job->deadline);
    for (size_t i = 0; i < sizeof steps / sizeof *steps && result == 0; i++) {
        result = deadline_check(&job->fault);
        if (result == 0)
            result = steps[i](s, &job->fault);
    }
    s->started = result == 0;
}

void job_end(struct job_state *s)
{
    struct engine_job *job = s->job;
    struct fault *fault = &job->fault;
    int result = s->started ? 0 : fault->code;
    deadline_set(job->deadline);
    s->mark = clock_now(); /* time for the thread's other jobs does not count */
    if (result == 0 && s->prepared->plan->by_rows) {
        result = job_run_rows(s, fault);
        for (size_t i = 0; i < s->prepared->plan->n_results; i++)
            s->results[i] =
                (struct picture){*s->prepared->plan->results[i].frame, s->sinks[i].window->memory};
    } else if (result == 0) {
        result = s->prepared->recording ? wait_for_device(s, fault) : run_on_host(s, fault);
    }
    if (result == 0 && !s->is_written)
        result = deadline_check(fault);
    if (result == 0 && !s->is_written)
        encode_all(s, fault);
    deadline_set(0);
    let_go(s);
    atomic_fetch_sub(&s->engine->n_jobs, 1);
    job->report.total = clock_now() - s->begin;
}

int engine_run(struct engine *engine, struct engine_job *job)
{
    struct job_state state;
    job_start(&state, engine, job, NULL);
    job_end(&state);
    return job->fault.code;
}
