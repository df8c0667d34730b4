#include <openssl/evp.h>
#include <stdio.h>
#include <string.h>

#include "relay/job.h"

bool job_is_word(const char *text)
{
    size_t length = strlen(text);
    return length > 0 && length <= JOB_WORD_MAX &&
           strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-") ==
               length;
}

int digest_text(const void *data, size_t size, char text[DIGEST_TEXT_MAX], struct fault *fault)
{
    unsigned char digest[EVP_MAX_MD_SIZE];
    if (EVP_Digest(data, size, digest, NULL, EVP_sha256(), NULL) != 1)
        return fault_set(fault, FAULT_MEMORY, "no SHA-256 of %zu bytes", size);
    for (int i = 0; i < 32; i++)
        snprintf(text + 2 * i, 3, "%02x", digest[i]);
    return 0;
}
