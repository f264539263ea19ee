/* SPDX-License-Identifier: MIT */
#include "testlib.h"

#include "cli/core/command.h"
#include "cli/core/help.h"

#include <stdio.h>
#include <stdlib.h>

struct sample_options {
    bool quiet;
    bool all;
    const char *out;
    uint64_t count;
    double seconds;
    uint64_t size;
    unsigned by;
    struct wndl_option_choice of;
    struct wndl_option_list dirs;
};

static const struct wndl_option rows[] = {
    {'q', "quiet", NULL, NULL, NULL, NULL, "say less", WNDL_OPT_FLAG,
        offsetof(struct sample_options, quiet)},
    {'a', "all", NULL, NULL, NULL, NULL, "take all", WNDL_OPT_FLAG,
        offsetof(struct sample_options, all)},
    {'o', "out", "FILE", NULL, NULL, "WNDL_TEST_OUT", "write to FILE",
        WNDL_OPT_TEXT, offsetof(struct sample_options, out)},
    {'n', "count", "N", NULL, "30", NULL, "show N rows", WNDL_OPT_COUNT,
        offsetof(struct sample_options, count)},
    WNDL_OPTION_OLD_NAME(
        "tally", WNDL_OPT_COUNT, offsetof(struct sample_options, count)),
    {'s', "seconds", "S", NULL, NULL, NULL, "stop after S", WNDL_OPT_REAL,
        offsetof(struct sample_options, seconds)},
    {0, "size", "SIZE", NULL, NULL, NULL, "keep SIZE", WNDL_OPT_SIZE,
        offsetof(struct sample_options, size)},
    {0, "by", NULL, "fn|line|module||function", "fn", NULL, "group",
        WNDL_OPT_CHOICE, offsetof(struct sample_options, by)},
    {0, "of", NULL, "cpu|wall", "cpu", NULL, "which", WNDL_OPT_CHOSEN,
        offsetof(struct sample_options, of)},
    WNDL_OPTION_OF_OTHERS('F', "freq", "did you mean '--count'?"),
    {'d', "dir", "DIR", NULL, NULL, NULL, "look in DIR", WNDL_OPT_LIST,
        offsetof(struct sample_options, dirs)},
    {0},
};

static struct wndl_command sample(void)
{
    return (struct wndl_command){
        .name = "sample",
        .summary = "a sample",
        .operands = "FILE [FILE]",
        .description = "First paragraph.\n\nSecond - with a dash.",
        .options = rows,
        .options_size = sizeof(struct sample_options),
        .min_operands = 1,
        .max_operands = 2,
    };
}

struct outcome {
    enum wndl_parse_result result;
    struct sample_options o;
    struct wndl_operands operands;
    char problem[WNDL_PROBLEM_SIZE];
    char *argv[16];
};

static struct outcome *parse(
    const struct wndl_command *command, const char *const *words)
{
    static struct outcome out;
    memset(&out, 0, sizeof out);
    for (size_t i = 0; words[i] != NULL; i++)
        out.argv[i] = (char *)words[i];
    out.result = wndl_options_parse(
        command, out.argv, &out.o, &out.operands, out.problem);
    return &out;
}

#define PARSE(command, ...)                                                    \
    parse(command, (const char *const[]){__VA_ARGS__, NULL})

static void every_spelling_of_an_option_is_read(void **state)
{
    (void)state;
    struct wndl_command c = sample();
    struct outcome *r = PARSE(&c, "-qa", "-ofile", "--count=7", "in", "-s",
        "0.5", "--by", "module", "-d", "x", "--dir=y", "in2");
    assert_int_equal(r->result, WNDL_PARSE_OK);
    assert_true(r->o.quiet && r->o.all);
    assert_string_equal(r->o.out, "file");
    assert_int_equal(r->o.count, 7);
    assert_true(r->o.seconds == 0.5);
    assert_int_equal(r->o.by, 2);
    assert_int_equal(r->o.dirs.count, 2);
    assert_string_equal(r->o.dirs.texts[1], "y");
    assert_null(r->o.dirs.texts[2]);
    assert_int_equal(r->operands.count, 2);
    assert_string_equal(r->operands.texts[1], "in2");
    assert_null(r->operands.texts[2]);
}

