/* SPDX-License-Identifier: MIT */
/* windlass push: sends a recording to a profile server. */
#include "base/utf8.h"
#include "cli/core/command.h"
#include "cli/shared/heap_report.h"
#include "cli/shared/recording.h"
#include "os/http.h"
#include "out/pprof.h"
#include "out/push.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct push_options {
    unsigned api; /* enum wndl_push_api */
    const char *name;
    struct wndl_option_list labels;
    struct wndl_option_list headers;
    double timeout;
    struct wndl_symbol_options symbols;
};

static const struct wndl_option option_table[] = {
    {0, "api", "API", "ingest|push|parca", "ingest", NULL,
        "the API of the server: ingest: Pyroscope's /ingest; push: Pyroscope's "
        "/push.v1.PusherService/Push; parca: Parca's /profiles/writeraw",
        WNDL_OPT_CHOICE, offsetof(struct push_options, api)},
    {0, "name", "NAME", NULL, NULL, NULL,
        "name of the service on the server: letters, digits and ._/-; default: "
        "the name of the program",
        WNDL_OPT_TEXT, offsetof(struct push_options, name)},
    {0, "label", "NAME=VALUE", NULL, NULL, NULL,
        "add a label to find the profile by; may be repeated", WNDL_OPT_LIST,
        offsetof(struct push_options, labels)},
    {'H', "header", "NAME: VALUE", NULL, NULL, "WINDLASS_PUSH_HEADER",
        "add a line to the header of the request, such as 'Authorization: "
        "Bearer TOKEN' or 'X-Scope-OrgID: TENANT'; may be repeated. Other "
        "users of the machine can see the arguments of a command, so give "
        "secrets in the environment",
        WNDL_OPT_LIST, offsetof(struct push_options, headers)},
    {0, "timeout", "SECONDS", NULL, "60", NULL,
        "give up after SECONDS without a complete answer", WNDL_OPT_REAL,
        offsetof(struct push_options, timeout)},
    WNDL_SYMBOL_OPTION_ROWS(struct push_options, symbols),
    {0},
};

static const struct wndl_example examples[] = {
    {"windlass push http://localhost:4040 app.4711.cpu.wndl",
        "send a profile to Pyroscope"},
    {"windlass push --api parca --label env=staging http://localhost:7070 "
     "app.4711.cpu.wndl",
        "send it to Parca, with a label to find it by"},
    {NULL, NULL},
};

struct job {
    const struct push_options *o;
    const char *server;
    char *shown; /* the server without a password */
    struct wndl_cli_recording loaded;
    struct wndl_push_label labels[WNDL_OPTION_LIST_MAX];
    char *name;
};

/* ---- arguments */

/* The start and end of NAME:PASSWORD@, if there is one. The last '@' ends it: a
 * password that is not escaped may hold any character. */
static void find_user(const char *url, size_t *start, size_t *end)
{
    const char *scheme = strstr(url, "://");
    const char *host = scheme == NULL ? url : scheme + 3;
    const char *at = host + strlen(host);
    while (at != host && at[-1] != '@')
        at--;
    *start = (size_t)(host - url);
    *end = (size_t)(at - url);
}

static char *without_user(const char *url)
{
    size_t start, end;
    find_user(url, &start, &end);
    char *copy = strdup(url);
    if (copy != NULL)
        memmove(copy + start, copy + end, strlen(copy + end) + 1);
    return copy;
}

static bool is_plain(const char *text)
{
    while ((unsigned char)*text >= ' ' && *text != '\177')
        text++;
    return *text == '\0';
}

static bool check_server(const char *url)
{
    bool http =
        strncmp(url, "http://", 7) == 0 || strncmp(url, "https://", 8) == 0;
    if (http && is_plain(url) && strpbrk(url, " ?#") == NULL)
        return true;
    wndl_cli_error("URL must be the address of a server, such as "
                   "http://localhost:4040, without a query");
    return false;
}

/* A header with a line break would be two. */
static bool check_headers(const struct wndl_option_list *headers)
{
    for (size_t i = 0; i < headers->count; i++) {
        const char *colon = strchr(headers->texts[i], ':');
        if (colon != NULL && colon != headers->texts[i] &&
            is_plain(headers->texts[i]))
            continue;
        wndl_cli_error("--header takes one line NAME: VALUE");
        return false;
    }
    return true;
}

