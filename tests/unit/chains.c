/* Random chains on a device, native, against the references: one to four stages of any kind, every
 * type and number of channels, pictures from 1×1 on. Every eighth is a tree of two or three chains
 * with common beginnings. A chain is what its number makes it, so that a number by itself is a
 * chain again:
 *
 *     unit_chains [FIRST [COUNT [SECONDS [DEVICE [CLASS [STAGES]]]]]]          (1 300 10 native)
 *
 * On another device, `cpu`, plans are for its class of devices or for CLASS (gpu, mali); chains
 * have one or two stages, and part of them at least goes by strips of rows. With STAGES
 * ("gauss,resize") chains are of these alone.
 *
 * A result is right within the sum of the stages' tolerances, or, of several stages, within what
 * they add up to (chain/reference.h); then it is counted apart. Chains run in processes of their
 * own, a hundred in each, so that a sanitizer's report or a crash ends one chain, and is counted.
 * SECONDS of the processor bound a chain: references of large windows are slow. Exit 1 if any was
 * wrong or died. */
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "chain/recording.h"
#include "chain/reference.h"
#include "random_chain.h"

#define SECONDS    10
#define AT_ONCE    100
#define STAGES_MAX 4
#define FRAME_MOST (4u << 20) /* bytes of any frame between two stages */
#define LAUNCHES   2000       /* most of a plan */

/* What processes share. */
struct tally {
    uint64_t at; /* the chain that runs */
    uint64_t refused, equal, near, spread, wrong, slow, died, by_rows;
    char text[2048]; /* of the chain that runs, and its picture */
};

static struct tally *tally;
static const char *selected = "native", *among; /* the device; stages, NULL: all */
static struct device_profile profiles[2]; /* the device's, and for generic kernels */
static struct plan_options chosen;        /* for the chain that runs */

/* ---- pictures ---- */

static double value_of(enum sample_type type, unsigned kind, double range, double place)
{
    double least = sample_is_integer(type) ? sample_min(type) : kind == 4 ? -range : 0;
    double most = sample_is_integer(type) ? sample_max(type) : range;
    switch (kind) {
    case 0: /* even */
        return least + (most - least) * 0.25;
    case 1: /* a ramp with a little noise */
        return least + (most - least) * fmin(1, 0.9 * place + random_between(0, 0.1));
    case 2: /* the ends of the range */
        return random_below(2) ? least : most;
    default:
        return random_between(least, most);
    }
}

static bool fill(struct picture *picture)
{
    static const double ranges[] = {255, 1, 65535, 1e-3, 1e6};
    for (size_t i = 0; i < picture->frame.n_planes; i++) {
        const struct plane *p = &picture->frame.planes[i];
        unsigned kind = random_below(5);
        double range = p->white > 0 ? p->white : ranges[random_below(5)];
        for (uint32_t y = 0; y < p->height; y++) {
            uint8_t *row = picture_row(picture, i, y);
            for (uint32_t x = 0; x < p->width * p->channels; x++) {
                double place = (double)(x + y) / (p->width * p->channels + p->height);
                double v = value_of(p->type, kind, range, place);
                sample_store(p->type, row + x * sample_size(p->type),
                             sample_is_integer(p->type) ? rint(v) : v);
            }
        }
    }
    return true;
}

/* ---- chains ---- */

static bool make_chain(struct chain *chain, struct text *text)
{
    unsigned count = 0, steps = 1 + random_below(profiles[0].prebuilt ? STAGES_MAX : 2);
    while (stage_registry[count])
        count++;
    for (unsigned tries = 0; tries < 200; tries++) {
        text_finish(text);
        for (unsigned i = 0; i < steps;) {
            const struct stage *stage = stage_registry[random_below(count)];
            if (stage->internal || (among && !strstr(among, stage->name)))
                continue;
            struct text one = {0};
            struct chain parsed = {0};
            for (unsigned k = 0; k < 50; k++) { /* parameters that the stage takes */
                text_finish(&one);
                random_chain(stage, &one);
                if (chain_parse_with(&parsed, text_string(&one), random_definitions(), NULL) == 0)
                    break;
                chain_finish(&parsed);
            }
            chain_finish(&parsed);
            text_printf(text, "%s%s", i ? "," : "", text_string(&one));
            text_finish(&one);
            i++;
        }
        if (chain_parse_with(chain, text_string(text), random_definitions(), NULL) == 0)
            return true;
        chain_finish(chain);
    }
    return false;
}

