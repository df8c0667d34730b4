/* A picture by rows: those that the caller gives are copied into the run's first window, and those
 * of the result out of its last one (docs/architecture.md, "Rows in, rows out"). */
#include <stdlib.h>
#include <string.h>

#include "library/internal.h"

struct sluice_rows {
    struct sluice_chain *chain;
    struct sluice_device *device;
    struct plan *plan;
    struct recording *recording;
    struct recording_run run;
    uint32_t put, taken;
    bool failed;
};

static int make_plan(struct sluice_rows *rows, const struct plane *in, struct sluice_error *error)
{
    struct device *device = rows->device->device;
    struct plan_options options = {.rows_in = true, .rows_out = 1, .strips = true};
    struct frame frame = {0};
    struct fault fault = FAULT_INIT;
    int result = 0;
    if (!frame_add_plane(&frame, in, FRAME_ALIGNMENT))
        return library_error(error, SLUICE_E_MEMORY, "no memory for a frame");
    options.profile = device_profile(device);
    result = plan_create(&rows->plan, &rows->chain->chain, &frame, &options, &fault);
    frame_finish(&frame);
    if (result == 0 && rows->plan->out->n_planes != 1)
        return library_error(error, SLUICE_E_SHAPE,
                             "the result is %zu planes; by rows there can be one",
                             rows->plan->out->n_planes);
    if (result == 0)
        result = recording_create(&rows->recording, rows->plan, device, &fault);
    if (result == 0)
        result = recording_open(rows->recording, &rows->run, &fault);
    return result ? library_fail(error, &fault) : 0;
}

int sluice_rows_begin(struct sluice_rows **rows, struct sluice_chain *chain,
                      struct sluice_device *device, const struct sluice_layout *in,
                      struct sluice_error *error)
{
    struct sluice_rows *made = calloc(1, sizeof *made);
    struct frame frame = {0};
    *rows = NULL;
    if (!made)
        return library_error(error, SLUICE_E_MEMORY, "no memory for a run");
    made->chain = sluice_chain_ref(chain);
    made->device = sluice_device_ref(device);
    library_log_for(device);
    int result = library_layout(in, &frame, error);
    if (result == 0 && !device->device)
        result = library_error(error, SLUICE_E_USAGE, "the references take whole frames");
    if (result == 0 && frame.n_planes != 1)
        result =
            library_error(error, SLUICE_E_SHAPE,
                          "the input has %zu planes; by rows there can be one", frame.n_planes);
    if (result == 0)
        result = make_plan(made, &frame.planes[0], error);
    library_log_for(NULL);
    frame_finish(&frame);
    if (result != 0)
        sluice_rows_end(&made);
    *rows = made;
    return result;
}

/* Computes all that can be computed of the rows that are there. */
static int compute(struct sluice_rows *rows, struct sluice_error *error)
{
    struct fault fault = FAULT_INIT;
    struct recording_run *run = &rows->run;
    int result = 0;
    if (run->ended || (!rows->plan->by_rows && rows->put < window_height(run->in)))
        return 0;
    library_log_for(rows->device);
    do {
        result = recording_submit(rows->recording, 1, run, &fault);
        if (result == 0)
            result = recording_wait(rows->recording, run, &fault);
    } while (result == 0 && run->moved && !run->ended);
    library_log_for(NULL);
    rows->failed = result != 0;
    return result ? library_fail(error, &fault) : 0;
}

static int check(const struct sluice_rows *rows, struct sluice_error *error)
{
    return rows->failed ? library_error(error, SLUICE_E_USAGE, "a call for these rows has failed")
                        : 0;
}

int sluice_rows_put(struct sluice_rows *rows, const void *data, size_t stride, unsigned count,
                    unsigned *taken, struct sluice_error *error)
{
    struct window *in = rows->run.in;
    const struct plane *plane = &rows->plan->in.planes[0];
    int result = check(rows, error);
    *taken = 0;
    if (count > plane->height - rows->put && result == 0)
        result = library_error(error, SLUICE_E_USAGE, "%u rows where %u are missing", count,
                               plane->height - rows->put);
    while (*taken < count && result == 0) {
        uint32_t row = rows->put, room = window_room(in, row) - row;
        room = room < count - *taken ? room : count - *taken;
        for (uint32_t y = row; y < row + room; y++)
            memcpy(window_at(in, y) + y * plane->stride,
                   (const uint8_t *)data + stride * (*taken)++, plane_row_bytes(plane));
        rows->put += room;
        atomic_store(&in->written, rows->put);
        if (rows->put < plane->height && window_room(in, rows->put) > rows->put)
            continue;
        result = compute(rows, error);
        if (room == 0 && window_room(in, rows->put) == rows->put)
            break; /* rows of the result have to be taken first */
    }
    return result;
}

/* How many rows of the result can be taken, and where these lie. */
static uint32_t count_ready(const struct sluice_rows *rows, const uint8_t **at)
{
    const struct plan *plan = rows->plan;
    const struct window_sink *sink = &rows->run.sinks[0];
    const struct plane *plane = &plan->out->planes[0];
    uint32_t height = plane->height, top = 0, ready = rows->run.ended ? height : 0;
    *at = rows->run.data;
    if (plan->by_rows) {
        top = plane_first_row(plane); /* the result may be a part of what is computed */
        uint32_t turn = window_turn(sink->window, top + rows->taken);
        ready = atomic_load(&sink->ready);
        ready = ready < turn ? ready : turn;
        ready = ready < top + height ? ready : top + height;
        ready = ready > top ? ready - top : 0;
        *at = ready > rows->taken ? window_at(sink->window, top + rows->taken) : NULL;
    }
    return ready - (ready < rows->taken ? ready : rows->taken);
}

int sluice_rows_take(struct sluice_rows *rows, void *data, size_t stride, unsigned count,
                     unsigned *given, struct sluice_error *error)
{
    const struct plane *plane = &rows->plan->out->planes[0];
    struct window_sink *sink = &rows->run.sinks[0];
    const uint8_t *at;
    bool computed = false;
    int result = check(rows, error);
    *given = 0;
    while (*given < count && rows->taken < plane->height && result == 0) {
        uint32_t ready = count_ready(rows, &at), left = count - *given;
        if (ready == 0 && computed)
            break; /* rows of the input have to be put first */
        for (; ready > 0 && left > 0; ready--, left--, ++*given, rows->taken++)
            memcpy((uint8_t *)data + stride * *given,
                   at + plane->offset + rows->taken * plane->stride, plane_row_bytes(plane));
        uint32_t top = rows->plan->by_rows ? plane_first_row(plane) : 0;
        atomic_store(&sink->taken,
                     rows->taken < plane->height ? top + rows->taken : window_height(sink->window));
        computed = ready == 0 && left > 0;
        if (computed)
            result = compute(rows, error);
    }
    return result;
}

size_t sluice_rows_memory(const struct sluice_rows *rows)
{
    return plan_peak(rows->plan);
}

void sluice_rows_end(struct sluice_rows **rows)
{
    struct sluice_rows *r = *rows;
    *rows = NULL;
    if (!r)
        return;
    if (r->recording)
        recording_run_finish(r->recording, &r->run);
    recording_destroy(&r->recording);
    plan_destroy(&r->plan);
    sluice_chain_unref(&r->chain);
    sluice_device_unref(&r->device);
    free(r);
}
