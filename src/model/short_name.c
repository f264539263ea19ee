/* SPDX-License-Identifier: MIT */
/*
 * short_name: one pass copies the name, respells it and notes its brackets.
 * Then contents of brackets are dropped until it is short enough.
 *
 * The text before a '<' decides whether it is a bracket: C++ has operators with
 * it, expressions in template arguments, and compilers' words for lambdas; Rust
 * begins names with it.
 */
#include "model/short_name.h"

#include "base/text.h"
#include "base/vec.h"

#include <string.h>

enum { MAX_DEPTH = 64, MAX_LISTS = 1024, NONE = UINT32_MAX };

/* Bytes: of the dots for dropped contents, and of contents that are kept. */
enum { DOTS = 3, SHORT = 5 };

/* In the order in which they are dropped. */
enum kind { ARGUMENTS, PARAMETERS, KEPT };

/* A pair of brackets. Offsets are into the copied text. */
struct list {
    size_t open, close;
    size_t comma;     /* before the current argument; `open` for the first */
    size_t first_end; /* end of the first argument */
    size_t defaults;  /* arguments after it are default ones; 0: none */
    size_t shown;     /* bytes between the brackets that are left */
    uint32_t parent;  /* index, NONE at the top */
    uint32_t depth;
    enum kind kind;
    bool of_std; /* arguments of a template of the standard library */
};

struct namer {
    struct wndl_bytes name;
    size_t next; /* of `name`, to be copied */
    struct wndl_buf text;
    struct wndl_vec lists;
    uint32_t inner;      /* the innermost open list, or NONE */
    size_t operator_end; /* of the last operator's name in the text */
    size_t last_close;   /* one past the last '>' that closed a list */
};

static bool is_word(uint8_t c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9') || c == '_' || c == '$' || c >= 0x80;
}

static struct wndl_bytes text_from(
    const struct namer *n, size_t from, size_t end)
{
    return (struct wndl_bytes){n->text.data + from, end - from};
}

static struct wndl_bytes rest(const struct namer *n)
{
    return wndl_bytes_slice(n->name, n->next, n->name.size - n->next);
}

/* The last byte of the text; 0 when it is empty. */
static uint8_t last(const struct namer *n)
{
    return n->text.size == 0 ? 0 : n->text.data[n->text.size - 1];
}

static struct list *list_at(const struct namer *n, uint32_t index)
{
    return index == NONE ? NULL : wndl_vec_at(&n->lists, index);
}

static uint8_t bracket_of(const struct namer *n, const struct list *list)
{
    return list == NULL ? 0 : n->text.data[list->open];
}

static void copy(struct namer *n, size_t size)
{
    wndl_buf_add(&n->text, n->name.data + n->next, size);
    n->next += size;
}

/* ---- respelling */

/* The start of the "std::..." that ends at `end`, or `end`. */
static size_t std_name(const struct namer *n, size_t end)
{
    size_t start = end;
    while (start > 0 &&
           (is_word(n->text.data[start - 1]) || n->text.data[start - 1] == ':'))
        start--;
    return wndl_bytes_start_with(text_from(n, start, end), "std::") ? start
                                                                    : end;
}

static void drop_inline_namespace(struct namer *n)
{
    static const char *const spelled[] = {
        "std::__cxx11::", "std::__1::", "std::_V2::"};
    size_t end = n->text.size;
    for (size_t i = 0; i < sizeof spelled / sizeof *spelled; i++) {
        size_t size = strlen(spelled[i]);
        if (wndl_bytes_end_with(text_from(n, 0, end), spelled[i]) &&
            std_name(n, end) == end - size)
            n->text.size = end - size + strlen("std::");
    }
}

/* Whether an argument is the library's default. */
static bool is_default(struct wndl_bytes argument, struct wndl_bytes first)
{
    static const char *const of_first[] = {"std::char_traits<", "std::less<",
        "std::equal_to<", "std::hash<", "std::default_delete<",
        "std::regex_traits<"};
    if (wndl_bytes_start_with(argument, "std::allocator<"))
        return true;
    for (size_t i = 0; i < sizeof of_first / sizeof *of_first; i++) {
        size_t size = strlen(of_first[i]);
        if (wndl_bytes_start_with(argument, of_first[i]) &&
            argument.size == size + first.size + 1 &&
            memcmp(argument.data + size, first.data, first.size) == 0)
            return true;
    }
    return false;
}

static void end_argument(const struct namer *n, struct list *list)
{
    size_t end = n->text.size;
    if (list->comma == list->open) {
        list->first_end = end;
        return;
    }
    size_t start = list->comma + 1;
    start += start < end && n->text.data[start] == ' ';
    bool is = is_default(text_from(n, start, end),
        text_from(n, list->open + 1, list->first_end));
    if (!is)
        list->defaults = 0;
    else if (list->defaults == 0)
        list->defaults = list->comma;
}

