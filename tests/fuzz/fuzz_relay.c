/* Messages of a fleet's stream: the first line is the subject, each further one a header, up to an
 * empty line; the rest is the message's body. What is taken has been read whole, and URLs are below
 * what is allowed. */
#include <nats/nats.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "relay/job.h"

static void add_headers(natsMsg *message, struct reader_of_bytes *bytes)
{
    while (bytes->size > 0) {
        size_t length;
        char *line = fuzz_take_text(bytes, '\n', &length), *value = strchr(line, ':');
        if (value)
            *value++ = '\0';
        if (value && line[0])
            natsMsgHeader_Add(message, line, value + (value[0] == ' '));
        free(line);
        if (length == 0)
            return;
    }
}

static void check(const struct job *job, const struct relay_settings *settings)
{
    const char *const allowed[] = {settings->get, settings->put};
    const char *const urls[] = {job->source, job->result};
    for (int i = 0; i < 2; i++) {
        size_t length = urls[i] ? strcspn(urls[i], "\r\n") : 0;
        if (urls[i] && (length != strlen(urls[i]) || strncasecmp(urls[i], allowed[i], 5) != 0))
            fuzz_fail("'%s' is taken as a URL", urls[i]);
    }
    if (!job_is_word(job->id) || !job_is_word(job->class))
        fuzz_fail("a job is called '%s.%s'", job->class, job->id);
}

void fuzz_one(const uint8_t *data, size_t size)
{
    static const struct relay_settings settings = {.get = "https://pictures.example/in/",
                                                   .put = "https://pictures.example/out/"};
    struct reader_of_bytes bytes = {data, size};
    struct fault fault = FAULT_INIT;
    struct job job;
    static bool opened;
    natsMsg *native = NULL;
    size_t length;
    if (!opened && nats_Open(0) != NATS_OK)
        fuzz_fail("libnats does not open");
    opened = true;
    char *subject = fuzz_take_text(&bytes, '\n', &length);
    if (job_read_subject(&job, subject) &&
        natsMsg_Create(&native, subject, NULL, NULL, 0) == NATS_OK) {
        add_headers(native, &bytes);
        struct hub_message message = {
            .subject = subject, .data = bytes.data, .size = bytes.size, .native = native};
        if (job_read(&job, &message, &settings, &fault) == 0)
            check(&job, &settings);
        else if (fault.text[0] == '\0')
            fuzz_fail("a job is refused without a reason");
        natsMsg_Destroy(native);
    }
    free(subject);
}
