/* Schedules and scalers as the checkpoints see them. */
#ifndef TN__TRAINING_H
#define TN__TRAINING_H

#include <tenon/optim.h>

/* OK when the schedule, or a scaler, can go on from there. */
tn_status tn__schedule_check(const tn_schedule *schedule, const tn_schedule_state *state);
tn_status tn__grad_scaler_check(const tn_grad_scaler_state *state);

#endif
