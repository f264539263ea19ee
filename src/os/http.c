/* SPDX-License-Identifier: MIT */
#include "os/http.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* As in curl/curl.h, which the build does not need. */
enum {
    OPTION_WRITE_DATA = 10001,
    OPTION_URL = 10002,
    OPTION_ERROR_BUFFER = 10010,
    OPTION_POST_FIELDS = 10015,
    OPTION_USER_AGENT = 10018,
    OPTION_HTTP_HEADER = 10023,
    OPTION_POST = 47,
    OPTION_TIMEOUT_MS = 155,
    OPTION_PROTOCOLS = 181,
    OPTION_WRITE_FUNCTION = 20011,
    OPTION_POST_FIELD_SIZE_LARGE = 30120,
    INFO_RESPONSE_CODE = 0x200002,
    INFO_REDIRECT_URL = 0x10001f,
    PROTOCOLS_HTTP_AND_HTTPS = 3,
    ERROR_SIZE = 256,
};

struct easy;
struct list;
struct library {
    struct easy *(*begin)(void);
    int (*set)(struct easy *easy, int option, ...);
    int (*perform)(struct easy *easy);
    int (*get)(struct easy *easy, int info, ...);
    void (*end)(struct easy *easy);
    const char *(*explain)(int error);
    struct list *(*append)(struct list *list, const char *text);
    void (*free_list)(struct list *list);
};

/* POSIX makes object and function pointers interchangeable for dlsym. */
static bool find(void *handle, const char *name, void *function)
{
    void *found = dlsym(handle, name);
    memcpy(function, &found, sizeof found);
    return found != NULL;
}

/* Never unloaded: it is initialised once. */
static bool load(struct library *l)
{
    void *handle = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
    if (handle == NULL)
        handle = dlopen("libcurl-gnutls.so.4", RTLD_NOW | RTLD_LOCAL);
    return handle != NULL && find(handle, "curl_easy_init", &l->begin) &&
           find(handle, "curl_easy_setopt", &l->set) &&
           find(handle, "curl_easy_perform", &l->perform) &&
           find(handle, "curl_easy_getinfo", &l->get) &&
           find(handle, "curl_easy_cleanup", &l->end) &&
           find(handle, "curl_easy_strerror", &l->explain) &&
           find(handle, "curl_slist_append", &l->append) &&
           find(handle, "curl_slist_free_all", &l->free_list);
}

/* Text that does not fit is dropped. */
static size_t keep_text(char *bytes, size_t one, size_t size, void *context)
{
    struct wndl_http_answer *answer = context;
    size_t room = sizeof answer->text - answer->text_size;
    size_t kept = size < room ? size : room;
    memcpy(answer->text + answer->text_size, bytes, kept);
    answer->text_size += kept;
    return one * size;
}

static bool list_headers(const struct library *l,
    const struct wndl_http_post *post, struct list **headers)
{
    /* "Expect: 100-continue" would wait for servers that do not know it. */
    *headers = l->append(NULL, "Expect:");
    bool whole = *headers != NULL;
    for (const char *const *h = post->headers; whole && *h != NULL; h++) {
        struct list *longer = l->append(*headers, *h);
        whole = longer != NULL;
        *headers = whole ? longer : *headers;
    }
    return whole;
}

static bool prepare(const struct library *l, struct easy *easy,
    const struct wndl_http_post *post, struct wndl_http_answer *answer)
{
    return l->set(easy, OPTION_URL, post->url) == 0 &&
           l->set(easy, OPTION_PROTOCOLS, (long)PROTOCOLS_HTTP_AND_HTTPS) ==
               0 &&
           l->set(easy, OPTION_POST, 1L) == 0 &&
           l->set(easy, OPTION_POST_FIELD_SIZE_LARGE,
               (int64_t)post->body.size) == 0 &&
           l->set(easy, OPTION_POST_FIELDS, post->body.data) == 0 &&
           l->set(easy, OPTION_USER_AGENT, "windlass") == 0 &&
           l->set(easy, OPTION_TIMEOUT_MS, (long)post->timeout) == 0 &&
           l->set(easy, OPTION_WRITE_FUNCTION, keep_text) == 0 &&
           l->set(easy, OPTION_WRITE_DATA, answer) == 0;
}

static void read_answer(
    const struct library *l, struct easy *easy, struct wndl_http_answer *answer)
{
    long code = 0;
    const char *redirect = NULL;
    l->get(easy, INFO_RESPONSE_CODE, &code);
    l->get(easy, INFO_REDIRECT_URL, &redirect);
    answer->code = (unsigned)code;
    if (redirect != NULL)
        snprintf(answer->redirect, sizeof answer->redirect, "%s", redirect);
}

static enum wndl_status perform(const struct library *l, struct easy *easy,
    struct wndl_http_answer *answer, struct wndl_error *err)
{
    char said[ERROR_SIZE] = "";
    l->set(easy, OPTION_ERROR_BUFFER, said);
    int error = l->perform(easy);
    l->set(easy, OPTION_ERROR_BUFFER, NULL);
    if (error != 0)
        return wndl_fail(
            err, WNDL_IO, "%s", said[0] == '\0' ? l->explain(error) : said);
    read_answer(l, easy, answer);
    return WNDL_OK;
}

enum wndl_status wndl_http_post(const struct wndl_http_post *post,
    struct wndl_http_answer *answer, struct wndl_error *err)
{
    struct library l;
    *answer = (struct wndl_http_answer){0};
    if (!load(&l))
        return wndl_fail(err, WNDL_UNSUPPORTED,
            "cannot load libcurl.so.4; install it (Debian: libcurl4)");
    struct easy *easy = l.begin();
    if (easy == NULL)
        return wndl_fail(err, WNDL_IO, "libcurl cannot be started");
    struct list *headers = NULL;
    enum wndl_status status =
        list_headers(&l, post, &headers) && prepare(&l, easy, post, answer) &&
                l.set(easy, OPTION_HTTP_HEADER, headers) == 0
            ? perform(&l, easy, answer, err)
            : wndl_fail(err, WNDL_NOMEM, "libcurl takes no request");
    l.end(easy);
    l.free_list(headers);
    return status;
}
