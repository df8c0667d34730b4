#include "daemon/spool/record.h"

#include <fcntl.h>
#include <jansson.h>
#include <string.h>

#include "base/disk.h"
#include "base/log.h"
#include "base/name.h"
#include "daemon/spool/draft.h"

bool record_fill(struct record *record, struct claim *claim, const char *reason)
{
    const struct spool *spool = claim->spool;
    const struct note *note = &claim->note;
    bool done = note->verdict == NOTE_DONE;
    record->result[0] = '\0';
    if (done && note->n_results > 0)
        draft_final_name(claim, 0, record->result);
    if (!claim_identify(claim))
        return false;
    record->entry = (struct ledger_entry){
        .folder = spool->folder,
        .name = claim->name,
        .identity = claim->identity,
        .state = done ? "done" : "failed",
        .attempts = note->attempts,
        .reason = reason,
        .result = record->result[0] ? record->result : NULL,
        .remembered = done ? spool_remembers(spool) : spool->in_place,
    };
    return true;
}

/* The note holds the whole NAME.error.json; the ledger stores its message only. */
int record_write(struct claim *claim, struct fault *fault)
{
    struct record record;
    struct fault why = FAULT_INIT;
    const char *reason = claim->note.reason;
    json_t *told = reason ? json_loads(reason, 0, NULL) : NULL;
    const char *message = json_string_value(json_object_get(told, "message"));
    bool filled = record_fill(&record, claim, message ? message : reason);
    bool needed = filled && record.entry.remembered;
    int result =
        filled ? ledger_write(claim->spool->world->ledger, &record.entry, 1, needed, &why) : 0;
    json_decref(told);
    if (result == 0)
        return 0;
    if (needed)
        return fault_set(fault, why.code, "%s", why.text);
    log_warning("%s: %s", claim->name, why.text);
    return 0;
}

bool record_rebuild(const struct spool *spool, const char *name, const struct identity *identity,
                    const char *extension)
{
    const struct watch_settings *rules = spool->rules;
    struct name_parts parts = {.original = path_name(name),
                               .chain = rules->chain_name ? rules->chain_name : rules->chain,
                               .extension = extension,
                               .day = ""};
    struct disk_place place;
    struct stat status;
    name_buffer result;
    if (strstr(rules->name, "{date}"))
        return false; /* the day is not known */
    name_expand(result, rules->name, &parts);
    if (disk_place(&place, spool->out_fd, name, 0) != 0)
        return false;
    int found = fstatat(place.fd, result, &status, AT_SYMLINK_NOFOLLOW);
    disk_place_leave(&place);
    if (found != 0 || !S_ISREG(status.st_mode) || identity_of(&status).mtime < identity->mtime)
        return false;
    struct ledger_entry entry = {.folder = spool->folder,
                                 .name = name,
                                 .identity = *identity,
                                 .state = "done",
                                 .result = result,
                                 .remembered = true};
    return ledger_write(spool->world->ledger, &entry, 1, false, NULL) == 0;
}
