#include "child.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

enum { ARGUMENTS_MAX = 8, OUTPUT_MAX = 1 << 20, CHUNK = 4096 };

double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* All that comes through the pipe until its end; false when the time is over first. */
static bool collect(int from, double until, char **output)
{
    size_t length = 0;
    *output = calloc(1, OUTPUT_MAX + 1);
    if (!*output) return false;
    while (length < OUTPUT_MAX) {
        struct pollfd wait = {.fd = from, .events = POLLIN};
        const double left = until - now();
        if (left <= 0) return false;
        const int ready = poll(&wait, 1, (int)(left * 1000) + 1);
        if (ready < 0 && errno == EINTR) continue;
        if (ready <= 0) return false;
        const size_t room = OUTPUT_MAX - length;
        const ssize_t got = read(from, *output + length, room < CHUNK ? room : CHUNK);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return true;
        length += (size_t)got;
    }
    return true;
}

static pid_t start(const char *const *arguments, int output)
{
    char *argv[ARGUMENTS_MAX + 2] = {(char *)"tenon"};
    posix_spawn_file_actions_t actions;
    pid_t child = -1;
    for (int i = 0; i < ARGUMENTS_MAX && arguments[i]; i++) argv[i + 1] = (char *)arguments[i];
    if (posix_spawn_file_actions_init(&actions) != 0) return -1;
    if (posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO) != 0 ||
        posix_spawn(&child, "/proc/self/exe", &actions, NULL, argv, environ) != 0)
        child = -1;
    posix_spawn_file_actions_destroy(&actions);
    return child;
}

void child_run(const char *const *arguments, int seconds, child_result *result)
{
    int ends[2], status = 0;
    *result = (child_result){0};
    if (pipe(ends) != 0) {
        snprintf(result->reason, sizeof result->reason, "no process could be started: %s", strerror(errno));
        return;
    }
    const pid_t child = start(arguments, ends[1]);
    close(ends[1]);
    if (child > 0) {
        const bool in_time = collect(ends[0], now() + seconds, &result->output);
        if (!in_time) kill(child, SIGKILL);
        while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
        if (!in_time)
            snprintf(result->reason, sizeof result->reason, "its driver does not answer within %d seconds", seconds);
        else if (WIFSIGNALED(status))
            snprintf(result->reason, sizeof result->reason, "its driver crashed the process that tried it (signal %d, %s)",
                     WTERMSIG(status), strsignal(WTERMSIG(status)));
        else if (WEXITSTATUS(status) != 0)
            snprintf(result->reason, sizeof result->reason, "the process that tried it ended with status %d",
                     WEXITSTATUS(status));
        else
            result->finished = true;
    } else {
        snprintf(result->reason, sizeof result->reason, "no process could be started");
    }
    close(ends[0]);
}
