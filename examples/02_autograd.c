/* Automatic differentiation: gradients of whatever is computed, step by step.
 *
 * Each step is one function, and its numbers are compared with what they must be: the exit code is 0 when all are right. Who knows
 * PyTorch finds its call at the right. */
#include <tenon/tenon.h>

#include <math.h>
#include <stdio.h>

static int right, shown;

static void step(const char *title)
{
    printf("\n-- %s\n", title);
}

static void show(const char *what, double value, double expected)
{
    printf("%s = %.6g\n", what, value);
    shown++;
    right += fabs(value - expected) <= 1e-4 * (1 + fabs(expected));
}

/* The one element of a tensor; NaN, and the scope in main has the reason, where that cannot be had. */
static double number(tn_tensor *x)
{
    double value = NAN;
    return tn_item(x, &value) == TN_OK ? value : NAN;
}

/* A leaf of one element whose gradient is wanted. */
static tn_tensor *variable(double value)
{
    tn_tensor *x = tn_full(TN_F32, TN_SHAPE(), tn_float(value), NULL); /* x = torch.tensor(value) */
    (void)tn_set_requires_grad(x, true);                              /* x.requires_grad_() */
    return x;
}

static tn_tensor *cube(tn_tensor *x)
{
    return tn_mul(tn_mul(x, x), x);
}

/* ---- the steps ---- */

static void first_gradient(void)
{
    step("A gradient: y = x^2 + 3 x at x = 2");
    tn_tensor *x = variable(2), *y = tn_add(tn_mul(x, x), tn_mul(x, tn_int(3)));
    show("y", number(y), 10);
    (void)tn_backward(y);                     /* y.backward() */
    show("dy/dx", number(tn_grad_of(x)), 7); /* x.grad */
}

static void add_up(void)
{
    step("Gradients add up until they are taken away");
    tn_tensor *x = variable(2);
    for (int i = 1; i <= 3; i++) {
        (void)tn_backward(tn_mul(x, x));
        show("gradient so far", number(tn_grad_of(x)), 4 * i);
    }
    (void)tn_zero_grad(&x, 1); /* x.grad = None */
    printf("after tn_zero_grad there is %s\n", tn_grad_of(x) == TN_NONE ? "none" : "one");
}

static void of_many(void)
{
    step("Of many elements: the gradient has the tensor's shape");
    const float values[] = {1, 2, 3, 4, 5, 6};
    tn_tensor *x = tn_from(TN_F32, TN_SHAPE(2, 3), values, NULL);
    (void)tn_set_requires_grad(x, true);
    (void)tn_backward(tn_sum(tn_mul(x, x), TN_ALL_AXES, false)); /* (x * x).sum().backward() */
    (void)tn_print(stdout, tn_grad_of(x));
    show("its last element", number(tn_select(tn_select(tn_grad_of(x), 0, 1), 0, 2)), 12);
}

static void without(void)
{
    step("Without: a scope that remembers nothing, and values that are beyond it");
    tn_tensor *x = variable(3);
    const tn_scope scope = tn_scope_push_no_grad(); /* with torch.no_grad(): */
    printf("in the scope, x * x requires a gradient: %s\n", tn_requires_grad(tn_mul(x, x)) ? "yes" : "no");
    (void)tn_scope_pop(scope);
    printf("outside: %s\n", tn_requires_grad(tn_mul(x, x)) ? "yes" : "no");
    (void)tn_backward(tn_mul(x, tn_detach(x))); /* x * x.detach(): the second one is a number like others */
    show("d(x * detached x)/dx", number(tn_grad_of(x)), 3);
}

static void second_order(void)
{
    step("Gradients as values, and their gradients: y = x^3 at x = 3");
    tn_tensor *x = variable(3), *y = cube(x), *first, *second;
    const tn_backward_options remember = {.create = true};
    (void)tn_grad(&y, NULL, 1, &x, 1, &first, &remember); /* torch.autograd.grad(y, x, create_graph=True) */
    show("y'", number(first), 27);
    (void)tn_grad(&first, NULL, 1, &x, 1, &second, NULL);
    show("y''", number(second), 18);
}

static tn_tensor *halve(tn_tensor *gradient, void *user)
{
    (void)user;
    return tn_mul(gradient, tn_float(0.5));
}

