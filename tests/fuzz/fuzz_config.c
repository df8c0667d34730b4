/* Configurations. A refused one has a reason; all settings of an accepted one can be read. */
#include <string.h>

#include "config/config.h"
#include "fuzz.h"

void fuzz_one(const uint8_t *data, size_t size)
{
    struct config config;
    struct text errors = {0};
    struct fault fault = FAULT_INIT;
    int result = config_read_text(&config, "fuzz.yaml", (const char *)data, size, &errors, &fault);
    if (result == FAULT_CONFIG && (errors.length == 0 || fault.text[0] == '\0'))
        fuzz_fail("a configuration is refused without a reason");
    if (result == 0) {
        config_resolve_chains(&config);
        for (size_t i = 0; i < config.n_chains; i++)
            if (!config_chain(&config, config.chains[i].name))
                fuzz_fail("chain %s is not found again", config.chains[i].name);
    }
    config_finish(&config);
    text_finish(&errors);
}
