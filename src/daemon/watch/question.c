#include "daemon/watch/question.h"

#include <stdlib.h>
#include <string.h>

void folder_files_offer(struct folder_files *l, struct folder_file file)
{
    if (strcmp(file.name, l->after) <= 0 ||
        (l->count == l->limit && strcmp(file.name, l->files[l->count - 1].name) >= 0))
        return;
    size_t low = 0, high = l->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (strcmp(l->files[middle].name, file.name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    if ((file.name = strdup(file.name)) == NULL)
        return;
    if (l->count == l->limit)
        free(l->files[--l->count].name);
    memmove(&l->files[low + 1], &l->files[low], (l->count - low) * sizeof *l->files);
    l->files[low] = file;
    l->count++;
}

void folder_files_finish(struct folder_files *l)
{
    for (size_t i = 0; i < l->count; i++)
        free(l->files[i].name);
    free(l->files);
    *l = (struct folder_files){0};
}
