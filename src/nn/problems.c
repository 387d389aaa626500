#include "nn/problems.h"
#include <stdio.h>

void tn__problem(tn__problems *problems, const char *format, ...)
{
    char part[200];
    va_list list;
    va_start(list, format);
    (void)vsnprintf(part, sizeof part, format, list);
    va_end(list);
    problems->count++;
    tn__text_add(&problems->text, "%s%s", problems->text.length ? "; " : "", part);
}

tn_status tn__problems_end(tn__problems *problems, const char *function, tn_status status)
{
    if (status == TN_OK && problems->text.failed)
        status = TN_MEMORY;
    else if (status == TN_OK && problems->count > 0)
        status = tn__fail(TN_ARGUMENT, "%s: %d things do not fit: %s", function, problems->count, problems->text.data);
    tn__text_free(&problems->text);
    return status;
}
