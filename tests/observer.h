/* What the driver is given, seen from outside by tests/preload/observe_calls.c, behind which a program starts itself again. */
#ifndef OBSERVER_H
#define OBSERVER_H

#include "preload.h"

#include <dlfcn.h>
#include <stdint.h>

static uint64_t (*outside_calls)(const char *name);
static const char *(*outside_sources)(void);
static void (*outside_forget)(void);

/* 0 behind the observer; else starts the program again behind it, or gives an exit status. */
static inline int observe(const char *program)
{
    *(void **)&outside_calls = dlsym(RTLD_DEFAULT, "outside_calls");
    *(void **)&outside_sources = dlsym(RTLD_DEFAULT, "outside_sources");
    *(void **)&outside_forget = dlsym(RTLD_DEFAULT, "outside_forget");
    if (outside_calls && outside_sources && outside_forget) return 0;
    if (getenv("LD_PRELOAD")) return 99; /* it was preloaded, and did not come */
    start_behind(program, "observe_calls.so");
    return 98;
}

#endif
