/* Preloaded into a worker, puts kernels that do nothing in the place of those of the table of
 * native kernels whose name begins with what SLUICE_WRONG_KERNEL says: a compiler that was wrong,
 * or a processor that is. The table has no symbol that a library could see, so it is looked for in
 * the program's own list, which only a program that is not stripped has. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "device/native/kernels.h"

static void do_nothing(void)
{
}

static int take_program(struct dl_phdr_info *info, size_t size, void *base)
{
    *(ElfW(Addr) *)base = info->dlpi_addr;
    return 1; /* the first one is the program */
}

static void *find(const char *file, ElfW(Addr) base, const char *name)
{
    const ElfW(Ehdr) *head = (const void *)file;
    const ElfW(Shdr) *sections = (const void *)(file + head->e_shoff);
    for (int i = 0; i < head->e_shnum; i++) {
        const ElfW(Sym) *symbols = (const void *)(file + sections[i].sh_offset);
        const char *names = file + sections[sections[i].sh_link].sh_offset;
        if (sections[i].sh_type != SHT_SYMTAB)
            continue;
        for (size_t k = 0; k < sections[i].sh_size / sizeof *symbols; k++)
            if (strcmp(names + symbols[k].st_name, name) == 0)
                return (void *)(base + symbols[k].st_value);
    }
    fprintf(stderr, "native_wrong: the worker has no symbol %s\n", name);
    abort();
}

__attribute__((constructor)) static void spoil(void)
{
    const char *wanted = getenv("SLUICE_WRONG_KERNEL");
    struct stat status;
    ElfW(Addr) base = 0;
    if (!wanted || strcmp(program_invocation_short_name, "sluice-worker") != 0)
        return;
    int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &status) != 0)
        abort();
    const char *file = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (file == MAP_FAILED)
        abort();
    dl_iterate_phdr(take_program, &base);
    struct native_entry *entries = find(file, base, "native_entries");
    size_t count = *(const size_t *)find(file, base, "native_n_entries"), spoiled = 0;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *from = (char *)((uintptr_t)entries / page * page);
    if (mprotect(from, (size_t)((char *)(entries + count) - from), PROT_READ | PROT_WRITE) != 0)
        abort();
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < NATIVE_LEVELS_MAX; k++)
            if (strncmp(entries[i].name, wanted, strlen(wanted)) == 0 && entries[i].at[k]) {
                entries[i].at[k] = do_nothing;
                spoiled++;
            }
    if (spoiled == 0)
        abort();
    munmap((void *)(uintptr_t)file, (size_t)status.st_size);
    close(fd);
}
