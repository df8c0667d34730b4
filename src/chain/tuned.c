#include "chain/tuned.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/text.h"
#include "chain/plan.h"
#include "version.h"

const uint32_t tuned_widths[TUNED_SIZES] = {160, 320, 640, 1280, 2560, 5120};

/* A chain on pictures of a kind: "u8x3 luminance:…". */
struct entry {
    struct text name;
    struct tuned_times times;
};

struct tuned {
    const struct device_info *device;
    struct text fact; /* what the times depend on, beside the device */
    size_t count;
    struct entry *entries;
};

bool tuned_may_choose(const struct device_options *options)
{
    return (!options->select || strcmp(options->select, "auto") == 0) &&
           options->platform_index < 0 && options->device_index < 0 && !options->flags &&
           !options->load_binary && !options->dump_binary;
}

int tuned_pair(const struct device_options *options, const struct device_info **device,
               const struct device_info **native, struct fault *fault)
{
    const struct device_info *order[DEVICES_MAX], *list[DEVICES_MAX];
    struct fault none = FAULT_INIT;
    size_t count;
    int result = device_select(options, order, &count, fault);
    if (result != 0)
        return result;
    *device = order[0];
    *native = NULL;
    for (size_t i = device_list(list, false, &none); i-- > 0;)
        *native = list[i]->kind == DEVICE_NATIVE ? list[i] : *native;
    if (!*native)
        return fault_set(fault, FAULT_NO_DEVICE, "there are no native kernels to compare with");
    if (*device == *native)
        return fault_set(fault, FAULT_NO_DEVICE,
                         "there is no GPU here, and so no choice: auto takes native; --device cpu "
                         "compares it with OpenCL on this processor");
    return 0;
}

/* ---- what is remembered: a line for each entry, its times, and its name at the end ---- */

static void print_name(const struct chain *chain, const struct plane *kind, struct text *name)
{
    text_printf(name, "%sx%u ", sample_name(kind->type), kind->channels);
    chain_print(chain, name);
}

static int add(struct tuned *tuned, const char *name, const struct tuned_times *times,
               struct fault *fault)
{
    struct entry *entry = NULL;
    for (size_t i = 0; i < tuned->count && !entry; i++)
        if (strcmp(text_string(&tuned->entries[i].name), name) == 0)
            entry = &tuned->entries[i];
    if (!entry) {
        struct entry *grown = realloc(tuned->entries, (tuned->count + 1) * sizeof *grown);
        if (!grown)
            return fault_set(fault, FAULT_MEMORY, "no memory for times of chains");
        tuned->entries = grown;
        entry = &grown[tuned->count];
        *entry = (struct entry){0};
        text_append(&entry->name, name);
        if (entry->name.failed)
            return fault_set(fault, FAULT_MEMORY, "no memory for times of chains");
        tuned->count++;
    }
    entry->times = *times;
    return 0;
}

static int read_line(struct tuned *tuned, char *line, struct fault *fault)
{
    struct tuned_times times;
    char *at = line;
    for (unsigned i = 0; i < TUNED_SIZES; i++) {
        times.device[i] = strtod(at, &at);
        times.native[i] = strtod(at, &at);
    }
    return *at == ' ' ? add(tuned, at + 1, &times, fault) : 0;
}

int tuned_create(struct tuned **tuned, const struct device_info *device,
                 const struct device_info *native, struct fault *fault)
{
    struct bytes value = {0};
    struct text lines = {0};
    int result = 0;
    struct tuned *t = calloc(1, sizeof *t);
    if (!t)
        return fault_set(fault, FAULT_MEMORY, "no memory for times of chains");
    t->device = device;
    text_printf(&t->fact, "times of chains 2, sluice %s, %s %s %s, %u processors", SLUICE_VERSION,
                native->vendor, native->version, native->driver, native->compute_units);
    if (device_recall(device, text_string(&t->fact), &value))
        text_append_bytes(&lines, (const char *)value.data, value.size);
    bytes_finish(&value);
    char *rest = lines.data, *line;
    while (!lines.failed && result == 0 && (line = strsep(&rest, "\n")) != NULL)
        if (line[0])
            result = read_line(t, line, fault);
    if (result == 0 && (lines.failed || t->fact.failed))
        result = fault_set(fault, FAULT_MEMORY, "no memory for times of chains");
    text_finish(&lines);
    if (result != 0)
        tuned_destroy(&t);
    *tuned = t;
    return result;
}

void tuned_destroy(struct tuned **tuned)
{
    struct tuned *t = *tuned;
    if (!t)
        return;
    for (size_t i = 0; i < t->count; i++)
        text_finish(&t->entries[i].name);
    free(t->entries);
    text_finish(&t->fact);
    free(t);
    *tuned = NULL;
}

size_t tuned_count(const struct tuned *tuned)
{
    return tuned->count;
}

int tuned_set(struct tuned *tuned, const struct chain *chain, const struct plane *kind,
              const struct tuned_times *times, struct fault *fault)
{
    struct text name = {0};
    print_name(chain, kind, &name);
    int result = name.failed ? fault_set(fault, FAULT_MEMORY, "no memory for times of chains")
                             : add(tuned, text_string(&name), times, fault);
    text_finish(&name);
    return result;
}

