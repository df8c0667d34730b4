/* The keeper: a process that ends everything the worker has started when the worker ends, whatever
 * those processes did to escape: fork twice, begin a session, or make the front their parent
 * (CLONE_PARENT). It is the worker's parent, and adopts orphans below it (PR_SET_CHILD_SUBREAPER).
 * When the worker or the front has ended, it kills all that is left, and then ends in the same way
 * as the worker did. This needs neither privileges nor a namespace; in a namespace, drivers that
 * look for themselves in /proc would fail. */
#ifndef SLUICE_WORKER_KEEPER_H
#define SLUICE_WORKER_KEEPER_H

/* Forks, and stays behind as the keeper. This returns in the worker only, which has told the front
 * about its keeper. To be called at the very start of the program, before there are threads. */
void keeper_stay_behind(int socket);

#endif
