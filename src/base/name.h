/* Names of results, of originals that were set aside, and of temporary files. Pure. A name is a
 * single component of a path of at most NAME_BYTES; a longer one loses the end of its stem, never a
 * part of a UTF-8 character. */
#ifndef SLUICE_BASE_NAME_H
#define SLUICE_BASE_NAME_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#define NAME_BYTES 255
typedef char name_buffer[NAME_BYTES + 1];

/* The part of `path` after its last slash. */
const char *path_name(const char *path);

/* Length of `name` up to its last dot; of all of it if it has no dot, or only a leading one. */
size_t path_stem_length(const char *name);

/* The name of a result: "a.jpg", 2, "dx", "png" → "a-2.dx.png". Number 0 and an empty plane add
 * nothing. */
void name_of_result(name_buffer name, const char *original, unsigned number, const char *plane,
                    const char *extension);

/* The name that a template gives: "{stem}-{chain}.{ext}" → "a-edges.png". `chain` is a name or a
 * chain's text; characters that names cannot have become '_'. `day`: "2026-05-01". */
struct name_parts {
    const char *original, *chain, *extension, *day;
};
void name_expand(name_buffer name, const char *template, const struct name_parts *parts);

/* Today's {date}, in UTC. */
#define NAME_DAY_MAX 16
void name_today(char day[NAME_DAY_MAX]);

/* The name of a result with a number and a plane before its extension: "a.png", 2, "dx" →
 * "a-2.dx.png". Number 0 and an empty plane add nothing. */
void name_of_plane(name_buffer name, const char *result, unsigned number, const char *plane);

/* The name of an original with a number: "a.jpg", 2 → "a-2.jpg". */
void name_of_original(name_buffer name, const char *original, unsigned number);

/* The name of the reason beside a failed original: "a-2.jpg" → "a-2.jpg.error.json". */
void name_of_reason(name_buffer name, const char *original);

/* True for a name that ends as a reason's does. */
bool name_is_reason(const char *name);

/* How many bytes of a reason's name, or path, belong to its file's name. */
size_t name_reason_stem(const char *reason);

/* Numbers the last component of a path: "sub/a.jpg", 2 → "sub/a-2.jpg", "sub/a.jpg.error.json".
 * Paths below a walked folder (walk.h) leave room for either. */
void name_number_path(char numbered[PATH_MAX], const char *path, unsigned number);
void name_reason_path(char reason[PATH_MAX], const char *path);

/* The hidden name of a file while it is written: "a.png", "TAG" → ".a.png.TAG.tmp". A tag begins
 * with the name of its instance and "-". */
void name_of_temporary(name_buffer name, const char *final, const char *tag);

/* True for a temporary name whose tag begins with `instance` and "-". */
bool name_is_temporary_of(const char *name, const char *instance);

/* A name as ASCII text for JSON: other bytes, and %, become %XX. What does not fit is left out;
 * three bytes of `text` for each byte of the name are enough. The reverse takes any byte as an
 * escape, returns false for damaged or too long text, and may write over it. */
void name_escape(const char *name, char *text, size_t size);
bool name_unescape(const char *text, char *name, size_t size);

/* Finds a free number: 0 if that is free; otherwise by doubling and halving, so that a name with
 * ten thousand uses takes some dozen questions. UINT_MAX: all are taken. */
unsigned name_find_number(bool (*taken)(void *context, unsigned number), void *context);

/* True for names that are never taken: hidden ones (such as our own folder), and those that match
 * one of the patterns of fnmatch(3). The list ends with NULL. */
bool name_is_ignored(const char *name, const char *const *patterns);

#endif
