/* What each frame needs, in one call from Python: cffi lets other threads run Python once for all of
 * it. The memories are the arrays'. */
#include <sluice/sluice.h>

/* Of the last call on this thread that failed here. */
static _Thread_local struct sluice_error last = SLUICE_INIT(last);

static const struct sluice_error *shim_error(void)
{
    return &last;
}

static int shim_wrap(struct sluice_memory **memories, struct sluice_device *device, const void *in,
                     size_t in_bytes, void *out, size_t out_bytes)
{
    int result =
        sluice_memory_wrap(&memories[0], device, (void *)in, in_bytes, SLUICE_READ, &last);
    if (result == 0)
        result = sluice_memory_wrap(&memories[1], device, out, out_bytes, SLUICE_WRITE, &last);
    return result;
}

static int shim_process(struct sluice_plan *plan, struct sluice_device *device, const void *in,
                        size_t in_bytes, void *out, size_t out_bytes)
{
    struct sluice_memory *memories[2] = {0};
    int result = shim_wrap(memories, device, in, in_bytes, out, out_bytes);
    if (result == 0)
        result = sluice_process(plan, memories[0], memories[1], NULL, &last);
    sluice_memory_unref(&memories[0]);
    sluice_memory_unref(&memories[1]);
    return result;
}

/* The run holds its memories. */
static int shim_start(struct sluice_run **run, struct sluice_plan *plan,
                      struct sluice_device *device, const void *in, size_t in_bytes, void *out,
                      size_t out_bytes)
{
    struct sluice_memory *memories[2] = {0};
    int result = shim_wrap(memories, device, in, in_bytes, out, out_bytes);
    if (result == 0)
        result = sluice_start(run, plan, memories[0], memories[1], &last);
    sluice_memory_unref(&memories[0]);
    sluice_memory_unref(&memories[1]);
    return result;
}

static int shim_wait(struct sluice_run **run)
{
    return sluice_wait(run, NULL, &last);
}

/* For Python's garbage collector. */
static void shim_drop_plan(struct sluice_plan *plan)
{
    sluice_plan_unref(&plan);
}

static void shim_drop_chain(struct sluice_chain *chain)
{
    sluice_chain_unref(&chain);
}

static void shim_drop_device(struct sluice_device *device)
{
    sluice_device_unref(&device);
}
