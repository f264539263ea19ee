/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE 1
#include "cli/view/server.h"

#include "cli/view/peer.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
    CLIENTS = 32,
    REQUEST_SIZE = 8192,
    HEAD_SIZE = 1024,
    PATIENCE = 20000, /* ms for a client to ask, or to take a part */
    HTTP_PORT = 80,
};

/* A connection: first it asks, then it is answered. */
struct client {
    int fd;           /* -1: none */
    int64_t deadline; /* ms: when we lose patience */
    size_t asked;     /* bytes in request */
    size_t sent;      /* of head and body together */
    size_t head_size;
    struct wndl_bytes body; /* nothing for HEAD */
    char request[REQUEST_SIZE];
    char head[HEAD_SIZE]; /* of the answer; head_size 0: not asked yet */
};

struct work {
    const struct wndl_server *server;
    struct wndl_bytes page;
    struct client clients[CLIENTS];
};

static enum wndl_status failed(struct wndl_error *err, const char *what)
{
    return wndl_fail_errno(err, errno, "%s", what);
}

/* ms */
static int64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

/* ---- opening */

static bool make_token(char token[WNDL_SERVE_TOKEN + 1])
{
    uint8_t bytes[WNDL_SERVE_TOKEN / 2];
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
        return false;
    for (size_t i = 0; i < sizeof bytes; i++)
        snprintf(token + 2 * i, 3, "%02x", bytes[i]);
    return true;
}

static bool listen_on(struct wndl_server *server, uint16_t port)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET,
        .sin_port = htons(port),
        .sin_addr = {htonl(INADDR_LOOPBACK)},
    };
    socklen_t size = sizeof address;
    const int on = 1;
    server->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (server->fd < 0 ||
        setsockopt(server->fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
        bind(server->fd, (struct sockaddr *)&address, sizeof address) != 0 ||
        listen(server->fd, CLIENTS) != 0 ||
        getsockname(server->fd, (struct sockaddr *)&address, &size) != 0)
        return false;
    server->port = ntohs(address.sin_port);
    return true;
}

enum wndl_status wndl_server_open(
    struct wndl_server *server, uint16_t port, struct wndl_error *err)
{
    *server = (struct wndl_server){.fd = -1};
    if (!make_token(server->token))
        return failed(err, "no random numbers");
    if (!listen_on(server, port)) {
        char what[48];
        snprintf(what, sizeof what, "cannot listen on 127.0.0.1:%u", port);
        enum wndl_status status = failed(err, what);
        wndl_server_close(server);
        return status;
    }
    snprintf(server->url, sizeof server->url, "http://127.0.0.1:%u/%s/",
        server->port, server->token);
    return WNDL_OK;
}

void wndl_server_close(struct wndl_server *server)
{
    if (server->fd >= 0)
        close(server->fd);
    server->fd = -1;
}

/* ---- requests and answers */

/* Always compares all bytes, so that the time reveals nothing. */
static bool is_same(const char *a, const char *b, size_t size)
{
    unsigned differs = 0;
    for (size_t i = 0; i < size; i++)
        differs |= (unsigned char)a[i] ^ (unsigned char)b[i];
    return differs == 0;
}

/* The rest of a line that ends with CR LF, without blanks around it. */
static struct wndl_bytes rest_of_line(const char *at)
{
    size_t size = strcspn(at, "\r");
    size_t blank = strspn(at, " \t");
    at += blank;
    size -= blank;
    while (size > 0 && (at[size - 1] == ' ' || at[size - 1] == '\t'))
        size--;
    return (struct wndl_bytes){(const uint8_t *)at, size};
}

static bool names_us(const struct wndl_server *server, struct wndl_bytes host)
{
    static const char *const names[] = {"127.0.0.1", "localhost"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char text[24];
        snprintf(text, sizeof text, "%s:%u", names[i], server->port);
        if (wndl_bytes_is(host, text) ||
            (server->port == HTTP_PORT && wndl_bytes_is(host, names[i])))
            return true;
    }
    return false;
}

/* Whether there is one line for the host, and it names us. */
static bool is_for_us(const struct wndl_server *server, const char *request)
{
    static const char name[] = "\r\nHost:";
    const char *line = strcasestr(request, name);
    if (line == NULL)
        return false;
    const char *value = line + sizeof name - 1;
    return strcasestr(value, name) == NULL &&
           names_us(server, rest_of_line(value));
}

