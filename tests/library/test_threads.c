/* Eight threads with one device, one chain and one plan: they process, start several runs, plan,
 * and give references back, all at once. Under ThreadSanitizer in the suite `tsan`. */
#include <sluice/sluice.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    THREADS = 8,
#ifdef __SANITIZE_ADDRESS__ /* which looks at memory, not at threads, and takes ten times as long */
    ROUNDS = 12,
#else
    ROUNDS = 60,
#endif
    WIDTH = 640, /* large enough that runs are shared among the device's threads */
    HEIGHT = 480,
    IN_FLIGHT = 3
};

static struct sluice_device *device;
static struct sluice_chain *chain;
static struct sluice_plan *plan;
static struct sluice_layout in;
static uint8_t frame[WIDTH * HEIGHT], wanted[WIDTH * HEIGHT];

static void check(int result, const struct sluice_error *error, const char *what)
{
    if (result == 0)
        return;
    fprintf(stderr, "%s: %s\n", what, error->message);
    exit(1);
}

static struct sluice_plan *make_plan(void)
{
    struct sluice_error error = SLUICE_INIT(error);
    struct sluice_plan *made;
    struct sluice_plane plane;
    struct sluice_layout out = SLUICE_INIT(out);
    out.planes = &plane;
    out.n_planes = 1;
    check(sluice_chain_result(chain, &in, &out, &error), &error, "result");
    sluice_layout_fill(&out, 1);
    check(sluice_plan_create(&made, chain, device, &in, &out, 0, &error), &error, "plan");
    return made;
}

static void *work(void *own_)
{
    uint8_t *results = malloc(IN_FLIGHT * sizeof frame);
    struct sluice_error error = SLUICE_INIT(error);
    struct sluice_memory *from, *to[IN_FLIGHT];
    struct sluice_plan *shared = sluice_plan_ref(plan);
    (void)own_;
    check(sluice_memory_wrap(&from, device, frame, sizeof frame, SLUICE_READ, &error), &error,
          "in");
    for (int i = 0; i < IN_FLIGHT; i++)
        check(sluice_memory_wrap(&to[i], device, results + i * sizeof frame, sizeof frame,
                                 SLUICE_WRITE, &error),
              &error, "out");
    for (int round = 0; round < ROUNDS; round++) {
        struct sluice_run *runs[IN_FLIGHT];
        struct sluice_times times = SLUICE_INIT(times);
        struct sluice_plan *own = round % 4 == 0 ? make_plan() : sluice_plan_ref(shared);
        memset(results, 0, IN_FLIGHT * sizeof frame);
        for (int i = 0; i < IN_FLIGHT; i++)
            check(sluice_start(&runs[i], own, from, to[i], &error), &error, "start");
        sluice_plan_unref(&own);
        for (int i = 0; i < IN_FLIGHT; i++)
            check(sluice_wait(&runs[(i + round) % IN_FLIGHT], &times, &error), &error, "wait");
        check(sluice_process(shared, from, to[0], &times, &error), &error, "process");
        for (int i = 0; i < IN_FLIGHT; i++)
            if (memcmp(results + i * sizeof frame, wanted, sizeof frame) != 0) {
                fprintf(stderr, "round %d, run %d: another result\n", round, i);
                exit(1);
            }
    }
    sluice_memory_unref(&from);
    for (int i = 0; i < IN_FLIGHT; i++)
        sluice_memory_unref(&to[i]);
    sluice_plan_unref(&shared);
    free(results);
    return NULL;
}

int main(void)
{
    struct sluice_device_options options = SLUICE_INIT(options);
    struct sluice_error error = SLUICE_INIT(error);
    struct sluice_memory *from, *to;
    pthread_t threads[THREADS];
    options.select = "native";
    options.threads = 3;
    in = (struct sluice_layout)SLUICE_INIT(in);
    in.format = SLUICE_GRAY8;
    in.width = WIDTH;
    in.height = HEIGHT;
    sluice_layout_fill(&in, 1);
    for (size_t i = 0; i < sizeof frame; i++)
        frame[i] = (uint8_t)(i * 2654435761u >> 13);
    check(sluice_device_open(&device, &options, &error), &error, "device");
    check(sluice_chain_parse(&chain, "invert,sobel,median,threshold:t=40", NULL, &error, 1), &error,
          "chain");
    plan = make_plan();
    check(sluice_memory_wrap(&from, device, frame, sizeof frame, SLUICE_READ, &error), &error,
          "in");
    check(sluice_memory_wrap(&to, device, wanted, sizeof wanted, SLUICE_WRITE, &error), &error,
          "out");
    check(sluice_process(plan, from, to, NULL, &error), &error, "process");
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, work, NULL) != 0)
            return 1;
    sluice_memory_unref(&from);
    sluice_memory_unref(&to);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    sluice_plan_unref(&plan);
    sluice_chain_unref(&chain);
    sluice_device_unref(&device);
    return 0;
}
