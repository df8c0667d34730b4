/* Entries of the kernel cache. The key and the binary of an accepted entry lie in the file, and
 * with the header they are all of it. */
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "device/device_internal.h"
#include "fuzz.h"

void fuzz_one(const uint8_t *data, size_t size)
{
    struct bytes file = {malloc(size ? size : 1), size}, key, binary;
    if (!file.data)
        abort();
    memcpy(file.data, data, size);
    if (device_entry_read(&file, &key, &binary) == ENTRY_WHOLE) {
        uint8_t sum = 0;
        for (size_t i = 0; i < key.size; i++)
            sum ^= key.data[i];
        for (size_t i = 0; i < binary.size; i++)
            sum ^= binary.data[i];
        if (key.data < file.data || binary.data + binary.size != file.data + file.size ||
            key.data + key.size != binary.data)
            fuzz_fail("key and binary are not the file's (%u)", sum);
    }
    free(file.data);
}
