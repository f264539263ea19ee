/* SPDX-License-Identifier: MIT */
/*
 * Memory reporters for CPython 3.11, as the built-in module windlass_reports:
 * its poll() lets them run, with the lock of the interpreter.
 *
 * Small objects, of up to 512 bytes, are in arenas, which are mappings: of those
 * sys._debugmallocstats() prints how full they are. Everything larger is a block
 * of malloc. These are measured by following all references from the objects
 * that the garbage collector knows; each object is visited once.
 *
 * $REPORTS: "own" yields what sys._debugmallocstats() says, and no more;
 * "without" leaves the tables of dicts out; "twice" visits strings as often as
 * something refers to them.
 */
#define Py_BUILD_CORE 1
#include "Python.h"
#include "internal/pycore_dict.h"
#include "internal/pycore_interp.h"
#include "internal/pycore_object.h"
#include "internal/pycore_pystate.h"

#include <windlass/memory.h>

#include <sys/mman.h>

enum { SMALL = 512 }; /* the largest request that is served by an arena */

static const char *wish = "";

static int is_wish(const char *name)
{
    return strcmp(wish, name) == 0;
}

static void put(struct wndl_memory_sink *sink, enum wndl_memory_kind kind,
    const char *path, int64_t size, const char *description)
{
    wndl_memory_yield_bytes(sink, path, kind, size, description);
}

/* ---- arenas: what sys._debugmallocstats() prints */

static int64_t value_of(const char *line)
{
    int64_t value = 0;
    for (const char *c = strchr(line, '='); c != NULL && *c != '\0'; c++)
        if (*c >= '0' && *c <= '9')
            value = 10 * value + (*c - '0');
    return value;
}

static void add_line(const char *line, int64_t sums[3])
{
    if (strstr(line, "# bytes in allocated blocks") != NULL)
        sums[0] += value_of(line);
    if (strstr(line, "# bytes in available blocks") != NULL ||
        strstr(line, "unused pools * ") != NULL)
        sums[1] += value_of(line);
    if (strstr(line, "# bytes lost to pool headers") != NULL ||
        strstr(line, "# bytes lost to quantization") != NULL ||
        strstr(line, "# bytes lost to arena alignment") != NULL)
        sums[2] += value_of(line);
}

static void report_arenas(struct wndl_memory_sink *sink, void *data)
{
    static char text[16384]; /* the reporter holds the interpreter's lock */
    int64_t sums[3] = {0, 0, 0};
    FILE *file = fmemopen(text, sizeof text, "w");
    (void)data;
    if (file == NULL)
        return;
    _PyObject_DebugMallocStats(file);
    fclose(file);
    for (char *rest = NULL, *line = strtok_r(text, "\n", &rest); line != NULL;
         line = strtok_r(NULL, "\n", &rest))
        add_line(line, sums);
    put(sink, WNDL_MEMORY_NONHEAP, "explicit/python/arenas/objects", sums[0],
        "Objects of at most 512 bytes.");
    put(sink, WNDL_MEMORY_NONHEAP, "explicit/python/arenas/unused", sums[1],
        "Free blocks of arenas.");
    put(sink, WNDL_MEMORY_NONHEAP, "explicit/python/arenas/overhead", sums[2],
        "Headers of pools, and what is left over in them.");
}

/* ---- what has been visited: addresses, in a mapping of our own */

struct visited {
    uintptr_t *slots; /* 0: free */
    size_t count;     /* of slots, a power of 2 */
    size_t used;
};

