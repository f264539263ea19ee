/* SPDX-License-Identifier: MIT */
#include "rt/core/environment.h"

#include "rec/shm.h"
#include "rt/core/variable.h"

#include <string.h>
#include <sys/un.h>

enum {
    ENTRY_MAX = 4096,
    /* The stack may be small: a larger environment is not changed. */
    ROOM_MAX = 128 * 1024,
};

static const char PRELOAD[] = "LD_PRELOAD=";
static const char SESSION[] = WNDL_SESSION_ENV "=";
/* With and without malloc's hooks. The one that was preloaded stays so. */
static const char *const OBJECTS[] = {
    "/libwindlass-rt.so", "/libwindlass-heap.so"};

static char entry[ENTRY_MAX];
static size_t entry_size; /* 0: not known */
static char session_variable[sizeof SESSION +
                             sizeof((struct sockaddr_un *)NULL)->sun_path];

/* ld.so(8): entries end at a colon or a space. */
static size_t entry_length(const char *list)
{
    size_t size = 0;
    while (list[size] != '\0' && list[size] != ':' && list[size] != ' ')
        size++;
    return size;
}

/* The next entry, NULL after the last. */
static const char *next_entry(const char *list)
{
    list += entry_length(list);
    return *list == '\0' ? NULL : list + 1;
}

static bool is_our_object(const char *text, size_t size)
{
    for (size_t i = 0; i < sizeof OBJECTS / sizeof OBJECTS[0]; i++) {
        size_t name = strlen(OBJECTS[i]);
        if (size >= name && size < ENTRY_MAX &&
            memcmp(text + size - name, OBJECTS[i], name) == 0)
            return true;
    }
    return false;
}

void wndl_rt_environment_start(char *const environment[])
{
    const char *list = wndl_rt_variable(environment, PRELOAD);
    for (; list != NULL; list = next_entry(list)) {
        size_t size = entry_length(list);
        if (!is_our_object(list, size))
            continue;
        memcpy(entry, list, size);
        entry_size = size;
        return;
    }
}

const char *wndl_rt_environment_join(const char *session)
{
    size_t size = strlen(session);
    if (size >= sizeof session_variable - sizeof SESSION)
        return NULL;
    memcpy(session_variable, SESSION, sizeof SESSION - 1);
    memcpy(session_variable + sizeof SESSION - 1, session, size + 1);
    return session_variable + sizeof SESSION - 1;
}

char *wndl_rt_environment_session(void)
{
    return session_variable;
}

static bool preloads_us(const char *list)
{
    for (; list != NULL; list = next_entry(list)) {
        if (entry_length(list) == entry_size &&
            memcmp(list, entry, entry_size) == 0)
            return true;
    }
    return false;
}

static void find_preload(
    char *const environment[], struct wndl_rt_addition *addition)
{
    size_t at = 0;
    while (
        at < addition->count && !wndl_rt_variable_is(environment[at], PRELOAD))
        at++;
    addition->preload_at = at;
    if (at < addition->count)
        addition->list = environment[at] + sizeof PRELOAD - 1;
    if (entry_size == 0 || preloads_us(addition->list))
        return;
    addition->preload = true;
    addition->list_size = addition->list == NULL ? 0 : strlen(addition->list);
}

struct wndl_rt_addition wndl_rt_environment_lacks(char *const environment[])
{
    struct wndl_rt_addition addition = {0};
    if (session_variable[0] == '\0')
        return addition;
    while (environment != NULL && environment[addition.count] != NULL)
        addition.count++;
    addition.session = true;
    for (size_t i = 0; i < addition.count && addition.session; i++)
        addition.session = !wndl_rt_variable_is(environment[i], SESSION);
    find_preload(environment, &addition);
    if (!addition.session && !addition.preload)
        return addition;
    /* Both variables and the NULL may be new. */
    addition.size = (addition.count + 3) * sizeof *environment;
    if (addition.preload)
        addition.size += sizeof PRELOAD + entry_size + 1 + addition.list_size;
    if (addition.size > ROOM_MAX)
        addition.size = 0;
    return addition;
}

/* "LD_PRELOAD=" with our object before the program's own list. */
static void write_preload(char *to, const struct wndl_rt_addition *addition)
{
    memcpy(to, PRELOAD, sizeof PRELOAD - 1);
    to += sizeof PRELOAD - 1;
    memcpy(to, entry, entry_size);
    to += entry_size;
    if (addition->list_size != 0) {
        *to++ = ':';
        memcpy(to, addition->list, addition->list_size);
        to += addition->list_size;
    }
    *to = '\0';
}

/* Another thread may change the environment meanwhile: nothing is recounted. */
char *const *wndl_rt_environment_add(char *const environment[],
    const struct wndl_rt_addition *addition, void *room)
{
    char **to = room;
    size_t count = 0;
    for (size_t i = 0; i < addition->count && environment[i] != NULL; i++) {
        if (!addition->preload || i != addition->preload_at)
            to[count++] = environment[i];
    }
    if (addition->session)
        to[count++] = session_variable;
    if (addition->preload) {
        char *text = (char *)(to + addition->count + 3);
        write_preload(text, addition);
        to[count++] = text;
    }
    to[count] = NULL;
    return to;
}
