/* Questions of a client of the jobs socket about files. */
#include "daemon/serve/jobs_socket_internal.h"

#include <stdlib.h>

#include "daemon/serve/ask.h"

struct jobs_question {
    struct jobs_client *client;
    struct jobs_socket *server;
    int64_t id;
    enum ask_kind kind;
    struct inquiry *inquiry;
    LIST_ENTRY(jobs_question) in_list;
};

static void destroy(struct jobs_question *question)
{
    struct jobs_socket *server = question->server;
    LIST_REMOVE(question, in_list);
    question->client->n_requests--;
    server->n_requests--;
    free(question);
    jobs_want_sweep(server);
    jobs_release(server);
}

static void on_ended(void *user, json_t *answer, const struct fault *fault)
{
    struct jobs_question *question = user;
    const char *word = question->kind == ASK_WHY ? "why" : "requeue";
    if (answer)
        client_send(question->client,
                    json_pack("{s:s, s:I, s:s, s:o}", "type", word, "id", (json_int_t)question->id,
                              "result", "ok", word, answer),
                    -1, 0);
    else
        client_say_fault(question->client, question->id, fault, NULL);
    destroy(question);
}

void client_ask(struct jobs_client *client, const struct ask *ask)
{
    struct fault fault = FAULT_INIT;
    struct jobs_question *question = NULL;
    if (client->n_requests >= CLIENT_JOBS_MAX)
        fault_set(&fault, FAULT_BUSY, "%d requests of this client are under way", CLIENT_JOBS_MAX);
    else if ((question = calloc(1, sizeof *question)) == NULL)
        fault_set(&fault, FAULT_MEMORY, "no memory for a question");
    if (!question) {
        client_say_fault(client, ask->id, &fault, NULL);
        return;
    }
    *question = (struct jobs_question){
        .client = client, .server = client->server, .id = ask->id, .kind = ask->kind};
    struct inquiry_ask what = {.kind = ask->kind == ASK_WHY ? INQUIRY_WHY
                                       : ask->failed        ? INQUIRY_REQUEUE_FAILED
                                                            : INQUIRY_REQUEUE,
                               .file = ask->file,
                               .ended = on_ended,
                               .user = question};
    LIST_INSERT_HEAD(&client->questions, question, in_list);
    client->n_requests++;
    client->server->n_requests++;
    client->server->n_users++;
    if (inquiry_start(&question->inquiry, &client->server->service->inquiries, &what, &fault) == 0)
        return;
    client_say_fault(client, ask->id, &fault, NULL);
    destroy(question);
}

void client_forget_questions(struct jobs_client *client)
{
    struct jobs_question *question;
    while ((question = LIST_FIRST(&client->questions)) != NULL) {
        inquiry_cancel(&question->inquiry);
        destroy(question);
    }
}