/* The last "/" may be missing: it is easily lost when the address is copied. */
static bool is_page(const struct wndl_server *server, const char *path)
{
    size_t size = strlen(path);
    bool ends = size == WNDL_SERVE_TOKEN + 1 ||
                (size == WNDL_SERVE_TOKEN + 2 && path[size - 1] == '/');
    return ends && path[0] == '/' &&
           is_same(path + 1, server->token, WNDL_SERVE_TOKEN);
}

enum answer { OK, BAD_REQUEST, NOT_FOR_US, NOT_FOUND, NOT_READ, TOO_LONG };

/* `request` is whole, and has no NUL inside; it is cut to pieces. */
static enum answer judge_request(
    const struct wndl_server *server, char *request)
{
    if (!is_for_us(server, request))
        return NOT_FOR_US;
    *strstr(request, "\r\n") = '\0';
    char *path = strchr(request, ' ');
    char *version = path == NULL ? NULL : strchr(path + 1, ' ');
    if (version == NULL || strncmp(version, " HTTP/1.", 8) != 0)
        return BAD_REQUEST;
    *path++ = '\0';
    *version = '\0';
    bool reads = strcmp(request, "GET") == 0 || strcmp(request, "HEAD") == 0;
    return !reads ? NOT_READ : is_page(server, path) ? OK : NOT_FOUND;
}

/* The page's own policy is stricter; this one holds without it. */
static const char headers[] =
    "Content-Security-Policy: default-src 'none'; script-src 'unsafe-inline'; "
    "style-src 'unsafe-inline'; img-src data:; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'\r\n"
    "Cache-Control: no-store\r\n"
    "X-Content-Type-Options: nosniff\r\n"
    "Referrer-Policy: no-referrer\r\n"
    "Cross-Origin-Resource-Policy: same-origin\r\n"
    "Cross-Origin-Opener-Policy: same-origin\r\n"
    "Connection: close\r\n";

/* Works also on a request that judge_request() has cut to pieces. */
static bool asks_for_head(const char *request)
{
    return strcspn(request, " ") == 4 && memcmp(request, "HEAD", 4) == 0;
}

static void answer(struct client *c, enum answer how, struct wndl_bytes page)
{
    static const struct {
        const char *status, *more;
    } texts[] = {
        [OK] = {"200 OK", ""},
        [BAD_REQUEST] = {"400 Bad Request", ""},
        [NOT_FOR_US] = {"403 Forbidden", ""},
        [NOT_FOUND] = {"404 Not Found", ""},
        [NOT_READ] = {"405 Method Not Allowed", "Allow: GET, HEAD\r\n"},
        [TOO_LONG] = {"431 Request Header Fields Too Large", ""},
    };
    const char *status = texts[how].status;
    c->body = how == OK ? page
                        : (struct wndl_bytes){
                              (const uint8_t *)status, strlen(status)};
    int size = snprintf(c->head, sizeof c->head,
        "HTTP/1.1 %s\r\nContent-Type: text/%s; charset=utf-8\r\n"
        "Content-Length: %zu\r\n%s%s\r\n",
        status, how == OK ? "html" : "plain", c->body.size, texts[how].more,
        headers);
    c->head_size = (size_t)size;
    if (asks_for_head(c->request))
        c->body.size = 0;
}

/* ---- clients */

static void hang_up(struct client *c)
{
    close(c->fd);
    c->fd = -1;
}

/* Bytes after the head are ignored: a request for a page has no body. */
static void look_at_request(struct work *w, struct client *c)
{
    c->request[c->asked] = '\0';
    char *end = strstr(c->request, "\r\n\r\n");
    if (memchr(c->request, '\0', c->asked) != NULL)
        answer(c, BAD_REQUEST, w->page);
    else if (end != NULL) {
        end[2] = '\0';
        answer(c, judge_request(w->server, c->request), w->page);
    } else if (c->asked == sizeof c->request - 1)
        answer(c, TOO_LONG, w->page);
}

