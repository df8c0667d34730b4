/* A crew: the supervised workers of one configuration, and the chains that they have to accept. */
#include "daemon/front/front.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/sealed.h"
#include "base/text.h"
#include "param/options.h"

/* ---- messages about a wrong chain, with the place where it is written ---- */

/* Of a folder's result; those of other texts have one. */
static struct place place_of(const struct config *config, size_t index, const char *subject,
                             size_t result)
{
    const struct settings *settings = &config->settings;
    if (index >= settings->n_watches + config->n_chains)
        return (struct place){0};
    if (index >= settings->n_watches)
        return config->chains[index - settings->n_watches].place;
    const struct watch_settings *watch = &settings->watches[index];
    if (strcmp(subject, "format") == 0)
        return watch_format_at(watch, result);
    return strcmp(subject, "read") == 0 ? watch->reading_at : watch_chain_at(watch, result);
}

void crew_complain(const struct crew *crew, const struct worker_check *check, const char *subject,
                   const struct fault *found)
{
    const struct config *config = &crew->book->config;
    struct text what = {0}, caret = {0};
    struct place place = {0};
    struct fault own = *found, *fault = &own;
    char *source = NULL; /* the text that is wrong: of several results that of one */
    size_t result = 0, length;
    if (check && subject[0]) {
        const char *all = strcmp(subject, "chain") == 0    ? check->chain
                          : strcmp(subject, "format") == 0 ? check->format
                                                           : check->reading;
        const char *part = text_find_part(all ? all : "", 0, &length);
        while (part && fault->position > (int)(part - all + (ptrdiff_t)length))
            part = text_find_part(all, ++result, &length);
        if (part && fault->position >= 0)
            fault->position -= (int)(part - all);
        source = part ? strndup(part, length) : NULL;
    }
    if (check)
        place = place_of(config, (size_t)(check - crew->supervisor.checks), subject, result);
    if (config->settings.file && place.line > 0) /* it is a text of the configuration file */
        text_printf(&what, "%s:%zu:%zu: ", config->settings.file, place.line, place.column);
    text_printf(&what, "%s", subject);
    fault_print_caret(fault, source ? source : "", &caret);
    options_complain("sluiced", what.length > 0 ? text_string(&what) : NULL, fault);
    fputs(text_string(&caret), stderr);
    text_finish(&caret);
    text_finish(&what);
    free(source);
}

/* ---- life ---- */

/* The check where no chain is configured, since clients bring their own: a device that cannot be
 * used is then noticed at the start, not by the first client. */
#define ANY_CHAIN "invert"

/* The crew's check that asks the same of a worker; NULL: none does. */
static const struct worker_check *find_check(const struct crew *crew, const char *chain,
                                             const char *format, const char *reading)
{
    const struct supervisor *s = &crew->supervisor;
    for (const struct worker_check *check = s->checks; check < s->checks + s->n_checks; check++)
        if (texts_equal(check->chain, chain) && texts_equal(check->format, format) &&
            texts_equal(check->reading, reading))
            return check;
    return NULL;
}

/* Adds a check, unless there is one that asks the same. */
static void add_check(struct crew *crew, const char *chain, const char *format, const char *reading)
{
    struct supervisor *s = &crew->supervisor;
    if (!find_check(crew, chain, format, reading))
        s->checks[s->n_checks++] =
            (struct worker_check){.chain = chain, .format = format, .reading = reading};
}

/* Every chain of the file is checked, even if no folder uses it. */
static void fill_checks(struct crew *crew)
{
    const struct config *config = &crew->book->config;
    for (size_t i = 0; i < config->settings.n_watches; i++) {
        const struct watch_settings *watch = &config->settings.watches[i];
        add_check(crew, watch->chain, watch->format, watch->reading);
    }
    for (size_t i = 0; i < config->n_chains; i++) /* any result can be written as npz */
        add_check(crew, config->chains[i].text, "npz", NULL);
    if (crew->supervisor.n_checks == 0)
        add_check(crew, ANY_CHAIN, "npz", NULL);
}

/* Fills a file with what workers have to know. */
static int write_given(struct crew *crew, struct fault *fault)
{
    struct text *given = &crew->given;
    int *fd = &crew->supervisor.config_fd;
    config_print_worker(&crew->book->config, given);
    *fd = given->failed ? -1 : sealed_create("sluice-config");
    const struct definition_file *pictures = crew->book->config.definitions.file;
    if (pictures) {
        crew->supervisor.pictures_fd = pictures->fd;
        sealed_finish(pictures->fd); /* an earlier crew may have done so */
    }
    if (*fd >= 0 && file_write(*fd, given->data, given->length, fault) == 0 &&
        sealed_finish(*fd) == 0)
        return 0;
    return fault_set_errno(fault, FAULT_MEMORY, "a copy of the configuration");
}

static void destroy(struct crew *crew)
{
    rulebook_leave(&crew->book);
    text_finish(&crew->given);
    file_close(&crew->supervisor.config_fd);
    free(crew->supervisor.checks);
    free(crew);
}

int crew_create(struct crew **crew, struct front *front, struct rulebook *book, struct fault *fault)
{
    struct crew *c = calloc(1, sizeof *c);
    *crew = NULL;
    if (!c)
        return fault_set(fault, FAULT_MEMORY, "no memory for a worker");
    size_t configured = book->config.settings.n_watches + book->config.n_chains;
    struct supervisor *s = &c->supervisor;
    *c = (struct crew){.front = front, .book = rulebook_use(book)};
    *s = (struct supervisor){.loop = &front->loop,
                             .settings = &book->config.settings,
                             .config_fd = -1,
                             .pictures_fd = -1,
                             .queue = &front->queue,
                             .metrics = front->metrics};
    s->checks = calloc(configured + 1, sizeof *s->checks);
    int result = s->checks ? write_given(c, fault)
                           : fault_set(fault, FAULT_MEMORY, "no memory for a worker");
    if (result == 0) {
        fill_checks(c);
        result = supervisor_init(s, fault);
    }
    if (result != 0) {
        destroy(c);
        return result;
    }
    LIST_INSERT_HEAD(&front->crews, c, in_list);
    *crew = c;
    return 0;
}

static void on_closed(uv_handle_t *timer)
{
    struct supervisor *supervisor = timer->data;
    destroy((struct crew *)((char *)supervisor - offsetof(struct crew, supervisor)));
}

void crew_close(struct crew **crew)
{
    struct crew *c = *crew;
    *crew = NULL;
    if (!c)
        return;
    LIST_REMOVE(c, in_list);
    supervisor_close(&c->supervisor, on_closed);
}

const char *crew_extension(const struct crew *crew, const struct watch_settings *watch)
{
    const struct worker_check *check =
        find_check(crew, watch->chain, watch->format, watch->reading);
    return check ? check->extension : "out";
}

bool crew_serves(const struct crew *crew, const struct rulebook *book)
{
    const struct config *old = &crew->book->config, *now = &book->config;
    struct text given = {0};
    config_print_worker(now, &given);
    bool equal = !given.failed && given.length == crew->given.length &&
                 memcmp(given.data, crew->given.data, given.length) == 0 &&
                 old->n_chains == now->n_chains;
    text_finish(&given);
    for (size_t i = 0; i < now->n_chains && equal; i++)
        equal = strcmp(old->chains[i].text, now->chains[i].text) == 0;
    for (size_t i = 0; i < now->settings.n_watches && equal; i++) {
        const struct watch_settings *watch = &now->settings.watches[i];
        equal = find_check(crew, watch->chain, watch->format, watch->reading) != NULL;
    }
    return equal;
}
