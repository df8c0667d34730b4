/* Runs plans on the first device that is found, for unit tests. (Tests of stages have
 * stage/harness.h.) */
#ifndef SLUICE_TESTS_UNIT_ON_DEVICE_H
#define SLUICE_TESTS_UNIT_ON_DEVICE_H

#include "chain/plan.h"
#include "image/frame.h"

/* For cmocka_run_group_tests. Without a device the reason is printed. */
int on_device_setup(void **state);
int on_device_teardown(void **state);

/* False: there is no device, and nothing may be run. */
bool on_device_is_there(void);

/* Plans the chain and runs it once; a failure fails the test. The result is the caller's to
 * destroy; `launches` (may be NULL) is how many there were. */
struct picture on_device_run(const struct chain *chain, const struct picture *in,
                             const struct plan_options *options, size_t *launches);

#endif