static void defaults_hold_and_the_environment_beats_them(void **state)
{
    (void)state;
    struct wndl_command c = sample();
    unsetenv("WNDL_TEST_OUT");
    struct outcome *r = PARSE(&c, "in");
    assert_int_equal(r->o.count, 30);
    assert_int_equal(r->o.by, 0);
    assert_null(r->o.out);
    assert_true(r->o.of.index == 0 && !r->o.of.given);
    r = PARSE(&c, "in", "--of=cpu");
    assert_true(r->o.of.index == 0 && r->o.of.given);
    r = PARSE(&c, "in", "--of=wall");
    assert_true(r->o.of.index == 1 && r->o.of.given);
    setenv("WNDL_TEST_OUT", "from-env", 1);
    assert_string_equal(PARSE(&c, "in")->o.out, "from-env");
    assert_string_equal(PARSE(&c, "in", "-o", "x")->o.out, "x");
    unsetenv("WNDL_TEST_OUT");
}

static void problems_are_told_with_the_word_that_is_wrong(void **state)
{
    (void)state;
    static const struct {
        const char *words[4];
        const char *named;
    } cases[] = {
        {{"--nothing", "in", NULL}, "unknown option '--nothing'"},
        {{"-x", "in", NULL}, "-x"},
        {{"-qx", "in", NULL}, "-qx"},
        {{"--quiet=1", "in", NULL}, "--quiet takes no value"},
        {{"in", "--out", NULL}, "--out needs a value"},
        {{"in", "-n", "0", NULL}, "'0'"},
        {{"in", "-n", "7x", NULL}, "'7x'"},
        {{"in", "-n", "99999999999999", NULL}, "'99999999999999'"},
        {{"in", "-s", "-1", NULL}, "'-1'"},
        {{"in", "-s", "nan", NULL}, "'nan'"},
        {{"in", "--by=fnx", NULL}, "'fnx'"},
        {{"in", "--size=0", NULL}, "'0'"},
        {{"in", "--size=-1", NULL}, "'-1'"},
        {{"in", "--size=M", NULL}, "'M'"},
        {{"in", "--size=1Mb", NULL}, "'1Mb'"},
        {{"in", "--size=1025G", NULL}, "'1025G'"},
        {{"a", "b", "c", NULL}, "unexpected argument 'c'"},
        {{NULL}, "FILE"},
    };
    struct wndl_command c = sample();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct outcome *r = parse(&c, cases[i].words);
        assert_int_equal(r->result, WNDL_PARSE_ERROR);
        assert_non_null(strstr(r->problem, cases[i].named));
    }
}

static void older_names_are_accepted(void **state)
{
    (void)state;
    struct wndl_command c = sample();
    assert_int_equal(PARSE(&c, "in", "--tally=3")->o.count, 3);
    assert_int_equal(PARSE(&c, "in")->o.count, 30);
    assert_int_equal(PARSE(&c, "in", "--by=line")->o.by, 1);
    assert_int_equal(PARSE(&c, "in", "--by=function")->o.by, 0);
    struct outcome *r = PARSE(&c, "in", "--by=files");
    assert_int_equal(r->result, WNDL_PARSE_ERROR);
    assert_non_null(strstr(r->problem, "one of fn|line|module, not 'files'"));
    assert_int_equal(PARSE(&c, "in", "--by=")->result, WNDL_PARSE_ERROR);
}

