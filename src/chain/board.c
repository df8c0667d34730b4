#include "chain/board.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/nearest.h"
#include "base/text.h"
#include "chain/plan_internal.h"

/* Clocks are the highest operating points in Linux's device trees. Bandwidths are the memory's
 * transfers a second times the width of its bus, an upper limit; that of the RK3588 was measured.
 */
static const struct board boards[] = {
    {"rock5b", "Radxa ROCK 5B", "rockchip,rk3588", BOARD_G610, 4, 0, 1.0e9, 27.7e9,
     "cores: Mali-G610 MP4 (Rockchip); clock and memory: clpeak on a board"},
    {"rock3a", "Radxa ROCK 3A", "rockchip,rk3568", BOARD_G52, 1, 2, 0.8e9, 12.8e9,
     "cores and clock: Linux 810028668c6d, rk356x.dtsi; memory: LPDDR4-3200 (mraa's page of the "
     "board), taken as 32 bits wide"},
    {"odroid-n2", "Odroid N2, N2+", "amlogic,g12b", BOARD_G52, 2, 3, 0.8e9, 10.56e9,
     "cores: 6 engines (Amlogic), taken as two cores; clock: Linux, meson-g12-common.dtsi; memory: "
     "DDR4-2640 (its boot log), taken as 32 bits wide"},
    {"genio-1200-evk", "MediaTek Genio 1200 EVK", "mediatek,mt8395", BOARD_G57, 5, 0, 0.88e9,
     34.1e9,
     "cores: MediaTek's IoT Yocto pages; clock: Linux, mt8195.dtsi; memory: LPDDR4X-4266 of four "
     "channels (MediaTek's announcement of the MT8195)"},
};
#define N_BOARDS (sizeof boards / sizeof *boards)

/* Units of a GPU core, and what a work-item inside a picture uses of each, in cycles. Kernels are
 * counted at one or more amounts of work (pass.h), which stand together, the least first. G52's
 * figures are for three engines a core. */
#define UNITS_MAX 4
static const char *const units[BOARD_GPUS][UNITS_MAX] = {
    {"arith", "ls"}, {"fma", "cvt", "sfu", "ls"}, {"fma", "cvt", "sfu", "ls"}};
static const struct cost {
    const char *kernel;
    float work; /* of a work-item */
    float cycles[BOARD_GPUS][UNITS_MAX];
} costs[] = {
#include "chain/board_costs.h"
};
#define N_COSTS (sizeof costs / sizeof *costs)

const struct board *board_get(size_t index)
{
    return index < N_BOARDS ? &boards[index] : NULL;
}

const struct board *board_find(const char *name, struct fault *fault)
{
    struct nearest nearest = {0};
    struct text names = {0};
    for (size_t i = 0; i < N_BOARDS; i++) {
        if (strcmp(boards[i].name, name) == 0) {
            text_finish(&names);
            return &boards[i];
        }
        nearest_offer(&nearest, name, strlen(name), boards[i].name);
        text_printf(&names, "%s%s", i ? ", " : "", boards[i].name);
    }
    fault_set(fault, FAULT_USAGE, "--board=%s: expected one of %s%s", name, text_string(&names),
              nearest_ask(&nearest, ""));
    text_finish(&names);
    return NULL;
}

const struct board *board_here(void)
{
    char names[512];
    size_t length = file_read_text("/proc/device-tree/compatible", names, sizeof names);
    for (size_t at = 0; at < length; at += strlen(names + at) + 1) /* each name ends with a NUL */
        for (size_t i = 0; i < N_BOARDS; i++)
            if (strcmp(boards[i].compatible, names + at) == 0)
                return &boards[i];
    return NULL;
}

const char *board_gpu_name(enum board_gpu gpu)
{
    static const char *const names[] = {"Mali-G52", "Mali-G57", "Mali-G610"};
    return names[gpu];
}

struct device_profile board_profile(const struct board *board)
{
    struct device_profile profile = *device_profile_by_name("mali");
    profile.units = board->cores;
    return profile;
}

/* Removes the last of such words from a kernel's name, between whose words are underscores. */
static void remove_word(char *name, const char *word)
{
    size_t length = strlen(word);
    for (char *at = name + strlen(name); at > name; at--) {
        if (at[-1] == '_' && strncmp(at, word, length) == 0 &&
            (at[length] == '_' || at[length] == '\0')) {
            memmove(at - 1, at + length, strlen(at + length) + 1);
            return;
        }
    }
    if (strncmp(name, word, length) == 0 && name[length] == '_')
        memmove(name, name + length + 1, strlen(name + length + 1) + 1);
}