/* Makes it the tree of itself and of chains that begin as it does. */
static bool branch(struct chain *chain, struct text *text)
{
    struct chain chains[4] = {*chain};
    size_t count = 2 + random_below(2), made = 1;
    for (; made < count; made++) {
        struct text own = {0};
        if (!make_chain(&chains[made], &own))
            break;
        struct chain begun = {0}, rest = chains[made];
        text_printf(text, ";%s", text_string(&own));
        text_finish(&own);
        struct chain beginning = *chain;
        beginning.n_steps = random_below((uint32_t)chain->n_steps + 1);
        text_printf(text, " behind %zu", beginning.n_steps);
        begun.steps = calloc(beginning.n_steps + rest.n_steps, sizeof *begun.steps);
        struct chain copy;
        if (!begun.steps || chain_copy(&copy, &beginning, NULL) != 0)
            abort();
        memcpy(begun.steps, copy.steps, copy.n_steps * sizeof *copy.steps);
        memcpy(begun.steps + copy.n_steps, rest.steps, rest.n_steps * sizeof *rest.steps);
        begun.n_steps = copy.n_steps + rest.n_steps;
        begun.definitions = chain->definitions;
        free(copy.steps);
        free(rest.steps);
        chains[made] = begun;
    }
    int result = chain_join(chain, chains, made, NULL);
    for (size_t i = 0; i < made; i++)
        chain_finish(&chains[i]);
    return result == 0;
}

static void make_frame(struct frame *frame)
{
    static const double whites[] = {0, 1, 255, 65535};
    struct plane plane = random_plane();
    uint32_t side = random_below(8) ? 64 : 300;
    plane.width = 1 + (plane.width - 1) % side;
    plane.height = 1 + (plane.height - 1) % side;
    if (!sample_is_integer(plane.type))
        plane.white = whites[random_below(4)];
    if (!frame_add_plane(frame, &plane, FRAME_ALIGNMENT))
        abort();
}

/* The options by which rows pass through, in bands of any size. On OpenCL kernels are the same
 * ones, since they take seconds to compile. */
static struct plan_options by_rows(const struct plan_options *like)
{
    struct plan_options options = *like;
    options.no_fuse = like->profile->prebuilt ? random_below(4) == 0 : like->no_fuse;
    options.rows_in = options.strips = true;
    options.rows_out = UINT32_MAX;
    options.band_bytes = 1 + random_below(1u << random_below(12));
    return options;
}

/* Whether OpenCL can go by strips somewhere in the chain. */
static bool has_strips(const struct plan *plan, const struct chain *chain,
                       const struct plan_options *like)
{
    struct plan_options options = by_rows(like);
    struct plan *strips = NULL;
    options.band_bytes = 1;
    bool has = plan_create(&strips, chain, &plan->in, &options, NULL) == 0 && strips->by_rows;
    plan_destroy(&strips);
    return has;
}

static bool is_small(const struct plan *plan)
{
    bool small = plan->in.size <= FRAME_MOST && plan_total_launches(plan) <= LAUNCHES;
    for (size_t i = 0; i < plan->n_steps; i++)
        small &= plan->steps[i].out.size <= FRAME_MOST;
    return small;
}

/* A chain that suits a picture, planned; false: this number has none. */
static bool make_plan(struct chain *chain, struct text *text, struct plan **plan)
{
    struct plan_options options = {.profile = &profiles[0]};
    options.no_fuse = random_below(4) == 0;
    if (random_below(4) == 0)
        options.profile = &profiles[1];
    for (unsigned tries = 0; tries < 100; tries++) {
        struct frame frame = {0};
        struct fault fault = FAULT_INIT;
        if (!make_chain(chain, text) || (tally->at % 8 == 0 && !branch(chain, text)))
            return false;
        make_frame(&frame);
        int result = plan_create(plan, chain, &frame, &options, &fault);
        frame_finish(&frame);
        if (result == FAULT_INTERNAL) {
            printf("%" PRIu64 ": %s: %s\n", tally->at, text_string(text), fault.text);
            tally->wrong++;
        }
        if (result == 0 && is_small(*plan) &&
            (options.profile->prebuilt || has_strips(*plan, chain, &options))) {
            chosen = options;
            const struct plane *p = &(*plan)->in.planes[0];
            snprintf(tally->text, sizeof tally->text, "%.1900s of %ux%ux%u %s white %g%s",
                     text_string(text), p->width, p->height, p->channels, sample_name(p->type),
                     p->white, options.no_fuse ? ", apart" : "");
            return true;
        }
        plan_destroy(plan);
        chain_finish(chain);
    }
    return false;
}

/* ---- one chain ---- */

