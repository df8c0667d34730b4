/* The functions of the hub that sluice enqueue uses, for builds without libnats: no server can be
 * reached. */
#include "relay/hub.h"

int hub_open(struct hub **hub, const struct relay_settings *settings, const char *name,
             uint64_t patience, bool (*stopped)(void *context), void *context, struct fault *fault)
{
    (void)settings, (void)name, (void)patience, (void)stopped, (void)context;
    *hub = NULL;
    return fault_set(fault, FAULT_NO_DEVICE, "this sluice is built without NATS (-Drelay=enabled)");
}

void hub_close(struct hub **hub)
{
    *hub = NULL;
}

bool hub_is_denied(const struct hub *hub)
{
    return false;
}

int hub_mend(struct hub *hub, struct fault *fault)
{
    (void)hub, (void)fault;
    return 0;
}

uint64_t hub_payload_max(struct hub *hub)
{
    return 0;
}

enum hub_answer hub_look_at_stream(struct hub *hub, struct fault *fault)
{
    (void)hub, (void)fault;
    return HUB_UNCLEAR;
}

void hub_message_finish(struct hub_message *message)
{
    *message = (struct hub_message){0};
}

const char *hub_header(const struct hub_message *message, const char *name)
{
    (void)message, (void)name;
    return NULL;
}

enum hub_answer hub_publish(struct hub *hub, const char *subject, const struct hub_header *headers,
                            const void *data, size_t size, bool first, struct fault *fault)
{
    (void)hub, (void)subject, (void)headers, (void)data, (void)size, (void)first, (void)fault;
    return HUB_UNCLEAR;
}

enum hub_answer hub_result(struct hub *hub, const char *id, struct hub_message *message,
                           struct fault *fault)
{
    (void)hub, (void)id, (void)fault;
    *message = (struct hub_message){0};
    return HUB_UNCLEAR;
}

bool job_is_word(const char *text)
{
    return text[0] != '\0';
}

int digest_text(const void *data, size_t size, char text[DIGEST_TEXT_MAX], struct fault *fault)
{
    (void)data, (void)size;
    text[0] = '\0';
    return fault_set(fault, FAULT_NO_DEVICE, "this sluice is built without NATS");
}
