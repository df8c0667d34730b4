/* libsluice as a careless or hostile program would call it: a chain's text, layouts of any numbers,
 * memories of any size. An input is a byte of flags, the numbers of an input's and a result's
 * layout as bytes, and the chain. Memories have exactly the bytes that the layouts need, so that a
 * sanitizer sees an access beyond; layouts that need much are planned, but not run.
 *
 * The reference device takes what native does not have in this build. */
#include <sluice/sluice.h>

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

#define PLANES  3
#define RUN_MAX (1 << 16) /* bytes of a frame that is run; a quarter of it on the references */

static bool is_reference;

static struct sluice_device *device(void)
{
    static struct sluice_device *opened;
    struct sluice_device_options options = SLUICE_INIT(options);
    options.threads = 1;
    options.select = "native";
    if (!opened && sluice_device_open(&opened, &options, NULL) != 0) {
        options.select = "reference";
        is_reference = true;
        if (sluice_device_open(&opened, &options, NULL) != 0)
            fuzz_fail("no device");
    }
    return opened;
}

/* Small numbers as a rule, so that layouts are valid now and then; huge ones, too. */
static size_t take_number(struct reader_of_bytes *bytes)
{
    size_t v = fuzz_take_byte(bytes);
    return v < 224 ? v : v < 240 ? v << (v - 224) * 4 : (size_t)0 - (v & 15);
}

static void take_layout(struct reader_of_bytes *bytes, struct sluice_layout *layout,
                        struct sluice_plane planes[PLANES])
{
    uint8_t what = fuzz_take_byte(bytes);
    *layout = (struct sluice_layout)SLUICE_INIT(*layout);
    layout->format = what & 64 ? (int)(what & 15) : 0;
    layout->matrix = (int)(what >> 4 & 3);
    layout->range = what >> 7;
    layout->planes = planes;
    layout->n_planes = 1 + (what & 64 ? 0 : what & 3);
    layout->n_planes = layout->n_planes > PLANES ? 0 : layout->n_planes;
    layout->width = (uint32_t)take_number(bytes);
    layout->height = (uint32_t)take_number(bytes);
    for (int i = 0; i < 3; i++) {
        layout->offset[i] = take_number(bytes);
        layout->stride[i] = take_number(bytes);
    }
    for (size_t i = 0; i < PLANES && !(what & 64); i++) {
        uint8_t kind = fuzz_take_byte(bytes);
        planes[i] = (struct sluice_plane){.width = (uint32_t)take_number(bytes),
                                          .height = (uint32_t)take_number(bytes),
                                          .channels = kind & 7,
                                          .type = kind >> 3 & 15,
                                          .offset = take_number(bytes),
                                          .stride = take_number(bytes)};
    }
    if (fuzz_take_byte(bytes) & 1)
        sluice_layout_fill(layout, (size_t)1 << (fuzz_take_byte(bytes) & 15));
}

/* The plain definitions go over a whole window for each sample: numbers of two digits are left to
 * the planner. */
static bool is_slow(const char *chain)
{
    const char *digits = "0123456789";
    for (size_t n; is_reference && *(chain += strcspn(chain, digits)); chain += n)
        if ((n = strspn(chain, digits)) > 1)
            return true;
    return false;
}

static void run(struct sluice_plan *plan, const struct sluice_plan_info *info, size_t less)
{
    struct sluice_memory *in = NULL, *out = NULL;
    struct sluice_error error = SLUICE_INIT(error);
    struct sluice_times times = SLUICE_INIT(times);
    size_t most = is_reference ? RUN_MAX / 4 : RUN_MAX;
    if (info->in_bytes > most || info->out_bytes > most || info->scratch > (16 << 20))
        return;
    size_t bytes = info->out_bytes > less ? info->out_bytes - less : 0;
    uint8_t *from = malloc(info->in_bytes), *to = malloc(bytes + 1);
    if (!from || !to)
        abort();
    memset(from, 0x5a, info->in_bytes);
    to[bytes] = 0xa5;
    if (sluice_memory_wrap(&in, device(), from, info->in_bytes, SLUICE_READ, &error) == 0 &&
        sluice_memory_wrap(&out, device(), to, bytes, SLUICE_WRITE, &error) == 0) {
        int result = sluice_process(plan, in, out, &times, &error);
        if (result == 0 && less > 0)
            fuzz_fail("a memory of %zu bytes was taken for a result of %zu", bytes,
                      info->out_bytes);
        if (result != 0 && error.message[0] == '\0')
            fuzz_fail("a run fails without a reason");
    }
    if (to[bytes] != 0xa5)
        fuzz_fail("the byte behind the result was written");
    sluice_memory_unref(&in);
    sluice_memory_unref(&out);
    free(from);
    free(to);
}

void fuzz_one(const uint8_t *data, size_t size)
{
    struct reader_of_bytes bytes = {data, size};
    uint8_t flags = fuzz_take_byte(&bytes);
    struct sluice_plane in_planes[PLANES], out_planes[PLANES];
    struct sluice_layout in, out;
    struct sluice_error errors[3] = {SLUICE_INIT(errors[0])};
    struct sluice_plan_info info = SLUICE_INIT(info);
    struct sluice_chain *chain;
    struct sluice_plan *plan;
    char text[1200];
    size_t length;
    take_layout(&bytes, &in, in_planes);
    take_layout(&bytes, &out, out_planes);
    char *wanted = fuzz_take_text(&bytes, '\0', &length);
    if (sluice_chain_parse(&chain, wanted, NULL, errors, 3) != 0) {
        for (int i = 0; i < 3; i++) {
            errors[i].size = sizeof errors[i];
            sluice_error_print(&errors[i], wanted, text, flags & 1 ? sizeof text : flags);
        }
        free(wanted);
        return;
    }
    free(wanted);
    if (flags & 2) { /* the result's own layout, and a little about it */
        out.format = SLUICE_PLANES;
        out.planes = out_planes;
        out.n_planes = PLANES;
        if (sluice_chain_result(chain, &in, &out, &errors[0]) != 0 || out.n_planes > PLANES)
            out.n_planes = 0; /* as many as there are need not be in the array */
        else
            sluice_layout_fill(&out, (size_t)1 << (flags >> 5));
    }
    if (sluice_plan_create(&plan, chain, device(), &in, flags & 4 ? NULL : &out, 0, &errors[0]) ==
        0) {
        sluice_plan_get_info(plan, &info);
        if (info.in_bytes != sluice_layout_bytes(&in))
            fuzz_fail("a plan takes %zu bytes, its layout %zu", info.in_bytes,
                      sluice_layout_bytes(&in));
        if (!is_slow(sluice_chain_short(chain)))
            run(plan, &info, flags & 8 ? 1 : 0);
    } else if (errors[0].message[0] == '\0') {
        fuzz_fail("a plan is refused without a reason");
    }
    sluice_plan_unref(&plan);
    sluice_chain_unref(&chain);
}
