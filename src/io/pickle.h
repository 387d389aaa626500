/* Python's pickles, read by a machine that makes values and runs nothing.
 *
 * A pickle is a program for a stack machine (Python's pickletools describes it). Of its instructions those are known that make None,
 * bools, numbers, texts, tuples, lists and dicts; what it wants to call or look up must be in the caller's table, else the file is
 * refused by an error that names it. Nothing recurses. Protocols 2 to 5, and what protocol 1 has of them. */
#ifndef TN__PICKLE_H
#define TN__PICKLE_H

#include "io/format.h"

typedef struct tn__pickle tn__pickle;
typedef struct tn__pickle_value tn__pickle_value;

typedef enum tn__pickle_kind {
    TN__PICKLE_NONE,
    TN__PICKLE_BOOL,
    TN__PICKLE_INT,
    TN__PICKLE_NUMBER, /* a float, or beyond 64 bits: nobody asks for its value */
    TN__PICKLE_TEXT,   /* or bytes */
    TN__PICKLE_TUPLE,
    TN__PICKLE_LIST,
    TN__PICKLE_DICT,   /* items: key, value, key, value, … */
    TN__PICKLE_GLOBAL, /* a row of the caller's table */
    TN__PICKLE_STORAGE,
    TN__PICKLE_TENSOR, /* objects that the caller made */
    TN__PICKLE_MARK
} tn__pickle_kind;

typedef struct tn__pickle_item {
    tn__pickle_value *value;
    struct tn__pickle_item *next;
} tn__pickle_item;

/* What a pickle may look up, by module and name. */
typedef struct tn__pickle_global {
    const char *module, *name;
    /* Calls it with a tuple; NULL: it may only be named. error  FORMAT, MEMORY */
    tn_status (*call)(tn__pickle *p, const tn__pickle_value *arguments, tn__pickle_value **result);
    tn_dtype dtype; /* the caller's */
} tn__pickle_global;

struct tn__pickle_value {
    tn__pickle_kind kind;
    union {
        int64_t number; /* BOOL, INT */
        struct {
            const char *bytes; /* terminated */
            size_t length;
        } text;
        struct {
            tn__pickle_item *first, *last;
            int64_t count;
        } items;
        const tn__pickle_global *global;
        void *object;
    };
};

/* Of all values. */
typedef struct tn__pickle_memory {
    struct tn__pickle_chunk *chunks;
    size_t used, room; /* of the newest chunk */
    uint64_t total;
} tn__pickle_memory;

struct tn__pickle {
    tn_archive *archive;
    uint64_t at, end; /* of the file: where the next instruction is, and what is not to be read */
    const tn__pickle_global *globals;
    size_t global_count;
    /* Gives the object of a persistent id. error  FORMAT, MEMORY */
    tn_status (*persistent)(tn__pickle *p, const tn__pickle_value *id, tn__pickle_value **result);
    void *user;
    tn__pickle_memory memory;
    struct tn__pickle_state *state;
};

/* Reads one pickle from p->at, which moves behind it. memory: its bytes when they are not the file's at p->at.
 * Values live until tn__pickle_free. error  FORMAT, FILE, MEMORY */
tn_status tn__pickle_read(tn__pickle *p, const unsigned char *memory, tn__pickle_value **result);
void tn__pickle_free(tn__pickle *p);

/* ---- values (pickle_values.c) ---- */

/* Memory that lives as long as the values, zeroed. NULL with an error. */
void *tn__pickle_alloc(tn__pickle *p, size_t bytes);
/* A new value. NULL with an error. */
tn__pickle_value *tn__pickle_new(tn__pickle *p, tn__pickle_kind kind);
tn_status tn__pickle_append(tn__pickle *p, tn__pickle_value *list, tn__pickle_value *item);
/* Item i of a tuple or list; NULL beyond. */
const tn__pickle_value *tn__pickle_item_at(const tn__pickle_value *list, int64_t i);
void tn__pickle_free_values(tn__pickle *p);
/* A FORMAT error with the file's name: "FILE: the pickle …". */
tn_status tn__pickle_fault(const tn__pickle *p, const char *format, ...) TN__PRINTF(2, 3);

#endif