static void hooks(void)
{
    step("A hook sees a gradient on its way, and may replace it");
    tn_tensor *x = variable(2), *y = tn_mul(x, x);
    (void)tn_add_grad_hook(y, halve, NULL); /* y.register_hook(lambda g: g / 2) */
    (void)tn_backward(tn_mul(y, tn_int(5)));
    show("half of the gradient", number(tn_grad_of(x)), 10);
}

static tn_tensor *cube_of_first(tn_tensor *const *inputs, int count, void *user)
{
    (void)count, (void)user;
    return cube(inputs[0]);
}

static void check(void)
{
    step("Is a gradient right? Compare with differences");
    tn_tensor *x = tn_full(TN_F64, TN_SHAPE(3), tn_float(1.5), "host");
    (void)tn_set_requires_grad(x, true);
    const tn_status status = tn_gradcheck(cube_of_first, &x, 1, NULL, NULL); /* torch.autograd.gradcheck */
    printf("x^3: %s\n", status == TN_OK ? "right" : tn_last_error());
    shown++;
    right += status == TN_OK;
}

/* y = 2 x + 1, found again from 64 points. */
static void fit_a_line(void)
{
    step("Put to use: a line through points, by gradient descent");
    tn_tensor *x = tn_sub(tn_div(tn_arange(TN_F32, 0, 64, 1, NULL), tn_int(32)), tn_int(1));
    tn_tensor *target = tn_add(tn_mul(x, tn_int(2)), tn_int(1)), *slope = variable(0), *offset = variable(0);
    for (int i = 0; i <= 100; i++) {
        const tn_scope inside = tn_scope_push();
        tn_tensor *error = tn_sub(tn_add(tn_mul(x, slope), offset), target);
        tn_tensor *loss = tn_mean(tn_mul(error, error), TN_ALL_AXES, false);
        if (i % 25 == 0)
            printf("step %3d  loss %.6f\n", i, number(loss));
        (void)tn_backward(loss);
        const tn_scope update = tn_scope_push_no_grad();
        (void)tn_assign(slope, tn_sub(slope, tn_mul(tn_grad_of(slope), tn_float(0.2))));
        (void)tn_assign(offset, tn_sub(offset, tn_mul(tn_grad_of(offset), tn_float(0.2))));
        (void)tn_scope_pop(update);
        (void)tn_zero_grad((tn_tensor *[]){slope, offset}, 2);
        (void)tn_scope_pop(inside);
    }
    show("slope", number(slope), 2);
    show("offset", number(offset), 1);
}

/* By design this one fails. */
static void only_once(void)
{
    step("Backward forgets the way it went, unless told to keep it");
    tn_tensor *x = variable(2), *y = tn_mul(x, x);
    (void)tn_backward_all(&y, NULL, 1, &(tn_backward_options){.retain = true}); /* y.backward(retain_graph=True) */
    (void)tn_backward(y);
    show("dy/dx, twice", number(tn_grad_of(x)), 8);
    if (tn_backward(y) != TN_OK)
        printf("the third time: %s\n", tn_last_error());
}

int main(int argc, char **argv)
{
    static void (*const steps[])(void) = {first_gradient, add_up, of_many, without, second_order, hooks, check, fit_a_line};
    const char *device = tn_device_resolve(argc > 1 ? argv[1] : "auto");
    if (!device || tn_device_push(device) != TN_OK) { /* everything below is made there */
        fprintf(stderr, "02_autograd: %s\n", tn_last_error());
        return 1;
    }
    printf("on %s\n", device);
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        const tn_scope scope = tn_scope_push();
        steps[i]();
        if (tn_scope_pop(scope) != TN_OK) { /* whatever fails ends the program with its reason */
            fprintf(stderr, "02_autograd: %s\n", tn_last_error());
            return 1;
        }
    }
    const tn_scope scope = tn_scope_push();
    only_once();
    (void)tn_scope_pop(scope); /* its status is the mistake made on purpose */
    tn_clear_error();
    printf("\n%d of %d numbers are what they must be\n", right, shown);
    return tn_shutdown() == TN_OK && right == shown ? 0 : 1;
}
