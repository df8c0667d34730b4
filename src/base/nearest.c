#include "base/nearest.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* Edit distance in which swapping two neighbours counts one (optimal string alignment). */
static unsigned edit_distance(const char *a, size_t n, const char *b, size_t m)
{
    unsigned rows[3][NEAREST_WORD_MAX + 2];
    unsigned *before = rows[0], *above = rows[1], *row = rows[2];
    for (size_t j = 0; j <= m; j++)
        above[j] = (unsigned)j;
    for (size_t i = 1; i <= n; i++) {
        row[0] = (unsigned)i;
        for (size_t j = 1; j <= m; j++) {
            unsigned other = above[j] < row[j - 1] ? above[j] + 1 : row[j - 1] + 1;
            row[j] = above[j - 1] + (a[i - 1] != b[j - 1]);
            if (other < row[j])
                row[j] = other;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
                before[j - 2] + 1 < row[j])
                row[j] = before[j - 2] + 1;
        }
        unsigned *oldest = before;
        before = above;
        above = row;
        row = oldest;
    }
    return above[m];
}

void nearest_offer(struct nearest *nearest, const char *word, size_t length, const char *candidate)
{
    size_t candidate_length = strlen(candidate);
    if (length == 0 || length > NEAREST_WORD_MAX || candidate_length > NEAREST_WORD_MAX)
        return;
    unsigned distance = edit_distance(word, length, candidate, candidate_length);
    size_t longer = length > candidate_length ? length : candidate_length;
    if (distance > (longer + 2) / 3 || distance >= longer)
        return;
    if (!nearest->best || distance < nearest->distance) {
        nearest->best = candidate;
        nearest->distance = distance;
    }
}

const char *nearest_ask(struct nearest *nearest, const char *mark)
{
    if (nearest->best)
        snprintf(nearest->question, sizeof nearest->question, "; did you mean '%s%s'?", mark,
                 nearest->best);
    return nearest->question;
}

bool nearest_lists(const char *words, const char *word, size_t length)
{
    for (const char *at = words; at && *at; at += strspn(at, " ")) {
        size_t i = 0;
        for (; i < length; i++) {
            if (word[i] == '-' || word[i] == '_')
                continue;
            if (*at == ' ' || *at != tolower((unsigned char)word[i]))
                break;
            at++;
        }
        if (i == length && i > 0 && (*at == ' ' || *at == '\0'))
            return true;
        at += strcspn(at, " ");
    }
    return false;
}
