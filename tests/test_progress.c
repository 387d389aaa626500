/* Lines of progress, on a pipe and on a terminal, by a clock of the test's. */
#define _XOPEN_SOURCE 700
#define _DEFAULT_SOURCE
#include "nn/progress.h"
#include "support/test.h"

#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

static double now;

static double test_clock(void)
{
    return now;
}

static int reading;
static FILE *writing;
static char text[4096];

static void set_up(void)
{
    now = 1000;
    tn__progress_clock = test_clock;
    unsetenv("NO_COLOR");
}

static void open_pipe(void)
{
    int ends[2];
    ck_assert_int_eq(pipe(ends), 0);
    reading = ends[0];
    writing = fdopen(ends[1], "w");
}

static void open_terminal(unsigned short columns)
{
    reading = posix_openpt(O_RDWR | O_NOCTTY);
    ck_assert_int_ge(reading, 0);
    ck_assert(grantpt(reading) == 0 && unlockpt(reading) == 0);
    const int terminal = open(ptsname(reading), O_RDWR | O_NOCTTY);
    ck_assert_int_eq(ioctl(terminal, TIOCSWINSZ, &(struct winsize){.ws_col = columns, .ws_row = 24}), 0);
    writing = fdopen(terminal, "w");
}

/* What was written since the last call; a terminal's newline is \r\n. */
static const char *written(void)
{
    size_t length = 0;
    fflush(writing);
    while (poll(&(struct pollfd){.fd = reading, .events = POLLIN}, 1, 0) == 1) {
        const ssize_t n = read(reading, text + length, sizeof text - 1 - length);
        if (n <= 0) break;
        length += (size_t)n;
    }
    text[length] = '\0';
    return text;
}

static void close_both(void)
{
    fclose(writing);
    close(reading);
}

static void at(tn_progress *p, double seconds, int64_t done, double loss)
{
    now = 1000 + seconds;
    tn_progress_update(p, done, &loss);
}

/* ---- elsewhere than on a terminal ---- */

START_TEST(a_pipe_gets_a_plain_line_every_five_seconds_and_a_last_one)
{
    open_pipe();
    tn_progress *p = tn_progress_begin(writing, 1000, &(tn_progress_options){.label = "train"});
    at(p, 1.9, 190, 2.5);
    ck_assert_str_eq(written(), "");
    at(p, 2, 200, 2.25);
    ck_assert_str_eq(written(), "train   20%  200/1000  loss 2.25  100 samples/s  ETA 0:08\n");
    at(p, 6.9, 690, 1.5);
    ck_assert_str_eq(written(), "");
    at(p, 7.0, 700, 0.123456);
    ck_assert_str_eq(written(), "train   70%  700/1000  loss 0.1235  100 samples/s  ETA 0:03\n");
    at(p, 10, 1000, 0.125);
    ck_assert_str_eq(written(), "");
    tn_progress_end(p);
    ck_assert_str_eq(written(), "train  100%  1000/1000  loss 0.125  100 samples/s  in 0:10\n");
    close_both();
}
END_TEST

START_TEST(what_is_done_within_two_seconds_leaves_no_trace_unless_asked)
{
    open_pipe();
    for (int always = 0; always < 2; always++) {
        now = 1000;
        tn_progress *p = tn_progress_begin(writing, 10, &(tn_progress_options){.unit = "files", .always = always});
        at(p, 0.5, 5, 1);
        at(p, 1, 10, 0.5);
        tn_progress_end(p);
        ck_assert_str_eq(written(),
                         always ? " 50%  5/10  loss 1.0  10.0 files/s  ETA 0:01\n100%  10/10  loss 0.5  10.0 files/s  in 0:01\n"
                                : "");
    }
    close_both();
}
END_TEST

START_TEST(without_a_total_there_is_no_share_and_no_time_left_without_a_loss_none)
{
    open_pipe();
    tn_progress *p = tn_progress_begin(writing, 0, NULL);
    now = 1004;
    tn_progress_update(p, 100, NULL);
    ck_assert_str_eq(written(), "100 samples  25.0 samples/s\n");
    now = 1000 + 3 * 3600 + 62;
    tn_progress_end(p);
    ck_assert_str_eq(written(), "100 samples  0.00921 samples/s  in 3:01:02\n");
    close_both();
}
END_TEST

START_TEST(a_resumed_run_does_not_count_what_the_other_one_did)
{
    open_pipe();
    tn_progress *p = tn_progress_begin(writing, 1000, &(tn_progress_options){.done = 500});
    at(p, 5, 505, 1);
    ck_assert_str_eq(written(), " 50%  505/1000  loss 1.0  1.0 samples/s  ETA 8:15\n");
    tn_progress_end(p);
    ck_assert_str_eq(written(), " 50%  505/1000  loss 1.0  1.0 samples/s  in 0:05\n");
    close_both();
}
END_TEST

START_TEST(odd_losses_and_counts_are_shown_as_they_are)
{
    open_pipe();
    tn_progress *p = tn_progress_begin(writing, 10, NULL);
    at(p, 5, 0, NAN);
    ck_assert_str_eq(written(), "  0%  0/10  loss nan\n");
    at(p, 10, 20, INFINITY);
    ck_assert_str_eq(written(), "100%  20/10  loss inf  2.0 samples/s\n");
    at(p, 15, 3000000, -INFINITY);
    ck_assert_str_eq(written(), "100%  3000000/10  loss -inf  200000 samples/s\n");
    tn_progress_end(p);
    close_both();
}
END_TEST

