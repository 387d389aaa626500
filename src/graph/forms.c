#include "graph/forms.h"
#include "base/alloc.h"
#include <string.h>

enum { MOST_AT_ONCE = 64 };

struct tn__form {
    tn__form *next; /* of the value */
    tn__buffer *bytes;
    size_t length;
    char key[];
};

static tn__mutex forms_lock = TN__MUTEX_INIT; /* nothing else is locked under it */

static tn__form *add_form(tn__value *value, const tn__text *key)
{
    tn__form *form = tn__alloc_quiet(sizeof *form + key->length);
    if (!form) return NULL;
    *form = (tn__form){.next = value->derived, .length = key->length};
    memcpy(form->key, key->data, key->length);
    value->derived = form;
    return form;
}

tn__form *tn__form_ask(tn__value *value, const tn__text *key)
{
    if (key->failed || value->node || !value->buffer || value->buffer->wrapped) return NULL;
    tn__lock(&forms_lock);
    tn__form *form = value->derived;
    while (form && (form->length != key->length || memcmp(form->key, key->data, key->length) != 0)) form = form->next;
    if (!form) (void)add_form(value, key);
    tn__unlock(&forms_lock);
    return form;
}

tn__buffer *tn__form_bytes(tn__form *form)
{
    tn__lock(&forms_lock);
    tn__buffer *bytes = tn__buffer_retain(form->bytes);
    tn__unlock(&forms_lock);
    return bytes;
}

void tn__form_keep(tn__form *form, tn__buffer *bytes)
{
    tn__lock(&forms_lock);
    if (!form->bytes) form->bytes = tn__buffer_retain(bytes);
    tn__unlock(&forms_lock);
}

/* Takes bytes out of forms, at most `most`; they are released without the lock. */
static int take_bytes(const tn__value *value, tn__buffer **taken, int most)
{
    int count = 0;
    tn__lock(&forms_lock);
    for (tn__form *form = value->derived; form && count < most; form = form->next) {
        if (!form->bytes) continue;
        taken[count++] = form->bytes;
        form->bytes = NULL;
    }
    tn__unlock(&forms_lock);
    return count;
}

void tn__forms_drop(tn__value *value)
{
    tn__buffer *taken[MOST_AT_ONCE];
    int count;
    while ((count = take_bytes(value, taken, MOST_AT_ONCE)) > 0)
        while (count > 0) tn__buffer_release(taken[--count]);
}

void tn__forms_free(tn__value *value)
{
    for (tn__form *form = value->derived, *next; form; form = next) {
        next = form->next;
        tn__buffer_release(form->bytes);
        tn__free(form);
    }
}

typedef struct search {
    const tn__device *device;
    tn__buffer *taken[MOST_AT_ONCE];
    int count;
} search;

static void take_from(const tn__value *value, void *user)
{
    search *s = user;
    if (value->device == s->device) s->count += take_bytes(value, s->taken + s->count, MOST_AT_ONCE - s->count);
}

bool tn__forms_relieve(tn__device *device)
{
    search s = {.device = device};
    bool any = false;
    do {
        s.count = 0;
        tn__values_each(take_from, &s);
        any = any || s.count > 0;
        for (int i = 0; i < s.count; i++) tn__buffer_release(s.taken[i]);
    } while (s.count == MOST_AT_ONCE);
    return any;
}