static bool read_label(struct wndl_push_label *label, char *text)
{
    char *equal = strchr(text, '=');
    if (equal == NULL)
        return false;
    *equal = '\0';
    *label = (struct wndl_push_label){text, equal + 1};
    return wndl_push_is_label(text) && wndl_push_is_value(equal + 1);
}

static bool read_labels(struct job *job, const struct wndl_option_list *given)
{
    for (size_t i = 0; i < given->count; i++) {
        char *text = strdup(given->texts[i]);
        if (text != NULL && read_label(&job->labels[i], text))
            continue;
        free(text);
        job->labels[i] = (struct wndl_push_label){NULL, NULL};
        wndl_cli_error("--label takes NAME=VALUE, not '%s'; NAME has letters, "
                       "digits and _, VALUE none of ,={}\"",
            given->texts[i]);
        return false;
    }
    return true;
}

static bool check_options(struct job *job)
{
    const char *name = job->o->name;
    if (!check_server(job->server) || !check_headers(&job->o->headers) ||
        !read_labels(job, &job->o->labels))
        return false;
    if (name == NULL || wndl_push_is_service(name))
        return true;
    wndl_cli_error("--name takes letters, digits and ._/-, not '%s'", name);
    return false;
}

/* The program's name, with '_' for characters that servers refuse. */
static char *name_of(const struct job *job)
{
    if (job->o->name != NULL)
        return strdup(job->o->name);
    const struct wndl_profile *p = &job->loaded.profile;
    struct wndl_bytes program = p->processes.len == 0
                                    ? (struct wndl_bytes){NULL, 0}
                                    : wndl_exported_program(p, 0);
    char *name = program.size == 0
                     ? strdup("unknown")
                     : strndup((const char *)program.data, program.size);
    for (char *c = name; c != NULL && *c != '\0'; c++) {
        const char one[] = {*c, '\0'};
        if (!wndl_push_is_service(one))
            *c = '_';
    }
    return name;
}

/* ---- sending */

/* Appends the start of the server's answer, on one line. */
static void put_said(struct wndl_buf *to, const struct wndl_http_answer *answer)
{
    enum { SHOWN = 300 };
    struct wndl_bytes text = {answer->text, answer->text_size};
    bool cut = text.size > SHOWN;
    text.size = cut ? SHOWN : text.size;
    while (text.size != 0 && text.data[text.size - 1] <= ' ')
        text.size--;
    wndl_buf_text(to, text.size == 0 ? "" : ": ");
    wndl_utf8_plain(to, text);
    wndl_buf_text(to, cut ? "..." : "");
    wndl_buf_byte(to, '\0');
}

static int say_refused(
    const struct job *job, const struct wndl_http_answer *answer)
{
    if (answer->redirect[0] != '\0') {
        /* A redirect to a path of the same server repeats the password. */
        char *shown = without_user(answer->redirect);
        wndl_cli_error("%s redirects to %s; nothing was sent there", job->shown,
            shown == NULL ? "another address" : shown);
        free(shown);
        return WNDL_EXIT_FAILURE;
    }
    struct wndl_buf said;
    wndl_buf_init(&said, wndl_mem_libc());
    put_said(&said, answer);
    wndl_cli_error("%s: the server answered %u%s", job->shown, answer->code,
        said.failed ? "" : (const char *)said.data);
    wndl_buf_free(&said);
    return WNDL_EXIT_FAILURE;
}

static int post_profile(const struct job *job, const struct wndl_push *push,
    const char *url, struct wndl_bytes body)
{
    const struct wndl_option_list *given = &job->o->headers;
    const char *headers[WNDL_OPTION_LIST_MAX + 2] = {wndl_push_type(push->api)};
    memcpy(headers + 1, given->texts, given->count * sizeof *headers);
    const struct wndl_http_post request = {.url = url,
        .headers = headers,
        .body = body,
        .timeout = job->o->timeout < 1e6 ? (uint64_t)(job->o->timeout * 1e3) + 1
                                         : (uint64_t)1e9};
    struct wndl_http_answer answer;
    struct wndl_error err = {0};
    if (wndl_http_post(&request, &answer, &err) != WNDL_OK) {
        char text[WNDL_HTTP_TEXT_MAX];
        return wndl_cli_error(
            "%s: %s", job->shown, wndl_error_text(&err, text, sizeof text));
    }
    if (answer.code < 200 || answer.code >= 300)
        return say_refused(job, &answer);
    wndl_cli_note("sent %s's %s profile, %zu bytes, to %s", push->service,
        push->kind, body.size, job->shown);
    return WNDL_EXIT_OK;
}

