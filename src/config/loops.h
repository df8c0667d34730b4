/* Finds watched folders that feed themselves: results that come back as new pictures, directly or
 * through other folders. */
#ifndef SLUICE_CONFIG_LOOPS_H
#define SLUICE_CONFIG_LOOPS_H

#include "base/text.h"
#include "config/settings.h"

/* A watched folder by where its paths lead, as "DEVICE/PATH" with the path within that file system,
 * so that links, bind mounts and other spellings of a folder compare equal. No slash at the end. */
struct loop_folder {
    const char *input, *output;
    const char *const *mounted; /* file systems mounted below the input; ends with NULL */
    bool recursive;
    const char *const *ignore; /* as in watch_settings */
};

/* Calls `found` for each circle in which each folder's results are the next one's pictures, and the
 * last one's results the first one's; a folder that feeds itself is a circle of one. Results are
 * pictures of a folder if they go to its input, or below it if it is recursive, except below a name
 * that it ignores. A folder is in one reported circle at most. Pure. Returns false without memory.
 */
bool loops_find(const struct loop_folder *folders, size_t count,
                void (*found)(void *context, const size_t *circle, size_t length), void *context);

/* Checks the settings' folders, and appends a line for each circle and for each folder that is
 * watched twice, with "FILE:LINE:COLUMN: " for folders of the file. A missing folder counts by its
 * path, and so does one whose disk does not answer within a second. */
void settings_check_loops(const struct settings *settings, struct text *errors);

#endif