static int open_visited(struct visited *v, size_t count)
{
    v->count = count;
    v->used = 0;
    v->slots = mmap(NULL, count * sizeof *v->slots, PROT_READ | PROT_WRITE,
        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return v->slots != MAP_FAILED;
}

static void close_visited(struct visited *v)
{
    munmap(v->slots, v->count * sizeof *v->slots);
}

static int is_new(struct visited *v, const void *address);

static int grow(struct visited *v)
{
    struct visited next;
    if (!open_visited(&next, 2 * v->count))
        return 0;
    for (size_t i = 0; i < v->count; i++)
        if (v->slots[i] != 0)
            is_new(&next, (const void *)v->slots[i]);
    close_visited(v);
    *v = next;
    return 1;
}

/* Adds it. Without memory nothing more is new. */
static int is_new(struct visited *v, const void *address)
{
    size_t i = ((uintptr_t)address >> 4) * 0x9e3779b97f4a7c15U;
    if (2 * v->used >= v->count && !grow(v))
        return 0;
    for (i &= v->count - 1; v->slots[i] != 0; i = (i + 1) & (v->count - 1))
        if (v->slots[i] == (uintptr_t)address)
            return 0;
    v->slots[i] = (uintptr_t)address;
    v->used++;
    return 1;
}

/* ---- objects */

/* A run: bytes of blocks by what they are, and objects yet to be followed. */
struct run {
    struct visited visited;
    int64_t objects, lists, dicts, sets, strings;
    PyObject **waiting;
    size_t waits, room;
};

/* Of a part that was requested with so many bytes. */
static int64_t size_of(struct run *run, const void *block, size_t requested)
{
    if (block == NULL || requested <= SMALL || !is_new(&run->visited, block))
        return 0;
    return (int64_t)wndl_memory_size_of(block);
}

/* In the program's data: types, and what was frozen when Python was built. */
static int is_static(PyObject *o)
{
    return Py_REFCNT(o) > 500000000 ||
           (PyType_Check(o) &&
               !(((PyTypeObject *)o)->tp_flags & Py_TPFLAGS_HEAPTYPE));
}

static void measure_string(struct run *run, PyObject *o)
{
    const size_t head = PyUnicode_IS_ASCII(o) ? sizeof(PyASCIIObject)
                                              : sizeof(PyCompactUnicodeObject);
    const size_t text =
        (size_t)(PyUnicode_GET_LENGTH(o) + 1) * (size_t)PyUnicode_KIND(o);
    if (!PyUnicode_IS_COMPACT(o))
        return;
    if (is_wish("twice") && head + text > SMALL)
        run->strings += (int64_t)wndl_memory_size_of(o);
    else
        run->strings += size_of(run, o, head + text);
}

static void measure_dict(struct run *run, PyDictObject *dict)
{
    if (!is_wish("without"))
        run->dicts += size_of(
            run, dict->ma_keys, (size_t)_PyDict_KeysSize(dict->ma_keys));
}

static void measure_set(struct run *run, PySetObject *set)
{
    if (set->table != set->smalltable)
        run->sets += size_of(
            run, set->table, (size_t)(set->mask + 1) * sizeof *set->table);
}

/* The object itself. What the collector keeps of it comes before it. */
static void measure_object(struct run *run, PyObject *o)
{
    PyTypeObject *type = Py_TYPE(o);
    const size_t before = _PyType_PreHeaderSize(type);
    size_t size = before + (size_t)type->tp_basicsize;
    if (type->tp_itemsize != 0)
        size += (size_t)Py_ABS(Py_SIZE(o)) * (size_t)type->tp_itemsize;
    run->objects += size_of(run, (char *)o - before, size);
}

static void measure(struct run *run, PyObject *o)
{
    if (is_static(o))
        return;
    if (PyUnicode_CheckExact(o)) {
        measure_string(run, o);
        return;
    }
    measure_object(run, o);
    if (PyList_Check(o))
        run->lists += size_of(run, ((PyListObject *)o)->ob_item,
            (size_t)((PyListObject *)o)->allocated * sizeof(PyObject *));
    else if (PyDict_Check(o))
        measure_dict(run, (PyDictObject *)o);
    else if (PyAnySet_Check(o))
        measure_set(run, (PySetObject *)o);
}

/* ---- references */

static int wait_for(PyObject *o, void *context)
{
    struct run *run = context;
    /* Strings have an entry only if they are blocks: it is made later. */
    if (o == NULL ||
        (!PyUnicode_CheckExact(o) && !is_new(&run->visited, (char *)o + 1)))
        return 0;
    if (run->waits == run->room)
        return 0;
    run->waiting[run->waits++] = o;
    return 0;
}

static void follow(struct run *run)
{
    while (run->waits > 0) {
        PyObject *o = run->waiting[--run->waits];
        measure(run, o);
        if (PyCode_Check(o)) { /* which the collector does not follow */
            wait_for(((PyCodeObject *)o)->co_consts, run);
            wait_for(((PyCodeObject *)o)->co_linetable, run);
            wait_for(((PyCodeObject *)o)->co_localsplusnames, run);
        }
        if (Py_TYPE(o)->tp_traverse != NULL && _PyObject_IS_GC(o))
            Py_TYPE(o)->tp_traverse(o, wait_for, run);
    }
}

static void follow_generation(struct run *run, PyGC_Head *head)
{
    for (PyGC_Head *g = _PyGCHead_NEXT(head); g != head;
         g = _PyGCHead_NEXT(g)) {
        wait_for((PyObject *)(g + 1), run);
        follow(run);
    }
}

static int begin(struct run *run)
{
    memset(run, 0, sizeof *run);
    run->room = 16 << 20; /* only what is used becomes real */
    run->waiting =
        mmap(NULL, run->room * sizeof *run->waiting, PROT_READ | PROT_WRITE,
            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return run->waiting != MAP_FAILED && open_visited(&run->visited, 1 << 20);
}

static void report_objects(struct wndl_memory_sink *sink, void *data)
{
    struct _gc_runtime_state *gc = &_PyInterpreterState_GET()->gc;
    struct run run;
    (void)data;
    if (!begin(&run))
        return;
    for (int i = 0; i < NUM_GENERATIONS; i++)
        follow_generation(&run, &gc->generations[i].head);
    follow_generation(&run, &gc->permanent_generation.head);
    munmap(run.waiting, run.room * sizeof *run.waiting);
    close_visited(&run.visited);
    put(sink, WNDL_MEMORY_HEAP, "explicit/python/heap/lists", run.lists,
        "What lists refer to.");
    put(sink, WNDL_MEMORY_HEAP, "explicit/python/heap/dicts", run.dicts,
        "Tables of dicts.");
    put(sink, WNDL_MEMORY_HEAP, "explicit/python/heap/sets", run.sets,
        "Tables of sets.");
    put(sink, WNDL_MEMORY_HEAP, "explicit/python/heap/strings", run.strings,
        "Strings.");
    put(sink, WNDL_MEMORY_HEAP, "explicit/python/heap/objects", run.objects,
        "Other objects of more than 512 bytes.");
}

/* ---- the module */

static struct wndl_memory_reporter arenas =
    WNDL_MEMORY_REPORTER("arenas", report_arenas, NULL, WNDL_MEMORY_POLLED);
static struct wndl_memory_reporter objects =
    WNDL_MEMORY_REPORTER("objects", report_objects, NULL, WNDL_MEMORY_POLLED);

static PyObject *poll_here(PyObject *self, PyObject *none)
{
    (void)self;
    (void)none;
    wndl_memory_poll();
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"poll", poll_here, METH_NOARGS, "Lets memory reporters run."},
    {NULL, NULL, 0, NULL}};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "windlass_reports",
    NULL, -1, methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit_windlass_reports(void)
{
    if (getenv("REPORTS") != NULL)
        wish = getenv("REPORTS");
    wndl_memory_register(&arenas);
    if (!is_wish("own"))
        wndl_memory_register(&objects);
    return PyModule_Create(&module);
}
