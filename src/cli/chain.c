/* The functions of common.h that need the stages; sluice-enqueue is linked without them. */
#include "chain/chain.h"

#include <stdio.h>

#include "cli/common.h"

int cli_parse_chain(struct chain *chain, const char *text, const struct definitions *definitions)
{
    struct faults faults = {0};
    int result = chain_parse_all(chain, text, definitions, &faults);
    for (size_t i = 0; i < faults_count(&faults); i++)
        cli_complain_chain(text, &faults.list[i]);
    return fault_exit_status(result);
}

int cli_complain_chain(const char *chain_text, const struct fault *fault)
{
    struct text caret = {0};
    fault_print_caret(fault, chain_text, &caret);
    int status = cli_complain(fault->code == FAULT_CHAIN ? "chain" : NULL, fault);
    fputs(text_string(&caret), stderr);
    text_finish(&caret);
    return status;
}
