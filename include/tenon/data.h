/* Loaders: data in batches, in an order that a seed gives, on the device that is to compute.
 *
 *     tn_loader *loader = tn_loader_new((tn_tensor *[]){images, labels}, 2, 50, &(tn_loader_options){.shuffle = true, .device = "gpu:0"});
 *     tn_tensor *batch[2];
 *     for (int epoch = 0; epoch < 10; epoch++)
 *         while (tn_loader_next(loader, batch) > 0)
 *             train(batch[0], batch[1]);
 *     tn_loader_release(loader);
 *
 * A loader holds what it needs by itself: nothing of it belongs to a scope, except the batches it gives. It is for one thread at a
 * time. */
#ifndef TENON_DATA_H
#define TENON_DATA_H

#include <tenon/tensor.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tn_loader tn_loader;

typedef struct tn_loader_options {
    bool shuffle;       /* another order every epoch, which depends on seed, epoch and the number of samples alone */
    uint64_t seed;
    bool drop_last;     /* leaves out the samples at the end of an epoch that fill no batch */
    bool background;    /* a thread prepares the batch that follows while the caller computes */
    const char *device; /* where batches arrive; NULL: the creation scope, else "host" */
} tn_loader_options;

/** Over arrays: sample i is row i of each. They are taken as they are now, and may not be written to in part; one that is not
 *  row-major is copied. options may be NULL. Batches of field k: [batch, ...] of arrays[k] [samples, ...]; the last one of an epoch
 *  may be smaller.
 *  error  ARGUMENT (count or batch below 1), SHAPE (first axes differ; 0-d), DEVICE (an array is not on "host"), CAPABILITY, MEMORY:
 *         NULL */
TN_API tn_loader *tn_loader_new(tn_tensor *const *arrays, int count, int64_t batch, const tn_loader_options *options) TN_MUST_USE;

/** One of the tensors of a sample. */
typedef struct tn_field {
    tn_dtype dtype;
    tn_shape shape; /* of one sample */
} tn_field;

/** Samples that functions make: one of the two, both with user. They write row-major into out[k], the place of field k, and return
 *  TN_OK, or what went wrong: if a call of the library failed, its sentence is told. With background they are called from another
 *  thread, but never from two at once; what they make there is freed on return. */
typedef struct tn_dataset {
    int64_t samples;
    const tn_field *fields;
    int field_count;
    tn_status (*sample)(int64_t index, void *const *out, void *user);
    tn_status (*batch)(const int64_t *indices, int64_t count, void *const *out, void *user); /* count samples, one behind another */
    void *user;
} tn_dataset;
/** Over a dataset, which is copied; only user must stay valid. Otherwise as tn_loader_new. */
TN_API tn_loader *tn_loader_over(const tn_dataset *dataset, int64_t batch, const tn_loader_options *options) TN_MUST_USE;

/** The next batch: out[k] is a new handle on field k. Gives the number of its samples; 0 when the epoch is over, and the call after
 *  that begins the next one; -1 on failure: all of out is NULL then, and the next call tries the same batch again.
 *  error  what the dataset's function gave, MEMORY, DEVICE, LOST */
TN_API int64_t tn_loader_next(tn_loader *loader, tn_tensor **out);

/** Batches of an epoch, and samples in them. */
TN_API int64_t tn_loader_length(const tn_loader *loader);
TN_API int64_t tn_loader_samples(const tn_loader *loader);

/** Where the loader is: epoch, and batches it has given of it. A loader made alike that is set there goes on with the same batches. */
TN_API tn_status tn_loader_tell(const tn_loader *loader, int64_t *epoch, int64_t *batch);
/** error  ARGUMENT (epoch or batch below 0, batch above tn_loader_length) */
TN_API tn_status tn_loader_seek(tn_loader *loader, int64_t epoch, int64_t batch);

/** Waits for the batch that is being prepared. NULL is allowed. */
TN_API void tn_loader_release(tn_loader *loader);

#ifdef __cplusplus
}
#endif
#endif
