/* What devices and their drivers want of the whole process. The programs, whose process it is, have
 * device/process.c; libsluice, which is a guest, has library/process.c, where nothing happens. */
#ifndef SLUICE_DEVICE_PROCESS_H
#define SLUICE_DEVICE_PROCESS_H

#include <stddef.h>

/* Sets environment variables that OpenCL's drivers read at their first call, unless the user has
 * set them: PoCL would take over SIGFPE, and Mesa offers Mali only by a variable. Called once,
 * before OpenCL is loaded. */
void process_prepare_drivers(void);

/* Has PoCL keep compiled kernels below our cache directory; its default is a predictable path in
 * /tmp. */
void process_keep_kernels(const char *cache_directory);

/* Makes a directory that is removed when the process exits; "" where none can be made. */
void process_make_temporary(char *path, size_t size);

#endif
