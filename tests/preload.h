/* A program of tests that starts itself again behind a library of tests/preload. */
#ifndef PRELOAD_H
#define PRELOAD_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Starts the program again behind a library of tests/preload, by its bare name: a path may hold spaces, where the loader cuts the list.
 * Returns only when that fails. */
static inline void start_behind(const char *program, const char *preload)
{
    const char *const more = getenv("LD_LIBRARY_PATH");
    char path[4096];
    snprintf(path, sizeof path, "%s%s%s", TN_TEST_BUILD_DIR "/tests/preload", more ? ":" : "", more ? more : "");
    setenv("LD_LIBRARY_PATH", path, 1);
    setenv("LD_PRELOAD", preload, 1);
    execl("/proc/self/exe", program, (char *)NULL);
    perror(program);
}

#endif
