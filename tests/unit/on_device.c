#include "on_device.h"

#include "test.h"

#include <stdio.h>
#include <string.h>

#include "chain/recording.h"

static struct device *device;

int on_device_setup(void **state)
{
    const struct device_info *list[DEVICES_MAX];
    size_t count;
    struct fault fault = FAULT_INIT;
    /* Plans of every class, which only a device with a compiler runs: three times as fast where it
     * does not optimise. */
    static const struct device_options options = {
        .select = "cpu", .platform_index = -1, .device_index = -1, .flags = "-cl-opt-disable"};
    (void)state;
    if (device_select(&options, list, &count, &fault) != 0 ||
        device_open(&device, list[0], &options, &fault) != 0)
        printf("no device: %s\n", fault.text);
    return 0;
}

int on_device_teardown(void **state)
{
    (void)state;
    device_close(&device);
    return 0;
}

bool on_device_is_there(void)
{
    return device != NULL;
}

struct picture on_device_run(const struct chain *chain, const struct picture *in,
                             const struct plan_options *options, size_t *launches)
{
    struct plan *plan = NULL;
    struct recording *recording = NULL;
    struct recording_run run;
    struct device_buffer *buffer = NULL;
    struct picture out;
    struct fault fault = FAULT_INIT;
    void *data = NULL;
    if (plan_create(&plan, chain, &in->frame, options, &fault) != 0 ||
        recording_create(&recording, plan, device, &fault) != 0 ||
        device_buffer_acquire(device, plan->slot_size[plan->in_slot], &buffer, &fault) != 0 ||
        device_buffer_map(device, buffer, in->frame.size, &data, &fault) != 0)
        fail_msg("%s", fault.text);
    memcpy(data, in->data, in->frame.size);
    if (recording_run(recording, &buffer, 1, &run, &fault) != 0)
        fail_msg("%s", fault.text);
    assert_true(picture_create(&out, plan->out));
    memcpy(out.data, run.data, plan->out->size);
    if (launches)
        *launches = run.n_launches;
    recording_run_finish(recording, &run);
    recording_destroy(&recording);
    plan_destroy(&plan);
    return out;
}
