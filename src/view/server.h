/* HTTP for the page: on the loopback, for those who know the token, from the page itself.
 *
 * The page's own files are for anybody, since they say nothing. Everything else needs the token, in
 * the header Sluice-Token, which another site's page could only send after a question that is
 * refused. `Host` has to be a name of the loopback, so that no name of a stranger's leads here, and
 * `Origin`, where it is sent, the same. Each request has a thread; at most so many connections are
 * open, of which those that have not shown the token are cut after some seconds, sooner where there
 * are many. */
#ifndef SLUICE_VIEW_SERVER_H
#define SLUICE_VIEW_SERVER_H

#include "view/view.h"

#define SERVER_TOKEN_SIZE 33 /* 128 bits in hexadecimal, and the NUL */

struct server;

/* Listens on 127.0.0.1; port 0: one that is free. */
int server_open(struct server **server, struct viewer *view, uint16_t port, struct fault *fault);

/* Ends all streams and waits for requests that are being answered. Takes NULL; clears the pointer.
 */
void server_close(struct server **server);

uint16_t server_port(const struct server *server);
const char *server_token(const struct server *server);

/* To be called a few times a second: cuts connections that took too long to show the token. */
void server_tick(struct server *server);

/* The number of pages that are open, and whether there ever was one. */
unsigned server_pages(struct server *server, bool *ever);

#endif