bool tuned_store(const struct tuned *tuned)
{
    struct text lines = {0};
    for (size_t i = 0; i < tuned->count; i++) {
        const struct entry *entry = &tuned->entries[i];
        for (unsigned k = 0; k < TUNED_SIZES; k++)
            text_printf(&lines, "%.4g %.4g ", entry->times.device[k], entry->times.native[k]);
        text_printf(&lines, "%s\n", text_string(&entry->name));
    }
    const struct bytes value = {(uint8_t *)lines.data, lines.length};
    bool stored =
        !lines.failed && device_remember(tuned->device, text_string(&tuned->fact), &value);
    text_finish(&lines);
    return stored;
}

/* ---- the choice ---- */

/* Between two sizes by their logarithms; below the smallest one what that takes, since there a
 * launch costs more than the work; above the largest in proportion to the pixels. */
static double seconds_at(const double *seconds, double pixels)
{
    double before = 0, before_pixels = 0;
    for (unsigned i = 0; i < TUNED_SIZES; i++) {
        double own = (double)tuned_widths[i] * TUNED_HEIGHT_OF(tuned_widths[i]);
        if (seconds[i] <= 0)
            continue;
        if (pixels <= own && before == 0)
            return seconds[i];
        if (pixels <= own) {
            double part = log(pixels / before_pixels) / log(own / before_pixels);
            return before * pow(seconds[i] / before, part);
        }
        before = seconds[i], before_pixels = own;
    }
    return before == 0 ? 0 : before * pixels / before_pixels;
}

static double smallest(const double *seconds)
{
    double least = 0;
    for (unsigned i = 0; i < TUNED_SIZES && least == 0; i++)
        least = seconds[i];
    return least;
}

static const struct tuned_times *find(const struct tuned *tuned, const struct chain *chain,
                                      const struct frame *in)
{
    const struct tuned_times *found = NULL;
    struct text name = {0};
    if (in->n_planes != 1 || in->video.format)
        return NULL;
    print_name(chain, &in->planes[0], &name);
    for (size_t i = 0; i < tuned->count && !found && !name.failed; i++)
        if (strcmp(text_string(&tuned->entries[i].name), text_string(&name)) == 0)
            found = &tuned->entries[i].times;
    text_finish(&name);
    return found;
}

static double pixels_of(const struct frame *in)
{
    return (double)in->planes[0].width * in->planes[0].height;
}

/* The sum of the stages, each on what the one before it makes. What every job costs, as far as the
 * smallest picture shows it, counts once. */
static bool add_stages(const struct tuned *tuned, const struct chain *chain, const struct frame *in,
                       struct tuned_choice *choice)
{
    const struct plan_options by_reference = {0};
    struct plan *plan = NULL;
    bool known =
        plan_create(&plan, chain, in, &by_reference, NULL) == 0 && plan->n_steps == chain->n_steps;
    double device_once = 0, native_once = 0;
    for (size_t i = 0; known && i < chain->n_steps; i++) {
        size_t before = plan->steps[i].before;
        const struct frame *frame = before > 0 ? &plan->steps[before - 1].out : &plan->in;
        const struct chain one = {
            .n_steps = 1, .steps = &chain->steps[i], .definitions = chain->definitions};
        const struct tuned_times *times = find(tuned, &one, frame);
        known = times != NULL;
        if (!known)
            break;
        double pixels = pixels_of(frame), once = smallest(times->device);
        device_once = i == 0 || once < device_once ? once : device_once;
        once = smallest(times->native);
        native_once = i == 0 || once < native_once ? once : native_once;
        choice->device_s += seconds_at(times->device, pixels);
        choice->native_s += seconds_at(times->native, pixels);
    }
    choice->device_s -= device_once * (double)(chain->n_steps - 1);
    choice->native_s -= native_once * (double)(chain->n_steps - 1);
    plan_destroy(&plan);
    return known;
}

bool tuned_choose(const struct tuned *tuned, const struct chain *chain, const struct frame *in,
                  struct tuned_choice *choice)
{
    const struct tuned_times *times = find(tuned, chain, in);
    *choice = (struct tuned_choice){.by_stages = !times};
    if (times) {
        choice->device_s = seconds_at(times->device, pixels_of(in));
        choice->native_s = seconds_at(times->native, pixels_of(in));
    } else if (chain->n_steps < 2 || in->n_planes != 1 || !add_stages(tuned, chain, in, choice)) {
        return false;
    }
    choice->native = choice->native_s < choice->device_s;
    return choice->native_s > 0 && choice->device_s > 0;
}

unsigned tuned_crossover(const struct tuned_times *times)
{
    unsigned from = TUNED_SIZES;
    for (unsigned i = TUNED_SIZES; i-- > 0;) {
        if (times->device[i] > times->native[i])
            break;
        if (times->device[i] > 0)
            from = i;
    }
    return from;
}
