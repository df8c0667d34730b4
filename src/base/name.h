/* Names of results, of originals set aside and of temporary files. Pure. A name is one component of
 * a path, at most NAME_BYTES long; one that would be longer loses the end of its stem, never half a
 * character of UTF-8. */
#ifndef SLUICE_BASE_NAME_H
#define SLUICE_BASE_NAME_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#define NAME_BYTES 255
typedef char name_buffer[NAME_BYTES + 1];

/* The part of `path` after its last slash. */
const char *path_name(const char *path);

/* `name` up to its last dot, as a length; the whole of it when it has none or only begins with it.
 */
size_t path_stem_length(const char *name);

/* What a picture's result is called: "a.jpg", 2, "dx", "png" → "a-2.dx.png". Number 0 and an empty
 * plane leave no trace. */
void name_of_result(name_buffer name, const char *original, unsigned number, const char *plane,
                    const char *extension);

/* The name that a template gives an original's result: "{stem}-{chain}.{ext}" → "a-edges.png".
 * `chain` is a name or a text; what may not stand in a name becomes '_'. `day`: "2026-05-01". */
struct name_parts {
    const char *original, *chain, *extension, *day;
};
void name_expand(name_buffer name, const char *template, const struct name_parts *parts);

/* {date} of today, by UTC. */
#define NAME_DAY_MAX 16
void name_today(char day[NAME_DAY_MAX]);

/* A result's name under a number and of a plane, its own extension behind them: "a.png", 2, "dx" →
 * "a-2.dx.png". Number 0 and an empty plane leave no trace. */
void name_of_plane(name_buffer name, const char *result, unsigned number, const char *plane);

/* What an original is called among others: "a.jpg", 2 → "a-2.jpg". */
void name_of_original(name_buffer name, const char *original, unsigned number);

/* The reason beside a failed original: "a-2.jpg" → "a-2.jpg.error.json". */
void name_of_reason(name_buffer name, const char *original);

/* True for a name that ends like a reason's. */
bool name_is_reason(const char *name);

/* How many bytes of a reason's name, or of a path that ends with it, are its file's. */
size_t name_reason_stem(const char *reason);

/* The last component of a path as name_of_original and name_of_reason make it: "sub/a.jpg", 2 →
 * "sub/a-2.jpg", "sub/a.jpg.error.json". A path below a folder that is walked (walk.h) is short
 * enough for either. */
void name_number_path(char numbered[PATH_MAX], const char *path, unsigned number);
void name_reason_path(char reason[PATH_MAX], const char *path);

/* The hidden name under which a file is written before it gets its own: "a.png", "TAG" →
 * ".a.png.TAG.tmp". A tag begins with the instance that it belongs to, and "-". */
void name_of_temporary(name_buffer name, const char *final, const char *tag);

/* True for a temporary name whose tag begins with `instance` and "-". */
bool name_is_temporary_of(const char *name, const char *instance);

/* Names may hold any byte; JSON may not: bytes beyond ASCII, and %, are written as %XX. What does
 * not fit is left out. `text` for a whole name: three bytes for each of its own. False: it is no
 * such text, or too long. */
void name_escape(const char *name, char *text, size_t size);
bool name_unescape(const char *text, char *name, size_t size);

/* A number that is free: 0 if that is, else one found by doubling and halving, so that a name that
 * was used ten thousand times costs a few dozen questions. `taken` is asked about numbers; UINT_MAX
 * when all are taken. */
unsigned name_find_number(bool (*taken)(void *context, unsigned number), void *context);

/* True for names that are never looked at: hidden ones (our own folder among them), and those that
 * match one of the patterns of fnmatch(3); the list ends with NULL. */
bool name_is_ignored(const char *name, const char *const *patterns);

#endif