static void drop_defaults(struct namer *n, const struct list *list)
{
    if (list->defaults == 0)
        return;
    n->text.size = list->defaults;
    while (list_at(n, (uint32_t)n->lists.len - 1)->open > list->defaults)
        n->lists.len--;
}

/* "std::basic_NAME<char>" is "std::NAME", that of wchar_t "std::wNAME". */
static bool drop_basic(struct namer *n, const struct list *list)
{
    static const char basic[] = "std::basic_";
    struct wndl_bytes of = text_from(n, list->open + 1, n->text.size);
    bool wide = wndl_bytes_is(of, "wchar_t");
    size_t start = std_name(n, list->open);
    struct wndl_bytes name = text_from(n, start, list->open);
    if ((!wide && !wndl_bytes_is(of, "char")) ||
        !wndl_bytes_start_with(name, basic) || name.size == strlen(basic))
        return false;
    uint8_t *to = n->text.data + start + strlen("std::");
    if (wide)
        *to++ = 'w';
    size_t size = name.size - strlen(basic);
    memmove(to, name.data + strlen(basic), size);
    n->text.size = (size_t)(to - n->text.data) + size;
    return true;
}

/* ---- brackets */

static bool open_list(struct namer *n, enum kind kind)
{
    const struct list *parent = list_at(n, n->inner);
    struct list list = {
        .open = n->text.size,
        .comma = n->text.size,
        .parent = n->inner,
        .depth = parent == NULL ? 0 : parent->depth + 1,
        .kind = kind,
        .of_std =
            kind == ARGUMENTS && std_name(n, n->text.size) != n->text.size,
    };
    if (list.depth == MAX_DEPTH || n->lists.len == MAX_LISTS)
        return false;
    struct list *made = wndl_vec_push(&n->lists);
    if (made == NULL)
        return false;
    *made = list;
    n->inner = (uint32_t)n->lists.len - 1;
    copy(n, 1);
    return true;
}

static bool close_list(struct namer *n, uint8_t bracket)
{
    struct list *list = list_at(n, n->inner);
    if (bracket_of(n, list) != bracket)
        return false;
    list->close = n->text.size;
    list->shown = list->close - list->open - 1;
    n->inner = list->parent;
    copy(n, 1);
    return true;
}

/* "(anonymous namespace)", "void (*f(int))(int)", Go's "main.(*T).f". */
static bool is_part_of_name(const struct namer *n, const struct list *list)
{
    uint8_t before = list->open == 0 ? ' ' : n->text.data[list->open - 1];
    struct wndl_bytes in = text_from(n, list->open + 1, n->text.size);
    bool pointer = wndl_bytes_start_with(in, "*") ||
                   wndl_bytes_end_with(in, "*") || wndl_bytes_end_with(in, "&");
    bool follows = is_word(before) || before == '>' || before == ')' ||
                   before == '}' || list->open == n->operator_end;
    return wndl_bytes_start_with(in, "anonymous ") || (pointer && !follows);
}

static bool close_round(struct namer *n)
{
    struct list *list = list_at(n, n->inner);
    if (list != NULL && is_part_of_name(n, list))
        list->kind = KEPT;
    return close_list(n, '(');
}

static void close_arguments(struct namer *n, struct list *list)
{
    if (last(n) == ' ' && n->last_close + 1 == n->text.size)
        n->text.size--; /* of "> >" */
    if (list->of_std) {
        end_argument(n, list);
        drop_defaults(n, list);
    }
    if (list->of_std && drop_basic(n, list)) {
        n->inner = list->parent;
        n->lists.len--;
        n->next++;
    } else {
        (void)close_list(n, '<');
    }
    n->last_close = n->text.size;
}

/* "(a)>(b)" and "->" in expressions, "-> T" and "=> T" in types. */
static bool angle_close(struct namer *n)
{
    struct list *list = list_at(n, n->inner);
    uint8_t before = last(n);
    if (bracket_of(n, list) == '<' && before != '-') {
        close_arguments(n, list);
        return true;
    }
    if (list == NULL && before != '-' && before != '=')
        return false;
    copy(n, 1);
    return true;
}

static bool angle_open(struct namer *n)
{
    uint8_t before = last(n);
    size_t end = n->text.size;
    bool of_operator = n->operator_end != 0 &&
                       (n->operator_end == end ||
                           (n->operator_end + 1 == end && before == ' '));
    if (before == ')' && !of_operator) { /* "(a)<(b)", "(a)<<(b)" */
        while (wndl_bytes_start_with(rest(n), "<") ||
               wndl_bytes_start_with(rest(n), "="))
            copy(n, 1);
        return true;
    }
    bool of_name =
        is_word(before) || before == '}' || before == ']' ||
        (before == ':' && !wndl_bytes_start_with(rest(n), "<lambda"));
    return open_list(n, of_operator || of_name ? ARGUMENTS : KEPT);
}

/* ---- the pass */

