/* What a worker starts ends with it, whatever that did to get away: fork twice, begin a session of
 * its own, have the front for its parent (CLONE_PARENT). A process stays behind as the worker's
 * parent and as the one that orphans below it come to (PR_SET_CHILD_SUBREAPER); when the worker has
 * ended, or the front has, it kills all that is left, and then ends the same way as the worker did.
 * That takes no privilege and no namespace, in which drivers that look for themselves below /proc
 * would be lost. */
#ifndef SLUICE_WORKER_KEEPER_H
#define SLUICE_WORKER_KEEPER_H

/* The only argument of a worker that has a keeper. */
#define KEEPER_KEPT "--kept"

/* Has the program started once more, with that argument, and stays behind as its keeper. What comes
 * back is the worker, and has told the front who it is. At the very start of the program. */
void keeper_stay_behind(char **argv, int socket);

#endif
