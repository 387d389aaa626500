/* A program outside the tree, built against an installed Tenon: adds [1] and [2] on the device it is given. */
#include <stdio.h>
#include <tenon/tenon.h>

int main(int count, char **words)
{
    const char *device = count > 1 ? words[1] : "host";
    const float one[] = {1}, two[] = {2};
    float sum[] = {0};
    tn_scope top = tn_scope_push();
    tn_tensor *a = tn_to(tn_from(TN_F32, TN_SHAPE(1), one, "host"), device);
    tn_tensor *b = tn_to(tn_from(TN_F32, TN_SHAPE(1), two, "host"), device);
    tn_status read = tn_read(tn_add(a, b), sum, sizeof sum);
    if (tn_scope_pop(top) != TN_OK || read != TN_OK) {
        fprintf(stderr, "%s\n", tn_last_error());
        return 1;
    }
    printf("%g on %s\n", (double)sum[0], device);
    return sum[0] == 3 ? 0 : 1;
}
