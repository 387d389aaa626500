/* The thread's last error, and the scopes' record of their first one. */
#ifndef TN__ERROR_H
#define TN__ERROR_H

#include <stdarg.h>
#include <tenon/base.h>

#if defined(__GNUC__)
#define TN__PRINTF(f, a) __attribute__((format(printf, f, a)))
#else
#define TN__PRINTF(f, a)
#endif

enum { TN__SENTENCE_MAX = 2048 };

/* Makes this the thread's last error and returns code. One sentence, without a full stop or newline. */
tn_status tn__fail(tn_status code, const char *format, ...) TN__PRINTF(2, 3);
/* The same for functions that return a handle: sets the error and gives NULL. */
#define TN__NULL(...) ((void)tn__fail(__VA_ARGS__), NULL)
/* A NULL argument: keeps the pending error, or makes a fresh ARGUMENT error naming function and argument. Returns its code. */
tn_status tn__fail_null(const char *function, const char *argument);
/* Passes an inner failure on from functions that return tn_status. */
#define TN__TRY(expression)                          \
    do {                                             \
        const tn_status tn__s = (expression);        \
        if (tn__s != TN_OK) return tn__s;            \
    } while (0)

/* Adds "name: " in front of the last error's sentence. */
void tn__error_prefix(const char *name);

/* Called for every fresh failure of the thread, and again when words were put in front of it; core's scopes register here. */
typedef void (*tn__error_hook)(tn_status code, const char *sentence);
void tn__set_error_hook(tn__error_hook hook);
/* Makes an error the last one without calling the hook (a scope's pop). */
void tn__restore_error(tn_status code, const char *sentence);

/* Between the two, failures are attempts with a way out: they reach neither the hook nor, afterwards, the last error. Nests. */
void tn__error_attempt(void);
void tn__error_attempt_end(void);

/* Log lines; level as in tn_log_fn. Cheap when nobody listens. */
void tn__log(int level, const char *format, ...) TN__PRINTF(2, 3);
bool tn__log_wanted(int level);
/* Closes the log's file (tn_shutdown); the next line opens it again. */
void tn__log_close(void);

#endif
