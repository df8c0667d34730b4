/* Folders whose results would come back as new pictures, through one folder or round a circle of
 * several. */
#ifndef SLUICE_CONFIG_LOOPS_H
#define SLUICE_CONFIG_LOOPS_H

#include "base/text.h"
#include "config/settings.h"

/* A watched folder by where its paths lead: "DEVICE/PATH", the path within that file system, so
 * that links, bind mounts and other spellings of one folder read the same. No slash at its end. */
struct loop_folder {
    const char *input, *output;
    const char *const *mounted; /* file systems that are mounted below the input; ends with NULL */
    bool recursive;
    const char *const *ignore; /* as in watch_settings */
};

/* Calls `found` for each circle in which the results of one folder are the next one's pictures, and
 * those of the last one the first one's; a circle of one feeds itself. Results are a folder's
 * pictures when they go to its input, or below it when that is recursive, but not below a name that
 * it ignores. A folder is told of in one circle at most. Pure. False without memory. */
bool loops_find(const struct loop_folder *folders, size_t count,
                void (*found)(void *context, const size_t *circle, size_t length), void *context);

/* Looks where the folders of the settings lead and appends a line for each circle, and for each
 * folder that is watched twice; "FILE:LINE:COLUMN: " is in front of those that the file names.
 * Folders that are missing count as what they would be, and paths on a disk that does not answer
 * within a second as what they read as. */
void settings_check_loops(const struct settings *settings, struct text *errors);

#endif