static void sizes_have_units(void **state)
{
    (void)state;
    struct wndl_command c = sample();
    assert_true(PARSE(&c, "in", "--size=7")->o.size == 7);
    assert_true(PARSE(&c, "in", "--size=3K")->o.size == 3 << 10);
    assert_true(PARSE(&c, "in", "--size=64M")->o.size == 64 << 20);
    assert_true(PARSE(&c, "in", "--size=1024G")->o.size == UINT64_C(1) << 40);
    assert_true(PARSE(&c, "in", "--size=3k")->o.size == 3 << 10);
    assert_true(PARSE(&c, "in", "--size=64m")->o.size == 64 << 20);
    assert_true(PARSE(&c, "in", "--size=1g")->o.size == 1 << 30);
}

static void misspelt_words_get_a_suggestion(void **state)
{
    (void)state;
    static const struct {
        const char *word, *meant; /* NULL: none is near */
    } cases[] = {
        {"--quite", "'--quiet'"},        /* swapped */
        {"--cuont=3", "'--count'"},      /* with a value */
        {"--seconts", "'--seconds'"},    /* wrong */
        {"--dirr", "'--dir'"},           /* too many */
        {"--sec", "'--seconds'"},        /* its beginning */
        {"--SIZE", "'--size'"},          /* the other case */
        {"-quiet", "'--quiet'"},         /* one dash */
        {"--by=lines", "'line'"},        /* a value */
        {"--by=fucntion", "'function'"}, /* an older value */
        {"--of=wal", "'wall'"},
        {"--hlep", "'--help'"},
        {"-F", "-F: did you mean '--count'?"}, /* another tool's */
        {"-F99", "-F: did you mean '--count'?"},
        {"--freq=9", "--freq: did you mean '--count'?"},
        {"--zebra", NULL},
        {"--by=zebra", NULL},
    };
    struct wndl_command c = sample();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct outcome *r = PARSE(&c, cases[i].word, "in");
        assert_int_equal(r->result, WNDL_PARSE_ERROR);
        if (cases[i].meant == NULL)
            assert_null(strstr(r->problem, "did you mean"));
        else if (strstr(r->problem, cases[i].meant) == NULL)
            fail_msg("%s: %s", cases[i].word, r->problem);
    }
}

/* A line that is full is cut, not overrun. */
static void long_words_are_cut(void **state)
{
    (void)state;
    static char word[2000] = "--";
    struct wndl_command c = sample();
    memset(word + 2, 'x', sizeof word - 3);
    struct outcome *r = PARSE(&c, word, "in");
    assert_int_equal(r->result, WNDL_PARSE_ERROR);
    assert_int_equal(strlen(r->problem), WNDL_PROBLEM_SIZE - 1);
}

static void words_of_the_environment_are_below_the_arguments(void **state)
{
    (void)state;
    struct wndl_command c = sample();
    setenv(WNDL_OPTIONS_ENV, " count=5,quiet by=line dir=a,dir=b ", 1);
    assert_int_equal(PARSE(&c, "in")->o.count, 30);
    c.env_options = rows;
    struct outcome *r = PARSE(&c, "in");
    assert_int_equal(r->o.count, 5);
    assert_int_equal(r->o.by, 1);
    assert_true(r->o.quiet);
    assert_int_equal(r->o.dirs.count, 2);
    assert_string_equal(r->o.dirs.texts[1], "b");
    r = PARSE(&c, "-n", "6", "--dir", "c", "--dir", "d", "in");
    assert_int_equal(r->o.count, 6);
    assert_int_equal(r->o.dirs.count, 2);
    assert_string_equal(r->o.dirs.texts[0], "c");
    unsetenv(WNDL_OPTIONS_ENV);
}

