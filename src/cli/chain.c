/* The functions of common.h that need the stages; sluice-enqueue is linked without them. */
#include "chain/chain.h"

#include <stdio.h>

#include "cli/common.h"
#include "codec/pictures.h"

const struct options_row cli_define_options[] = {
    OPTION_LIST(DEFINITION_PICTURES_MAX, "NAME=FILE", TEXT, "define",
                offsetof(struct common_options, define),
                "a picture for stages that take a second one, as @NAME; also several times"),
    {0},
};

int cli_read_pictures(const struct common_options *options, struct config *config)
{
    struct fault fault = FAULT_INIT;
    struct text errors = {0};
    const struct codec_limits limits = {options->max_pixels ? options->max_pixels : UINT64_MAX,
                                        options->memory ? options->memory / 2 : UINT64_MAX};
    for (size_t i = 0; i < DEFINITION_PICTURES_MAX && options->define[i]; i++)
        if (config_define_picture(config, options->define[i], &fault) != 0)
            return cli_complain("--define", &fault);
    int result = codec_read_pictures(&config->definitions, &limits, &errors);
    if (result != 0)
        cli_complain_lines(text_string(&errors));
    text_finish(&errors);
    return result ? fault_exit_status(result) : 0;
}

int cli_read_definitions(const struct common_options *options, struct config *config,
                         const char **chain)
{
    int status = cli_read_config(options, config, chain);
    if (status == 0)
        status = cli_read_pictures(options, config);
    if (status != 0)
        config_finish(config);
    return status;
}

int cli_parse_chain(struct chain *chain, const char *text, const struct definitions *definitions)
{
    struct faults faults = {0};
    int result = chain_parse_all(chain, text, definitions, &faults);
    for (size_t i = 0; i < faults_count(&faults); i++)
        cli_complain_chain(text, &faults.list[i]);
    return fault_exit_status(result);
}

int cli_parse_chains(struct chain *tree, const char *const *texts, size_t count,
                     const struct definitions *definitions)
{
    struct chain chains[CHAIN_RESULTS_MAX] = {0};
    struct fault fault = FAULT_INIT;
    int status = 0;
    *tree = (struct chain){0};
    for (size_t i = 0; i < count; i++) {
        int failed = cli_parse_chain(&chains[i], texts[i], definitions);
        status = status ? status : failed;
    }
    if (status == 0 && chain_join(tree, chains, count, &fault) != 0)
        status = cli_complain(NULL, &fault);
    for (size_t i = 0; i < count; i++)
        chain_finish(&chains[i]);
    return status;
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