/* ---- on a terminal ---- */

START_TEST(a_terminal_shows_one_line_with_a_bar_ten_times_a_second)
{
    open_terminal(100);
    setenv("NO_COLOR", "1", 1);
    tn_progress *p = tn_progress_begin(writing, 1000, NULL);
    at(p, 1.99, 199, 2);
    ck_assert_str_eq(written(), "");
    at(p, 2, 500, 2);
    ck_assert_str_eq(written(), "\r[===============>              ]  50%  500/1000  loss 2.0  250 samples/s  ETA 0:02");
    at(p, 2.09, 600, 2);
    ck_assert_str_eq(written(), "");
    at(p, 4, 1000, 2);
    ck_assert_str_eq(written(), "\r[==============================] 100%  1000/1000  loss 2.0  250 samples/s         ");
    tn_progress_end(p);
    ck_assert_str_eq(written(), "\r[==============================] 100%  1000/1000  loss 2.0  250 samples/s  in 0:04\r\n");
    close_both();
}
END_TEST

START_TEST(the_bar_is_green_unless_the_environment_wants_no_color)
{
    for (int off = 0; off < 3; off++) {
        open_terminal(100);
        if (off) setenv("NO_COLOR", off == 1 ? "1" : "", 1); /* set and empty counts as not set */
        now = 1000;
        tn_progress *p = tn_progress_begin(writing, 10, NULL);
        at(p, 3, 5, 1);
        ck_assert_int_eq(strstr(written(), "\033[") != NULL, off != 1);
        tn_progress_end(p);
        close_both();
    }
}
END_TEST

START_TEST(a_narrow_terminal_has_no_bar_and_no_line_beyond_it)
{
    open_terminal(45);
    tn_progress *p = tn_progress_begin(writing, 1000, NULL);
    at(p, 2, 500, 2);
    ck_assert_str_eq(written(), "\r 50%  500/1000  loss 2.0  250 samples/s  ETA"); /* 44 columns and the return */
    tn_progress_end(p);
    ck_assert_str_eq(written(), "\r 50%  500/1000  loss 2.0  250 samples/s  in \r\n");
    close_both();
    open_terminal(60);
    now = 1000;
    p = tn_progress_begin(writing, 1000, &(tn_progress_options){.unit = "s"});
    setenv("NO_COLOR", "1", 1);
    at(p, 2, 500, 2);
    ck_assert_ptr_nonnull(strchr(written(), '['));
    tn_progress_end(p);
    close_both();
}
END_TEST

START_TEST(a_bar_fits_terminals_of_every_width)
{
    for (unsigned short columns = 1; columns < 120; columns++) {
        open_terminal(columns);
        setenv("NO_COLOR", "1", 1);
        now = 1000;
        tn_progress *p = tn_progress_begin(writing, 1000, &(tn_progress_options){.label = "epoch 3"});
        at(p, 2, 333, 2);
        ck_assert_uint_le(strlen(written()), columns); /* one of them is the return */
        tn_progress_end(p);
        close_both();
    }
}
END_TEST

/* ---- what is refused ---- */

START_TEST(bad_arguments_are_errors_and_no_progress_is_one_that_says_nothing)
{
    ck_fails(tn_progress_begin(NULL, 1, NULL), TN_ARGUMENT, "file is NULL");
    ck_fails(tn_progress_begin(stdout, -1, NULL), TN_ARGUMENT, "-1");
    ck_fails(tn_progress_begin(stdout, 1, &(tn_progress_options){.done = -2}), TN_ARGUMENT, "-2 of 1");
    tn_progress_update(NULL, 1, NULL);
    tn_progress_end(NULL);
}
END_TEST

START_TEST(a_file_that_cannot_be_written_disturbs_nobody)
{
    writing = fopen("/dev/full", "w");
    TN_SKIP_IF(!writing, "there is no /dev/full");
    tn_progress *p = tn_progress_begin(writing, 10, NULL);
    at(p, 5, 5, 1);
    tn_progress_end(p);
    ck_assert_int_eq(tn_last_status(), TN_OK);
    fclose(writing);
}
END_TEST

TEST_MAIN("progress", set_up, NULL, a_pipe_gets_a_plain_line_every_five_seconds_and_a_last_one,
          what_is_done_within_two_seconds_leaves_no_trace_unless_asked,
          without_a_total_there_is_no_share_and_no_time_left_without_a_loss_none,
          a_resumed_run_does_not_count_what_the_other_one_did, odd_losses_and_counts_are_shown_as_they_are,
          a_terminal_shows_one_line_with_a_bar_ten_times_a_second, the_bar_is_green_unless_the_environment_wants_no_color,
          a_narrow_terminal_has_no_bar_and_no_line_beyond_it, a_bar_fits_terminals_of_every_width,
          bad_arguments_are_errors_and_no_progress_is_one_that_says_nothing, a_file_that_cannot_be_written_disturbs_nobody)