static int run_device(const struct plan *plan, struct device *device, const struct picture *in,
                      struct picture *out, struct fault *fault)
{
    struct recording *recording = NULL;
    struct recording_run run = {0};
    struct device_buffer *buffer = NULL;
    void *data;
    int result = recording_create(&recording, plan, device, fault);
    if (result == 0)
        result = device_buffer_acquire(device, plan->slot_size[plan->in_slot], &buffer, fault);
    if (result == 0)
        result = device_buffer_map(device, buffer, in->frame.size, &data, fault);
    if (result == 0) {
        memcpy(data, in->data, in->frame.size);
        result = recording_run(recording, &buffer, 1, &run, fault);
    }
    for (size_t i = 0; i < plan->n_results && result == 0; i++) {
        if (picture_create(&out[i], plan->results[i].frame))
            memcpy(out[i].data, recording_result(recording, &run, i), out[i].frame.size);
        else
            result = fault_set(fault, FAULT_MEMORY, "no memory for a picture");
    }
    if (recording)
        recording_run_finish(recording, &run);
    device_buffer_release(device, &buffer);
    recording_destroy(&recording);
    return result;
}

/* Takes rows of a result, as many as are ready or fewer. They have to be those that the whole has.
 */
static bool take_rows(const struct plan *plan, struct recording_run *run, size_t index,
                      uint32_t *taken, const struct picture *whole, struct fault *fault)
{
    struct window_sink *sink = &run->sinks[index];
    const struct plane *plane = &plan->results[index].frame->planes[0];
    uint32_t height = plane->height, top = plane_first_row(plane), begin = *taken;
    uint32_t ready = atomic_load(&sink->ready);
    ready = ready > top ? ready - top : 0;
    ready = ready < height ? ready : height;
    if (!run->ended && ready > begin)
        ready = begin + random_below(ready - begin + 1);
    for (; *taken < ready; ++*taken) {
        const uint8_t *got =
            window_at(sink->window, top + *taken) + plane->offset + *taken * plane->stride;
        if (memcmp(got, picture_row(whole, 0, *taken), plane_row_bytes(plane)) != 0)
            fault_set(fault, FAULT_VERIFY, "by rows row %u of result %zu differs", *taken,
                      index + 1);
    }
    atomic_store(&sink->taken, *taken < height ? top + *taken : window_height(sink->window));
    return *taken > begin;
}

/* The same, by rows: bands of random size go in, and what is ready comes out, in memory for them
 * alone. */
static void run_rows(const struct plan *plan, struct device *device, const struct picture *in,
                     const struct picture *whole)
{
    struct recording *recording = NULL;
    struct recording_run run = {0};
    struct fault fault = FAULT_INIT;
    uint32_t taken[4] = {0};
    unsigned idle = 0;
    bool over = false;
    int result = recording_create(&recording, plan, device, &fault);
    if (result == 0)
        result = recording_open(recording, &run, &fault);
    while (result == 0 && !over && idle < 100) {
        uint32_t row = atomic_load(&run.in->written), end = row + 1 + random_below(24);
        uint32_t room = run.ended ? row : window_room(run.in, row);
        end = end < room ? end : room;
        bool moved = end > row;
        for (uint32_t y = row; y < end; y++)
            memcpy(window_at(run.in, y) + y * plan->in.planes[0].stride, picture_row(in, 0, y),
                   plane_row_bytes(&plan->in.planes[0]));
        atomic_store(&run.in->written, end);
        if (!run.ended)
            result = recording_submit(recording, 1, &run, &fault);
        if (run.batch && result == 0)
            result = recording_wait(recording, &run, &fault);
        moved |= run.moved;
        over = run.ended;
        for (size_t i = 0; i < plan->n_results && result == 0; i++) {
            moved |= take_rows(plan, &run, i, &taken[i], &whole[i], &fault);
            over &= taken[i] == plan->results[i].frame->planes[0].height;
            result = fault.code;
        }
        idle = moved ? 0 : idle + 1;
    }
    if (result == 0 && !over)
        result = fault_set(&fault, FAULT_INTERNAL, "row %u does not come", taken[0]);
    tally->by_rows++;
    if (result != 0) {
        tally->wrong++;
        printf("%" PRIu64 ": %s: %s\n", tally->at, tally->text, fault.text);
    }
    if (recording)
        recording_run_finish(recording, &run);
    recording_destroy(&recording);
}

static void try_rows(const struct plan *plan, const struct chain *chain, struct device *device,
                     const struct picture *in, const struct picture *whole)
{
    struct plan_options options = by_rows(&chosen);
    struct plan *by_rows = NULL;
    struct fault fault = FAULT_INIT;
    int result = plan_create(&by_rows, chain, &plan->in, &options, &fault);
    bool one_each = result == 0;
    for (size_t i = 0; one_each && i < by_rows->n_results; i++)
        one_each = by_rows->results[i].frame->n_planes == 1;
    if (result != 0) {
        tally->wrong++;
        printf("%" PRIu64 ": %s: by rows: %s\n", tally->at, tally->text, fault.text);
    } else if (by_rows->by_rows && one_each) {
        run_rows(by_rows, device, in, whole);
    }
    plan_destroy(&by_rows);
}

