/* What `sluice plan --json` prints, for others that show plans. */
#ifndef SLUICE_CLI_PLAN_H
#define SLUICE_CLI_PLAN_H

#include "chain/board.h"
#include "chain/chain.h"
#include <jansson.h>

/* Plans the chain for a picture of that shape, as its stages leave it. `board` NULL: without what
 * bounds each kernel there. The caller releases *json. */
int cli_plan_json(const struct chain *chain, const struct plane *plane,
                  const struct device_profile *profile, const struct board *board, bool no_fuse,
                  json_t **json, struct fault *fault);

#endif