/* Bytes of "operator" and of a symbol that has brackets in it, or 0. */
static size_t operator_size(const struct namer *n)
{
    static const char word[] = "operator";
    static const char *const symbols[] = {"<=>", "<<=", ">>=", "->*", "<<",
        ">>", "<=", ">=", "->", "()", "[]", "<", ">"};
    if (!wndl_bytes_start_with(rest(n), word) || is_word(last(n)))
        return 0;
    size_t size = strlen(word);
    struct wndl_bytes after = rest(n);
    after = wndl_bytes_slice(after, size, after.size - size);
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++)
        if (wndl_bytes_start_with(after, symbols[i]))
            return size + strlen(symbols[i]);
    return 0;
}

static bool skip_abi_tag(struct namer *n)
{
    if (n->text.size == 0 || !wndl_bytes_start_with(rest(n), "[abi:"))
        return false;
    const uint8_t *end = memchr(rest(n).data, ']', rest(n).size);
    if (end == NULL)
        return false;
    n->next = (size_t)(end - n->name.data) + 1;
    return true;
}

static void comma(struct namer *n)
{
    struct list *list = list_at(n, n->inner);
    if (list != NULL && list->of_std) {
        end_argument(n, list);
        list->comma = n->text.size;
    }
    copy(n, 1);
}

static bool bracket_or_byte(struct namer *n, uint8_t c)
{
    switch (c) {
    case '<':
        return angle_open(n);
    case '>':
        return angle_close(n);
    case '(':
        return open_list(n, PARAMETERS);
    case '[':
    case '{':
        return open_list(n, KEPT);
    case ')':
        return close_round(n);
    case ']':
        return close_list(n, '[');
    case '}':
        return close_list(n, '{');
    case ',':
        comma(n);
        return true;
    default:
        copy(n, 1);
        if (c == ':')
            drop_inline_namespace(n);
        return true;
    }
}

/* Respells the name. False when brackets are unbalanced, or memory is out. */
static bool respell(struct namer *n)
{
    bool sound = true;
    while (sound && n->next < n->name.size && !n->text.failed) {
        size_t size = operator_size(n);
        if (size != 0) {
            copy(n, size);
            n->operator_end = n->text.size;
        } else if (!skip_abi_tag(n)) {
            sound = bracket_or_byte(n, n->name.data[n->next]);
        }
    }
    return sound && n->inner == NONE && !n->text.failed;
}

/* ---- giving up contents */

static bool goes_before(const struct list *a, const struct list *b)
{
    if (a->kind != b->kind)
        return a->kind < b->kind;
    if (a->depth != b->depth)
        return a->depth > b->depth;
    return a->shown > b->shown;
}

static uint32_t longest_innermost(const struct namer *n)
{
    uint32_t best = NONE;
    for (uint32_t i = 0; i < n->lists.len; i++) {
        const struct list *list = list_at(n, i);
        if (list->kind != KEPT && list->shown > SHORT &&
            (best == NONE || goes_before(list, list_at(n, best))))
            best = i;
    }
    return best;
}

/* Drops a list's contents, and with them the lists inside, which follow it. */
static size_t give_up(struct namer *n, uint32_t index)
{
    struct list *list = list_at(n, index);
    size_t saved = list->shown - DOTS;
    for (uint32_t i = index + 1; i < n->lists.len; i++)
        if (list_at(n, i)->open < list->close)
            list_at(n, i)->shown = 0;
    list->shown = DOTS;
    while (list->parent != NONE) {
        list = list_at(n, list->parent);
        list->shown -= saved;
    }
    return saved;
}

static void shorten(struct namer *n, size_t limit)
{
    size_t size = n->text.size;
    while (size > limit) {
        uint32_t index = longest_innermost(n);
        if (index == NONE)
            return;
        size -= give_up(n, index);
    }
}

static void write_shown(const struct namer *n, struct wndl_buf *out)
{
    size_t from = 0;
    for (uint32_t i = 0; i < n->lists.len; i++) {
        const struct list *list = list_at(n, i);
        bool given_up =
            list->shown == DOTS && list->close - list->open - 1 > SHORT;
        if (!given_up || list->open < from)
            continue;
        wndl_buf_add(out, n->text.data + from, list->open + 1 - from);
        wndl_buf_text(out, "...");
        from = list->close;
    }
    wndl_buf_add(out, n->text.data + from, n->text.size - from);
}

void wndl_short_name(struct wndl_bytes name, size_t limit, struct wndl_buf *out)
{
    if (name.size == 0)
        return;
    struct wndl_arena arena;
    struct namer n = {.name = name, .inner = NONE};
    wndl_arena_init(&arena, out->mem);
    wndl_buf_init(&n.text, out->mem);
    wndl_vec_init(&n.lists, &arena, sizeof(struct list));
    if (respell(&n)) {
        shorten(&n, limit);
        write_shown(&n, out);
    } else {
        wndl_buf_add(out, name.data, name.size);
    }
    out->failed |= n.text.failed;
    wndl_buf_free(&n.text);
    wndl_arena_free(&arena);
}
