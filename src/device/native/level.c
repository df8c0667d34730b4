/* Chooses the level of the processor's architecture whose kernels are used. */
#include <stdlib.h>
#include <string.h>

#include "device/native/native.h"

#if defined(__x86_64__)
static bool has_level(const char *name)
{
    __builtin_cpu_init();
    return (strcmp(name, "x86_64_v2") == 0 && __builtin_cpu_supports("x86-64-v2")) ||
           (strcmp(name, "x86_64_v3") == 0 && __builtin_cpu_supports("x86-64-v3")) ||
           (strcmp(name, "x86_64_v4") == 0 && __builtin_cpu_supports("x86-64-v4"));
}
#elif defined(__aarch64__)
#include <asm/hwcap.h>
#include <sys/auxv.h>

static bool has_level(const char *name)
{
    const unsigned long needed = HWCAP_ATOMICS | HWCAP_CRC32 | HWCAP_ASIMDRDM;
    return strcmp(name, "armv8_a") == 0 ||
           (strcmp(name, "armv8_2_a") == 0 && (getauxval(AT_HWCAP) & needed) == needed);
}
#endif

int native_level(struct fault *fault)
{
    const char *wanted = getenv("SLUICE_NATIVE_LEVEL");
    int best = -1;
    for (int i = 0; native_levels[i]; i++)
        if (has_level(native_levels[i]) && (!wanted || strcmp(wanted, native_levels[i]) == 0))
            best = i;
    if (best < 0 && wanted)
        fault_set(fault, FAULT_NO_DEVICE,
                  "SLUICE_NATIVE_LEVEL=%.40s: this processor or this sluice has no such level",
                  wanted);
    else if (best < 0)
        fault_set(fault, FAULT_NO_DEVICE,
                  "native kernels need a later processor, at least one of %s", native_levels[0]);
    return best;
}
