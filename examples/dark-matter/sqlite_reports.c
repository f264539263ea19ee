/* SPDX-License-Identifier: MIT */
/*
 * Memory reporters for SQLite 3.40, and a program that fills a
 * database in memory and waits for a byte. SQLite asks for the size of a block
 * by SQLITE_MALLOCSIZE, which is the function below, and it can do all that it
 * does to free something without freeing it, to add up sizes
 * (sqlite3_db_status()): so most structures are traversed by SQLite itself.
 * Reporters take the lock of the connection and run on any thread.
 *
 * $REPORTS: "own" yields what sqlite3_db_status() says; "without" leaves
 * the statements out; "twice" measures indexes by their table and by their name.
 */
#include <windlass/memory.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t measured; /* by reporters, which hold a lock */

static int size_of_block(void *block)
{
    const size_t size = wndl_memory_size_of(block);
    measured += size;
    return (int)size;
}

#define SQLITE_MALLOCSIZE size_of_block
#include "sqlite3.c"

static void measure(void *block)
{
    if (block != NULL)
        size_of_block(block);
}

/* What was measured since the last call. */
static int64_t take(void)
{
    const size_t bytes = measured;
    measured = 0;
    return (int64_t)bytes;
}

static int own(sqlite3 *db, int what)
{
    int now = 0, most = 0;
    sqlite3_db_status(db, what, &now, &most, 0);
    return now;
}

/* ---- pages */

static void measure_cache(sqlite3_pcache *pages)
{
    PCache1 *cache = (PCache1 *)pages;
    measure(cache);
    measure(cache->apHash);
    measure(cache->pBulk);
    for (unsigned i = 0; i < cache->nHash; i++) {
        for (PgHdr1 *page = cache->apHash[i]; page != NULL; page = page->pNext)
            if (!page->isBulkLocal)
                measure(page->page.pBuf);
    }
}

static void measure_file(Btree *tree)
{
    Pager *pager = tree->pBt->pPager;
    measure(tree);
    measure(tree->pBt);
    measure(pager);
    measure(pager->pTmpSpace);
    if (tree->pBt->pTmpSpace != NULL)
        measure(tree->pBt->pTmpSpace - 4); /* its block begins there */
}

/* ---- the schema */

/* SQLite computes the sizes of these. */
static void measure_entries(const Hash *hash)
{
    for (HashElem *e = hash->first; e != NULL; e = e->next)
        measure(e);
}

static void measure_schema(sqlite3 *db, const Schema *schema, int is_twice)
{
    measure_entries(&schema->tblHash);
    measure_entries(&schema->idxHash);
    measure_entries(&schema->trigHash);
    measure_entries(&schema->fkeyHash);
    if (!is_twice)
        return;
    for (HashElem *e = schema->idxHash.first; e != NULL; e = e->next)
        measure(e->data);
}

/* ---- statements */

/* Instructions share them. */
static int is_earlier(const Vdbe *v, int at)
{
    int i = 0;
    while (i < at && v->aOp[i].p4.p != v->aOp[at].p4.p)
        i++;
    return i < at;
}

/* SQLite leaves these out. Some are no blocks, but within the lookaside. */
static void measure_keys(const Vdbe *v)
{
    for (int i = 0; i < v->nOp; i++)
        if (v->aOp[i].p4type == P4_KEYINFO && !is_earlier(v, i) &&
            !isLookaside(v->db, v->aOp[i].p4.p))
            measure(v->aOp[i].p4.p);
}

/* ---- the reporters */

static const char *wish = "";

static void put(struct wndl_memory_sink *sink, const char *path, int64_t size,
    const char *t)
{
    wndl_memory_yield_bytes(sink, path, WNDL_MEMORY_HEAP, size, t);
}

static void put_own(struct wndl_memory_sink *sink, sqlite3 *db)
{
    put(sink, "explicit/sqlite/cache", own(db, SQLITE_DBSTATUS_CACHE_USED),
        "SQLITE_DBSTATUS_CACHE_USED.");
    put(sink, "explicit/sqlite/schema", own(db, SQLITE_DBSTATUS_SCHEMA_USED),
        "SQLITE_DBSTATUS_SCHEMA_USED.");
    put(sink, "explicit/sqlite/statements", own(db, SQLITE_DBSTATUS_STMT_USED),
        "SQLITE_DBSTATUS_STMT_USED.");
}

