/* Checkpoints: all that a training goes on from, in one file. */
#ifndef TENON_CHECKPOINT_H
#define TENON_CHECKPOINT_H

#include <tenon/optim.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What a checkpoint holds; what is 0 or NULL is not in it. Loading takes the same list, and fills it. */
typedef struct tn_training_state {
    const char *const *names; /* of the model's tensors */
    tn_tensor *const *tensors;
    int count;
    tn_optimizer *const *optimizers;
    int optimizer_count;
    tn_schedule *const *schedules;
    int schedule_count;
    tn_grad_scaler *scaler;
    int64_t epoch, step;
    const char *const *number_names; /* the user's own */
    double *numbers;
    int number_count;
    bool keep_random; /* leaves out the thread's generator of random numbers */
} tn_training_state;

/** Writes a safetensors file: "model.NAME", "optimizer.0.NAME", "schedule.0.NAME", "scaler.NAME", "number.NAME", "random", "epoch",
 *  "step". It is made beside its place, brought to the disk, and then takes the place of what was there: who is killed meanwhile
 *  leaves the checkpoint before.
 *  error  ARGUMENT (a list that is NULL; a name that is NULL, given twice or not UTF-8), FILE, MEMORY, LOST */
TN_API tn_status tn_save_checkpoint(const char *path, const tn_training_state *state);
/** Sets all that state lists, each tensor where it is and in its dtype; or nothing. What the file has beyond that is let be, but
 *  for tensors of the model and of an optimizer that is listed.
 *  error  FILE, FORMAT (damaged, or no checkpoint), ARGUMENT (lists every name that is missing, unknown, or of another shape), MEMORY */
TN_API tn_status tn_load_checkpoint(const char *path, tn_training_state *state);

#ifdef __cplusplus
}
#endif
#endif