static int send_profile(
    const struct job *job, const char *kind, struct wndl_bytes profile)
{
    const struct wndl_profile *p = &job->loaded.profile;
    const struct wndl_push push = {
        .api = job->o->api,
        .kind = kind,
        .service = job->name,
        .labels = job->labels,
        .label_count = job->o->labels.count,
        .from = p->realtime,
        .until = p->realtime + p->duration,
        .profile = profile,
    };
    struct wndl_buf url, body;
    wndl_buf_init(&url, wndl_mem_libc());
    wndl_buf_init(&body, wndl_mem_libc());
    wndl_push_url(&url, job->server, &push);
    wndl_buf_byte(&url, '\0');
    wndl_push_body(&body, &push);
    int exit_code = url.failed || body.failed
                        ? wndl_cli_error("out of memory")
                        : post_profile(job, &push, (const char *)url.data,
                              (struct wndl_bytes){body.data, body.size});
    wndl_buf_free(&url);
    wndl_buf_free(&body);
    return exit_code;
}

/* Sends the heaps or the time, each as a profile of its own. */
static int send_part(const struct job *job, bool of_heap)
{
    const struct wndl_heap_set_options usual = {0};
    struct wndl_heap_choice choice = wndl_heap_choose(&usual, &job->loaded, 1);
    const struct wndl_exported part = {
        .symbolized = &job->loaded.symbolized,
        .of_heap = of_heap,
        .has_freed = wndl_heap_has_freed(&job->loaded.profile),
        .set = choice.set,
    };
    char *data = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&data, &size);
    bool whole = out != NULL && wndl_pprof_write(out, &part, wndl_mem_libc());
    whole = out != NULL && fclose(out) == 0 && whole;
    int exit_code = whole
                        ? send_profile(job, of_heap ? "memory" : "process_cpu",
                              (struct wndl_bytes){(uint8_t *)data, size})
                        : wndl_cli_error("out of memory");
    free(data);
    return exit_code;
}

static int send_all(const struct job *job)
{
    const struct wndl_profile *p = &job->loaded.profile;
    bool time = p->samples.len + p->blocks.len != 0;
    bool heaps = p->heaps.len != 0;
    if (!time && !heaps)
        return wndl_cli_error(
            "the recording holds neither samples nor a heap; nothing was sent");
    int exit_code = time ? send_part(job, false) : WNDL_EXIT_OK;
    return heaps && exit_code == WNDL_EXIT_OK ? send_part(job, true)
                                              : exit_code;
}

static int push_file(struct job *job, const char *path)
{
    struct wndl_input input;
    if (!wndl_input_open(&input, path))
        return WNDL_EXIT_FAILURE;
    bool loaded = wndl_cli_recording_open(
        &job->loaded, &input, &job->o->symbols, 0, false);
    wndl_input_close(&input);
    if (!loaded)
        return WNDL_EXIT_FAILURE;
    job->name = name_of(job);
    job->shown = without_user(job->server);
    int exit_code = job->name == NULL || job->shown == NULL
                        ? wndl_cli_error("out of memory")
                        : send_all(job);
    free(job->name);
    free(job->shown);
    wndl_cli_recording_close(&job->loaded);
    return exit_code;
}

static int run_push(const void *options, struct wndl_operands operands)
{
    struct job job = {.o = options, .server = operands.texts[0]};
    int exit_code = check_options(&job) ? push_file(&job, operands.texts[1])
                                        : WNDL_EXIT_USAGE;
    for (size_t i = 0; i < WNDL_OPTION_LIST_MAX; i++)
        free((char *)job.labels[i].name);
    return exit_code;
}

const struct wndl_command wndl_cmd_push = {
    .name = "push",
    .group = WNDL_GROUP_CONVERT,
    .summary = "send a recording to a profile server",
    .operands = "URL FILE",
    .description =
        "Sends the profile that 'windlass export -f pprof' writes to a server "
        "such as Pyroscope or Parca, with the names of functions, files and "
        "lines. The time and the heap of a recording are sent as separate "
        "profiles; programs and threads are labels of their samples.\n\n"
        "Redirects are reported, not followed.",
    .options = option_table,
    .options_size = sizeof(struct push_options),
    .examples = examples,
    .min_operands = 2,
    .max_operands = 2,
    .run = run_push,
};