static void judge(const struct plan *plan, const struct picture *in, const struct picture *expected,
                  const struct picture *got)
{
    struct fault fault = FAULT_INIT;
    double largest = 0;
    if (reference_compare(plan, expected, got, &largest, &fault) == 0) {
        tally->equal += largest == 0;
        tally->near += largest > 0;
        return;
    }
    fault_clear(&fault);
    if (reference_verify(plan, in, expected, got, &largest, &fault) == 0) {
        tally->spread++;
        return;
    }
    tally->wrong++;
    printf("%" PRIu64 ": %s: %s\n", tally->at, tally->text, fault.text);
}

static void run_one(struct device *device, uint64_t number)
{
    struct chain chain = {0};
    struct text text = {0};
    struct plan *plan = NULL;
    struct picture in = {0}, expected[4] = {0}, got[4] = {0};
    struct fault fault = FAULT_INIT;
    random_seed(number);
    if (make_plan(&chain, &text, &plan) && picture_create(&in, &plan->in) && fill(&in)) {
        int result = run_device(plan, device, &in, got, &fault), other = result;
        if (result == 0)
            other = reference_run(plan, &in, expected, &fault);
        if (other == 0) {
            judge(plan, &in, expected, got);
            try_rows(plan, &chain, device, &in, got);
        } else if (result != 0 && reference_run(plan, &in, expected, NULL) == result) {
            tally->refused++;
        } else {
            tally->wrong++;
            printf("%" PRIu64 ": %s: %s: %s\n", number, tally->text,
                   result ? "the device alone fails" : "the reference alone fails", fault.text);
        }
    } else {
        tally->refused++;
    }
    picture_destroy(&in);
    for (size_t i = 0; i < 4; i++) {
        picture_destroy(&expected[i]);
        picture_destroy(&got[i]);
    }
    plan_destroy(&plan);
    chain_finish(&chain);
    text_finish(&text);
}

/* The chain that runs may take so long; SIGPROF then ends the process. 0: no limit. */
static void limit(unsigned seconds)
{
    setitimer(ITIMER_PROF, &(struct itimerval){.it_value.tv_sec = seconds}, NULL);
}

static int run_some(uint64_t end, unsigned seconds, const char *class)
{
    const struct device_options options = {
        .select = selected, .platform_index = -1, .device_index = -1};
    const struct device_info *list[DEVICES_MAX];
    struct device *device = NULL;
    size_t count;
    struct fault fault = FAULT_INIT;
    if (device_select(&options, list, &count, &fault) != 0 ||
        device_open(&device, list[0], &options, &fault) != 0) {
        printf("no device: %s\n", fault.text);
        return 77;
    }
    profiles[0] = class ? *device_profile_by_name(class) : *device_profile(device);
    profiles[1] = class ? profiles[0] : *device_generic_profile(device);
    profiles[1].generic = true;
    for (; tally->at < end; tally->at++) {
        limit(seconds);
        run_one(device, tally->at);
        fflush(stdout);
    }
    limit(0);
    device_close(&device);
    return 0;
}

int main(int argc, char **argv)
{
    uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    uint64_t end = first + (argc > 2 ? strtoull(argv[2], NULL, 10) : 300);
    unsigned seconds = argc > 3 ? (unsigned)atoi(argv[3]) : SECONDS;
    selected = argc > 4 ? argv[4] : selected;
    among = argc > 6 ? argv[6] : NULL;
    tally = mmap(NULL, sizeof *tally, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (tally == MAP_FAILED)
        return 1;
    for (tally->at = first; tally->at < end;) {
        uint64_t some = tally->at + AT_ONCE < end ? tally->at + AT_ONCE : end;
        int status;
        fflush(stdout);
        pid_t child = fork();
        if (child == 0)
            exit(run_some(some, seconds, argc > 5 ? argv[5] : NULL));
        if (child < 0 || waitpid(child, &status, 0) != child)
            return 1;
        if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
            return 77;
        if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
            continue;
        if (WIFSIGNALED(status) && WTERMSIG(status) == SIGPROF) {
            tally->slow++;
        } else {
            tally->died++;
            printf("%" PRIu64 ": %s: died, status %d\n", tally->at, tally->text, status);
        }
        tally->at++;
    }
    printf("chains %" PRIu64 " to %" PRIu64 ": %" PRIu64 " equal, %" PRIu64
           " within the stages' tolerances, %" PRIu64 " within what they add up to, %" PRIu64
           " wrong, %" PRIu64 " died; %" PRIu64 " by rows; left out: %" PRIu64
           " that suit no picture, %" PRIu64 " too slow\n",
           first, end - 1, tally->equal, tally->near, tally->spread, tally->wrong, tally->died,
           tally->by_rows, tally->refused, tally->slow);
    return tally->wrong + tally->died > 0;
}