static void put_files(struct wndl_memory_sink *sink, sqlite3 *db)
{
    for (int i = 0; i < db->nDb; i++)
        if (db->aDb[i].pBt != NULL)
            measure_cache(db->aDb[i].pBt->pBt->pPager->pPCache->pCache);
    put(sink, "explicit/sqlite/cache", take(), "Pages.");
    for (int i = 0; i < db->nDb; i++)
        if (db->aDb[i].pBt != NULL)
            measure_file(db->aDb[i].pBt);
    put(sink, "explicit/sqlite/files", take(), "Trees and pagers.");
}

static void put_schemas(struct wndl_memory_sink *sink, sqlite3 *db)
{
    own(db, SQLITE_DBSTATUS_SCHEMA_USED);
    for (int i = 0; i < db->nDb; i++)
        measure_schema(db, db->aDb[i].pSchema, strcmp(wish, "twice") == 0);
    put(sink, "explicit/sqlite/schema", take(), "Tables and indexes.");
}

static void put_statements(struct wndl_memory_sink *sink, sqlite3 *db)
{
    own(db, SQLITE_DBSTATUS_STMT_USED);
    for (const Vdbe *v = db->pVdbe; v != NULL; v = v->pVNext)
        measure_keys(v);
    put(sink, "explicit/sqlite/statements", take(), "Prepared statements.");
}

static void put_connection(struct wndl_memory_sink *sink, sqlite3 *db)
{
    measure(db);
    measure(db->lookaside.pStart);
    put(sink, "explicit/sqlite/connection", take(), "And its lookaside.");
}

static void report(struct wndl_memory_sink *sink, void *data)
{
    sqlite3 *db = data;
    sqlite3_mutex_enter(db->mutex);
    take();
    if (strcmp(wish, "own") == 0) {
        put_own(sink, db);
    } else {
        put_files(sink, db);
        put_schemas(sink, db);
        if (strcmp(wish, "without") != 0)
            put_statements(sink, db);
        put_connection(sink, db);
    }
    sqlite3_mutex_leave(db->mutex);
}

/* ---- the program */

static sqlite3 *database;

static void run(const char *sql)
{
    if (sqlite3_exec(database, sql, NULL, NULL, NULL) != SQLITE_OK) {
        fprintf(stderr, "%s: %s\n", sql, sqlite3_errmsg(database));
        exit(1);
    }
}

static void make_table(int number)
{
    char sql[400];
    snprintf(sql, sizeof sql,
        "CREATE TABLE customers_%d(number INTEGER PRIMARY KEY, first_name, "
        "last_name, street, city, country, telephone, birthday, remarks);"
        "CREATE INDEX by_name_%d ON customers_%d(last_name, first_name);"
        "CREATE INDEX by_city_%d ON customers_%d(country, city, street);",
        number, number, number, number, number);
    run(sql);
}

/* A statement that stays prepared. */
static void prepare(int number)
{
    char sql[300];
    sqlite3_stmt *statement;
    snprintf(sql, sizeof sql,
        "SELECT c.number, c.city FROM customers_%d c JOIN customers_0 d "
        "ON c.last_name = d.last_name WHERE c.country = ?1 AND d.city > ?2 "
        "ORDER BY c.birthday, d.street LIMIT 10",
        number);
    if (sqlite3_prepare_v2(database, sql, -1, &statement, NULL) != SQLITE_OK)
        exit(1);
}

int main(void)
{
    static struct wndl_memory_reporter reporter =
        WNDL_MEMORY_REPORTER("sqlite", report, NULL, WNDL_MEMORY_ANY_THREAD);
    sigset_t end;
    int got;
    sigemptyset(&end);
    sigaddset(&end, SIGTERM);
    sigprocmask(SIG_BLOCK, &end, NULL);
    if (getenv("REPORTS") != NULL)
        wish = getenv("REPORTS");
    if (sqlite3_open(":memory:", &database) != SQLITE_OK)
        return 1;
    run("BEGIN");
    for (int i = 0; i < 200; i++)
        make_table(i);
    run("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE "
        "i < 60000) INSERT INTO customers_0 SELECT i, 'first ' || i, 'last ' "
        "|| i % 999, 'street ' || i, 'city ' || i % 99, 'country', i, i, "
        "hex(zeroblob(50)) FROM n");
    run("COMMIT");
    for (int i = 0; i < 200; i++)
        prepare(i);
    reporter.data = database;
    wndl_memory_register(&reporter);
    printf("%d\n", (int)getpid());
    fflush(stdout);
    return sigwait(&end, &got);
}