static void wrong_words_are_told_with_the_variable(void **state)
{
    (void)state;
    static const char *const wrong[] = {
        "cuont=5", "count", "quiet=1", "count=x", "q"};
    struct wndl_command c = sample();
    c.env_options = rows;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        setenv(WNDL_OPTIONS_ENV, wrong[i], 1);
        struct outcome *r = PARSE(&c, "in");
        assert_int_equal(r->result, WNDL_PARSE_ERROR);
        assert_non_null(strstr(r->problem, WNDL_OPTIONS_ENV ": "));
    }
    setenv(WNDL_OPTIONS_ENV, "help", 1);
    assert_int_equal(PARSE(&c, "in")->result, WNDL_PARSE_HELP);
    unsetenv(WNDL_OPTIONS_ENV);
}

static void two_dashes_end_the_options(void **state)
{
    (void)state;
    struct wndl_command c = sample();
    struct outcome *r = PARSE(&c, "-q", "--", "-a", "--help");
    assert_int_equal(r->result, WNDL_PARSE_OK);
    assert_false(r->o.all);
    assert_string_equal(r->operands.texts[0], "-a");
    assert_string_equal(r->operands.texts[1], "--help");
}

static void a_command_line_keeps_its_own_options(void **state)
{
    (void)state;
    struct wndl_command c = sample();
    c.operands_end_options = true;
    c.max_operands = 9;
    struct outcome *r = PARSE(&c, "-q", "xz", "-a", "--", "-o");
    assert_int_equal(r->result, WNDL_PARSE_OK);
    assert_false(r->o.all);
    assert_int_equal(r->operands.count, 4);
    assert_string_equal(r->operands.texts[2], "--");
}

static void help_stops_the_parsing(void **state)
{
    (void)state;
    struct wndl_command c = sample();
    assert_int_equal(PARSE(&c, "-q", "-h")->result, WNDL_PARSE_HELP);
    assert_int_equal(PARSE(&c, "--help")->result, WNDL_PARSE_HELP);
}

static char *shown(void (*show)(FILE *, const struct wndl_command *))
{
    static char buffer[8192];
    struct wndl_command c = sample();
    FILE *out = fmemopen(buffer, sizeof buffer, "w");
    show(out, &c);
    fclose(out);
    return buffer;
}

static void help_and_man_name_every_option(void **state)
{
    (void)state;
    const char *help = shown(wndl_help_command);
    for (const struct wndl_option *o = rows; o->name != NULL; o++) {
        char spelled[32];
        if (o->help == NULL)
            continue;
        snprintf(spelled, sizeof spelled, "--%s", o->name);
        assert_non_null(strstr(help, spelled));
        assert_non_null(strstr(help, o->help));
    }
    assert_non_null(strstr(help, "--by fn|line|module"));
    assert_non_null(strstr(help, "(default 30)"));
    assert_non_null(strstr(help, "[$WNDL_TEST_OUT]"));
    const char *man = shown(wndl_man_command);
    for (const struct wndl_option *o = rows; o->name != NULL; o++)
        assert_true(o->help == NULL || strstr(man, o->help) != NULL);
    assert_null(strstr(help, "tally"));
    assert_null(strstr(man, "tally"));
    assert_null(strstr(help, "function"));
    assert_non_null(strstr(man, "\n.PP\nSecond \\- with"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_spelling_of_an_option_is_read),
        cmocka_unit_test(defaults_hold_and_the_environment_beats_them),
        cmocka_unit_test(problems_are_told_with_the_word_that_is_wrong),
        cmocka_unit_test(older_names_are_accepted),
        cmocka_unit_test(sizes_have_units),
        cmocka_unit_test(misspelt_words_get_a_suggestion),
        cmocka_unit_test(long_words_are_cut),
        cmocka_unit_test(words_of_the_environment_are_below_the_arguments),
        cmocka_unit_test(wrong_words_are_told_with_the_variable),
        cmocka_unit_test(two_dashes_end_the_options),
        cmocka_unit_test(a_command_line_keeps_its_own_options),
        cmocka_unit_test(help_stops_the_parsing),
        cmocka_unit_test(help_and_man_name_every_option),
    };
    return cmocka_run_group_tests_name("options", tests, NULL, NULL);
}
