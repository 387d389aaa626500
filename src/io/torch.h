/* What PyTorch's pickles make: tensors, which are windows on storages. */
#ifndef TN__TORCH_H
#define TN__TORCH_H

#include "io/pickle.h"

/* Bytes that tensors are windows on. */
typedef struct tn__torch_storage {
    const char *key;
    uint64_t bytes;
    uint64_t size; /* of an element, as the pickle has it */
    uint64_t begin;
    tn__zip_member *member;
    bool found;
} tn__torch_storage;

/* A storage as elements of a dtype, or a part of one. */
typedef struct tn__torch_window {
    tn__torch_storage *of;
    const tn__pickle_global *type;
    uint64_t offset, count; /* elements */
} tn__torch_window;

typedef struct tn__torch_tensor {
    const tn__torch_window *values;
    tn_dtype dtype;
    int64_t offset; /* elements of dtype, from the window's first */
    tn_shape shape, stride;
} tn__torch_tensor;

/* What such a pickle may call; tensors are tn__torch_tensor, storages tn__torch_window. */
extern const tn__pickle_global tn__torch_globals[];
extern const size_t tn__torch_global_count;
/* The storage of a persistent id. p->user is a map of all storages by key, to which it is added. error  FORMAT, MEMORY */
tn_status tn__torch_find_window(tn__pickle *p, const tn__pickle_value *id, tn__pickle_value **result);

#endif
