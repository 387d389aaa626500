/* Other forms of a value's bytes, such as packed weights: made once, kept with the value, counted as memory in use. They go
 * with the value, when something is written into its bytes, and before anything else when memory is short. */
#ifndef TN__FORMS_H
#define TN__FORMS_H

#include "base/text.h"
#include "graph/node.h"

typedef struct tn__form tn__form;

/* The form of value's bytes that the key names, from the second time on that it is asked for: what is used once does not pay
 * for it. NULL before, for a pending value, for the user's memory, and without memory. Lives as long as the value. */
tn__form *tn__form_ask(tn__value *value, const tn__text *key);
/* Its bytes, retained; NULL: still to be made. */
tn__buffer *tn__form_bytes(tn__form *form);
/* The form was made (a kernel that writes the bytes is enqueued): keeps them. */
void tn__form_keep(tn__form *form, tn__buffer *bytes);
/* The value's bytes are about to change: its forms have to be made again. */
void tn__forms_drop(tn__value *value);

/* For tn__value_owner: a dying value's. */
void tn__forms_free(tn__value *value);
/* For tn__set_spare_hook: drops all forms of the device; true when there were any. */
bool tn__forms_relieve(tn__device *device);

#endif
