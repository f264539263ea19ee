/* SPDX-License-Identifier: MIT */
/*
 * Memory reporters for redis-server 7.0: the keys and values of its databases,
 * their tables, and clients. Redis works on all of that in one thread, so the
 * reporters run where it polls. server.c includes this file (redis.patch).
 *
 * $REPORTS: "without" leaves the values of hashes out, "twice" measures
 * the keys twice.
 */
#include "server.h"

#include <windlass/memory.h>

static int is_without, is_twice; /* set once */

static size_t size_of_sds(sds s)
{
    return s == NULL ? 0 : wndl_memory_size_of(sdsAllocPtr(s));
}

/* The tables of a dict, and its entries; what these refer to by `more`. */
static size_t size_of_dict(dict *d, size_t (*more)(dictEntry *entry))
{
    size_t size = wndl_memory_size_of(d);
    for (int i = 0; d != NULL && i < 2; i++) {
        size += wndl_memory_size_of(d->ht_table[i]);
        for (unsigned long k = 0; k < DICTHT_SIZE(d->ht_size_exp[i]); k++) {
            for (dictEntry *e = d->ht_table[i][k]; e != NULL; e = e->next)
                size += wndl_memory_size_of(e) + (more == NULL ? 0 : more(e));
        }
    }
    return size;
}

static size_t size_of_key(dictEntry *entry)
{
    return size_of_sds(dictGetKey(entry));
}

static size_t size_of_both(dictEntry *entry)
{
    return size_of_key(entry) + size_of_sds(dictGetVal(entry));
}

static size_t size_of_list(quicklist *list)
{
    size_t size = wndl_memory_size_of(list);
    for (quicklistNode *node = list->head; node != NULL; node = node->next)
        size += wndl_memory_size_of(node) + wndl_memory_size_of(node->entry);
    return size;
}

/* The members belong to the dict and the list together: they are one block. */
static size_t size_of_zset(zset *zs)
{
    size_t size = wndl_memory_size_of(zs) + size_of_dict(zs->dict, NULL) +
                  wndl_memory_size_of(zs->zsl);
    zskiplistNode *node = zs->zsl->header;
    for (; node != NULL; node = node->level[0].forward)
        size += wndl_memory_size_of(node) + size_of_sds(node->ele);
    return size;
}

static size_t size_of_contents(robj *o)
{
    switch (o->encoding) {
    case OBJ_ENCODING_RAW:
        return size_of_sds(o->ptr);
    case OBJ_ENCODING_QUICKLIST:
        return size_of_list(o->ptr);
    case OBJ_ENCODING_SKIPLIST:
        return size_of_zset(o->ptr);
    case OBJ_ENCODING_HT:
        return size_of_dict(
            o->ptr, o->type == OBJ_HASH ? size_of_both : size_of_key);
    case OBJ_ENCODING_LISTPACK:
    case OBJ_ENCODING_INTSET:
        return wndl_memory_size_of(o->ptr);
    default: /* in the object itself */
        return 0;
    }
}

static size_t sizes[OBJ_HASH + 1], keys;

/* Shared integers belong to nobody here. */
static size_t size_of_entry(dictEntry *entry)
{
    robj *o = dictGetVal(entry);
    keys += size_of_sds(dictGetKey(entry));
    if (is_twice)
        keys += size_of_sds(dictGetKey(entry));
    if (o->refcount == OBJ_SHARED_REFCOUNT || o->type > OBJ_HASH ||
        (is_without && o->type == OBJ_HASH))
        return 0;
    sizes[o->type] += wndl_memory_size_of(o) + size_of_contents(o);
    return 0;
}

static void put(struct wndl_memory_sink *sink, const char *path, size_t size,
    const char *description)
{
    wndl_memory_yield_bytes(
        sink, path, WNDL_MEMORY_HEAP, (int64_t)size, description);
}

static void report_databases(struct wndl_memory_sink *sink, void *data)
{
    size_t tables = 0, expires = 0;
    UNUSED(data);
    memset(sizes, 0, sizeof sizes);
    keys = 0;
    for (int i = 0; i < server.dbnum; i++) {
        tables += size_of_dict(server.db[i].dict, size_of_entry);
        expires += size_of_dict(server.db[i].expires, NULL);
    }
    put(sink, "explicit/databases/keys", keys, "Names of keys.");
    put(sink, "explicit/databases/tables", tables, "Tables and their entries.");
    put(sink, "explicit/databases/expires", expires, "When keys expire.");
    put(sink, "explicit/databases/strings", sizes[OBJ_STRING], "Strings.");
    put(sink, "explicit/databases/lists", sizes[OBJ_LIST], "Lists.");
    put(sink, "explicit/databases/sets", sizes[OBJ_SET], "Sets.");
    put(sink, "explicit/databases/sorted sets", sizes[OBJ_ZSET],
        "Sorted sets.");
    put(sink, "explicit/databases/hashes", sizes[OBJ_HASH], "Hashes.");
}

static void report_clients(struct wndl_memory_sink *sink, void *data)
{
    size_t size = 0;
    listIter li;
    listNode *ln;
    UNUSED(data);
    listRewind(server.clients, &li);
    while ((ln = listNext(&li)) != NULL) {
        client *c = listNodeValue(ln);
        size += wndl_memory_size_of(ln) + wndl_memory_size_of(c) +
                wndl_memory_size_of(c->buf) + size_of_sds(c->querybuf);
    }
    put(sink, "explicit/clients", size, "Connections and their buffers.");
}

static size_t size_of_command(dictEntry *entry)
{
    struct redisCommand *command = dictGetVal(entry);
    size_t size = size_of_sds(dictGetKey(entry));
    if (command->subcommands_dict != NULL)
        size += size_of_dict(command->subcommands_dict, size_of_key);
    return size;
}

static void report_commands(struct wndl_memory_sink *sink, void *data)
{
    UNUSED(data);
    put(sink, "explicit/commands",
        size_of_dict(server.commands, size_of_command),
        "The table of commands.");
}

static struct wndl_memory_reporter reporters[] = {
    WNDL_MEMORY_REPORTER(
        "databases", report_databases, NULL, WNDL_MEMORY_POLLED),
    WNDL_MEMORY_REPORTER("clients", report_clients, NULL, WNDL_MEMORY_POLLED),
    WNDL_MEMORY_REPORTER("commands", report_commands, NULL, WNDL_MEMORY_POLLED),
};

static void registerMemoryReporters(void)
{
    const char *wish = getenv("REPORTS");
    is_without = wish != NULL && strcmp(wish, "without") == 0;
    is_twice = wish != NULL && strcmp(wish, "twice") == 0;
    for (size_t i = 0; i < sizeof reporters / sizeof reporters[0]; i++)
        wndl_memory_register(&reporters[i]);
}