/* The counts of a kernel nearest to `work`: that with as much or less, or else the first, and the
 * next one of the two that a line is drawn through. Equal: there is one alone. False: none. */
static bool find_counts(const char *kernel, double work, const struct cost **one,
                        const struct cost **next)
{
    size_t first = 0, n = 0, i = 0;
    while (first < N_COSTS && strcmp(costs[first].kernel, kernel) != 0)
        first++;
    while (first + n < N_COSTS && strcmp(costs[first + n].kernel, kernel) == 0)
        n++;
    if (n == 0)
        return false;
    while (i + 2 < n && costs[first + i + 1].work <= work)
        i++;
    *one = &costs[first + i];
    *next = &costs[first + (i + 1 < n ? i + 1 : i)];
    return true;
}

/* The same for a pass. A kernel that does the work of several stages, and was not counted itself,
 * takes at least what the same kernel takes with one of them alone: its name without the others'.
 */
static bool find_costs(const struct pass *pass, double work, const struct cost **one,
                       const struct cost **next)
{
    if (find_counts(pass->name, work, one, next))
        return true;
    for (unsigned kept = 0; pass->fused && kept <= pass->fused->n_parts; kept++) {
        char name[PASS_NAME_MAX];
        snprintf(name, sizeof name, "%s", pass->name);
        for (unsigned i = 0; i < pass->fused->n_parts; i++)
            if (i != kept)
                remove_word(name, pass->fused->parts[i].stage);
        if (find_counts(name, work, one, next))
            return true;
    }
    return false;
}

/* A work-item's cycles of a unit. More work than was counted is as much more as between the last
 * two counts, less is in proportion. */
static double item_cycles(const struct cost *one, const struct cost *next, enum board_gpu gpu,
                          int unit, double work)
{
    double less = (double)one->cycles[gpu][unit], more = (double)next->cycles[gpu][unit];
    if (work < (double)one->work)
        return less * work / (double)one->work;
    if (one == next || (work > (double)next->work && more < less))
        return more;
    return less + (more - less) * (work - (double)one->work) / (double)(next->work - one->work);
}

static double items_of(const struct pass *pass)
{
    return (double)((pass->grid_width + pass->span - 1) / pass->span) * pass->grid_height;
}

/* The work of one of them. */
static double work_of_item(const struct pass *pass)
{
    return pass->work * (pass->span < pass->grid_width ? pass->span : pass->grid_width);
}

double board_cycles(enum board_gpu gpu, const struct plan *plan)
{
    double cycles = 0;
    for (size_t i = 0; i < plan->n_steps; i++) {
        for (unsigned p = 0; p < plan->steps[i].work.n_passes; p++) {
            const struct pass *pass = &plan->steps[i].work.passes[p];
            const struct cost *one, *next;
            double work = work_of_item(pass), most = 0;
            if (!find_costs(pass, work, &one, &next))
                return -1;
            for (int u = 0; u < UNITS_MAX && units[gpu][u]; u++)
                most = fmax(most, item_cycles(one, next, gpu, u, work));
            cycles += most * items_of(pass);
        }
    }
    return cycles;
}

struct board_bound board_bound(const struct board *board, const struct pass *pass)
{
    double bytes = (double)(pass->bytes_read + pass->bytes_written);
    double items = items_of(pass), work = work_of_item(pass);
    double cores = items < board->cores ? items : board->cores;
    struct board_bound bound = {.memory = bytes / board->bandwidth, .by = "memory"};
    const struct cost *one, *next;
    bool counted = find_costs(pass, work, &one, &next);
    for (int u = 0; counted && u < UNITS_MAX && units[board->gpu][u]; u++) {
        double cycles = item_cycles(one, next, board->gpu, u, work) * items;
        if (board->engines && strcmp(units[board->gpu][u], "arith") == 0)
            cycles *= 3.0 / board->engines;
        double seconds = cycles / (cores * board->clock);
        if (!bound.unit || seconds > bound.cycles) {
            bound.cycles = seconds;
            bound.unit = units[board->gpu][u];
        }
    }
    bound.seconds = bound.cycles > bound.memory ? bound.cycles : bound.memory;
    if (bound.cycles > bound.memory)
        bound.by = bound.unit;
    return bound;
}

double board_seconds(const struct board *board, const struct plan *plan)
{
    double seconds = 0;
    for (size_t i = 0; i < plan->n_steps; i++) {
        for (unsigned p = 0; p < plan->steps[i].work.n_passes; p++) {
            struct board_bound bound = board_bound(board, &plan->steps[i].work.passes[p]);
            if (!bound.unit)
                return -1;
            seconds += bound.seconds;
        }
    }
    return seconds;
}
