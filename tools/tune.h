/* The two sides of `tenon tune`: the parent chooses, children try. A driver may crash, hang or compute nonsense with parameters that
 * nobody ran before, so that only children run kernels. */
#ifndef TENON_TUNE_H
#define TENON_TUNE_H

/* In a child. Prints "device<tab>NAME", then for each class of shapes "class<tab>family<tab>shapes<tab>m<tab>n<tab>k" and a line
 * "candidate<tab>parameters" for each candidate. Returns the exit status. */
int tune_child_list(const char *device);
/* In a child, under a tuning file with the parameters to be tried: checks products of about this size, and measures one. Prints
 * "seconds<tab>S", or "refused<tab>why" when the library did not take the parameters, or "wrong<tab>why". */
int tune_child_try(const char *device, const char *m, const char *n, const char *k);

#endif
