/* Which of two devices is faster, by chain and size: what `sluice tune` has measured of a device
 * and of native, and the choice that `auto` makes by it. Results are equal on both by definition.
 *
 * It is kept in the cache directory, in one entry for each device, whose key has the device, its
 * driver, native's level and processors, and the version of sluice: of another machine, driver or
 * version there is no entry. */
#ifndef SLUICE_CHAIN_TUNED_H
#define SLUICE_CHAIN_TUNED_H

#include "chain/chain.h"
#include "device/device.h"

/* Widths of the pictures that are measured, which are not square, so that what turns them makes
 * another shape, as it does of photographs. */
#define TUNED_SIZES            6
#define TUNED_HEIGHT_OF(width) ((width) / 4 * 3)
extern const uint32_t tuned_widths[TUNED_SIZES];

/* Seconds from samples in the host's memory to samples there, by size; 0: not known. */
struct tuned_times {
    double device[TUNED_SIZES], native[TUNED_SIZES];
};

/* What is known of a device beside native. Reading it is safe from any thread. */
struct tuned;

/* The device that `options` choose, and native; FAULT_NO_DEVICE where one of them is missing or
 * both are the same. Lists devices, which loads OpenCL. */
int tuned_pair(const struct device_options *options, const struct device_info **device,
               const struct device_info **native, struct fault *fault);

/* Whether the options leave the choice open: "auto", without a platform, flags or a binary. */
bool tuned_may_choose(const struct device_options *options);

/* Reads what is remembered of the device; without an entry nothing is known. FAULT_MEMORY. */
int tuned_create(struct tuned **tuned, const struct device_info *device,
                 const struct device_info *native, struct fault *fault);
void tuned_destroy(struct tuned **tuned);

/* How many chains are known, by kind of picture. */
size_t tuned_count(const struct tuned *tuned);

/* Sets the times of a chain on pictures of that type and number of channels. */
int tuned_set(struct tuned *tuned, const struct chain *chain, const struct plane *kind,
              const struct tuned_times *times, struct fault *fault);

/* Remembers all of it. Returns false where nothing can be written; the log says why. */
bool tuned_store(const struct tuned *tuned);

/* What was measured of a chain, or of its stages one by one, for a picture of that size. */
struct tuned_choice {
    bool native;    /* it is faster there */
    bool by_stages; /* the chain as a whole was not measured: the sum of its stages */
    double native_s, device_s;
};

/* False where nothing is known of such a chain with such pictures: then `auto` takes the device. */
bool tuned_choose(const struct tuned *tuned, const struct chain *chain, const struct frame *in,
                  struct tuned_choice *choice);

/* The smallest of the sizes from which on the device is not slower; TUNED_SIZES: it is at the
 * largest. */
unsigned tuned_crossover(const struct tuned_times *times);

#endif