/* The deadline is not extended: real clients send a request at once. */
static void read_request(struct work *w, struct client *c)
{
    ssize_t size = recv(c->fd, c->request + c->asked,
        sizeof c->request - 1 - c->asked, MSG_DONTWAIT);
    if (size < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (size <= 0) {
        hang_up(c);
        return;
    }
    c->asked += (size_t)size;
    look_at_request(w, c);
    if (c->head_size != 0)
        c->deadline = now() + PATIENCE;
}

/* Continues the answer. */
static struct wndl_bytes still_to_send(const struct client *c)
{
    if (c->sent < c->head_size)
        return (struct wndl_bytes){
            (const uint8_t *)c->head + c->sent, c->head_size - c->sent};
    size_t sent = c->sent - c->head_size;
    return (struct wndl_bytes){c->body.data + sent, c->body.size - sent};
}

/*
 * Sends the next part of the answer. After the last one only our side is shut:
 * a close would reset a client that still sends, which then loses the answer.
 */
static void send_answer(struct client *c)
{
    struct wndl_bytes part = still_to_send(c);
    ssize_t size =
        send(c->fd, part.data, part.size, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (size < 0 && errno != EAGAIN && errno != EINTR) {
        hang_up(c);
        return;
    }
    if (size <= 0)
        return;
    c->sent += (size_t)size;
    c->deadline = now() + PATIENCE;
    if (c->sent == c->head_size + c->body.size)
        shutdown(c->fd, SHUT_WR);
}

static bool is_answered(const struct client *c)
{
    return c->head_size != 0 && c->sent == c->head_size + c->body.size;
}

static void wait_for_end(struct client *c)
{
    ssize_t size = recv(c->fd, c->request, sizeof c->request, MSG_DONTWAIT);
    if (size == 0 || (size < 0 && errno != EAGAIN && errno != EINTR))
        hang_up(c);
}

static void serve_client(struct work *w, struct client *c)
{
    if (c->head_size == 0)
        read_request(w, c);
    else if (!is_answered(c))
        send_answer(c);
    else
        wait_for_end(c);
}

/* A free place, or that of the client with the earliest deadline. */
static struct client *find_place(struct work *w)
{
    struct client *first = &w->clients[0];
    for (size_t i = 0; i < CLIENTS; i++) {
        struct client *c = &w->clients[i];
        if (c->fd < 0)
            return c;
        if (c->deadline < first->deadline)
            first = c;
    }
    hang_up(first);
    return first;
}

static void accept_client(struct work *w)
{
    int fd = accept4(w->server->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0)
        return;
    if (!wndl_peer_is_ours(fd)) {
        close(fd);
        return;
    }
    struct client *c = find_place(w);
    c->fd = fd;
    c->asked = c->sent = c->head_size = 0;
    c->deadline = now() + PATIENCE;
}

static void send_away(struct work *w)
{
    int64_t time = now();
    for (size_t i = 0; i < CLIENTS; i++) {
        if (w->clients[i].fd >= 0 && w->clients[i].deadline < time)
            hang_up(&w->clients[i]);
    }
}

/* ---- running */

enum { STOP, LISTEN, FIRST_CLIENT, FDS = FIRST_CLIENT + CLIENTS };

static void what_to_wait_for(
    const struct work *w, int stop, struct pollfd fds[FDS])
{
    fds[STOP] = (struct pollfd){.fd = stop, .events = POLLIN};
    fds[LISTEN] = (struct pollfd){.fd = w->server->fd, .events = POLLIN};
    for (size_t i = 0; i < CLIENTS; i++) {
        const struct client *c = &w->clients[i];
        bool sends = c->head_size != 0 && !is_answered(c);
        fds[FIRST_CLIENT + i] =
            (struct pollfd){.fd = c->fd, .events = sends ? POLLOUT : POLLIN};
    }
}

static enum wndl_status run_server(
    struct work *w, int stop, struct wndl_error *err)
{
    const int second = 1000;
    struct pollfd fds[FDS];
    for (;;) {
        what_to_wait_for(w, stop, fds);
        if (poll(fds, FDS, second) < 0 && errno != EINTR)
            return failed(err, "poll");
        if (fds[STOP].revents != 0)
            return WNDL_OK;
        for (size_t i = 0; i < CLIENTS; i++) {
            if (fds[FIRST_CLIENT + i].revents != 0)
                serve_client(w, &w->clients[i]);
        }
        if (fds[LISTEN].revents != 0)
            accept_client(w);
        send_away(w);
    }
}

enum wndl_status wndl_server_run(struct wndl_server *server,
    struct wndl_bytes page, int stop, struct wndl_error *err)
{
    static struct work w; /* too large for some stacks */
    w = (struct work){.server = server, .page = page};
    for (size_t i = 0; i < CLIENTS; i++)
        w.clients[i].fd = -1;
    enum wndl_status status = run_server(&w, stop, err);
    for (size_t i = 0; i < CLIENTS; i++) {
        if (w.clients[i].fd >= 0)
            hang_up(&w.clients[i]);
    }
    return status;
}
