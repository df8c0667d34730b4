/* The page's files, as the build has put them into the program (make_page.py). */
#ifndef SLUICE_VIEW_PAGE_H
#define SLUICE_VIEW_PAGE_H

#include <stddef.h>

struct page_file {
    const char *path; /* "/view.css"; NULL: the end of the list */
    const char *type;
    const unsigned char *data;
    size_t size;
};

extern const struct page_file page_files[];

#endif
