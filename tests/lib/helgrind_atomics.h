/* SPDX-License-Identifier: MIT */
/*
 * helgrind_atomics: C11's atomics, told to Helgrind, who sees but plain loads
 * and stores. Included before a source that is to be checked
 * (tests/unit/valgrind.cmake). What an operation publishes by its memory order
 * is an edge, a relaxed one none: what is shared without one is a race, as by
 * the standard. The atomic objects themselves are let be. gcc only.
 */
#ifndef WNDL_TESTS_HELGRIND_ATOMICS_H
#define WNDL_TESTS_HELGRIND_ATOMICS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <valgrind/helgrind.h>

static inline void wndl_helgrind_before(
    const volatile void *object, size_t size, int order)
{
    VALGRIND_HG_DISABLE_CHECKING(object, size);
    if (order == memory_order_release || order == memory_order_acq_rel ||
        order == memory_order_seq_cst)
        ANNOTATE_HAPPENS_BEFORE(object);
}

static inline void wndl_helgrind_after(const volatile void *object, int order)
{
    if (order != memory_order_relaxed && order != memory_order_release)
        ANNOTATE_HAPPENS_AFTER(object);
}

/* A load, or what loads and stores: no word of it before is a release. */
#define WNDL_HELGRIND_LOAD(object, order, operation)                           \
    __extension__({                                                            \
        wndl_helgrind_before(object, sizeof *(object), memory_order_relaxed);  \
        __auto_type loaded_ = operation;                                       \
        wndl_helgrind_after(object, order);                                    \
        loaded_;                                                               \
    })

#define WNDL_HELGRIND_CHANGE(object, order, operation)                         \
    __extension__({                                                            \
        wndl_helgrind_before(object, sizeof *(object), order);                 \
        __auto_type changed_ = operation;                                      \
        wndl_helgrind_after(object, order);                                    \
        changed_;                                                              \
    })

#define WNDL_HELGRIND_STORE(object, order, operation)                          \
    __extension__({                                                            \
        wndl_helgrind_before(object, sizeof *(object), order);                 \
        operation;                                                             \
    })

/* ---- gcc's own: a macro is not expanded in itself */

#define __atomic_load_n(object, order)                                         \
    WNDL_HELGRIND_LOAD(object, order, __atomic_load_n(object, order))
#define __atomic_store_n(object, value, order)                                 \
    WNDL_HELGRIND_STORE(object, order, __atomic_store_n(object, value, order))
#define __atomic_fetch_add(object, value, order)                               \
    WNDL_HELGRIND_CHANGE(                                                      \
        object, order, __atomic_fetch_add(object, value, order))
#define __atomic_exchange_n(object, value, order)                              \
    WNDL_HELGRIND_CHANGE(                                                      \
        object, order, __atomic_exchange_n(object, value, order))
#define __atomic_compare_exchange_n(object, old, value, weak, order, failed)   \
    WNDL_HELGRIND_CHANGE(object, order,                                        \
        __atomic_compare_exchange_n(object, old, value, weak, order, failed))

/* ---- C11's, by those */

#undef atomic_load_explicit
#define atomic_load_explicit(object, order) __atomic_load_n(object, order)
#undef atomic_load
#define atomic_load(object) __atomic_load_n(object, memory_order_seq_cst)

#undef atomic_store_explicit
#define atomic_store_explicit(object, value, order)                            \
    __atomic_store_n(object, value, order)
#undef atomic_store
#define atomic_store(object, value)                                            \
    __atomic_store_n(object, value, memory_order_seq_cst)

#undef atomic_exchange_explicit
#define atomic_exchange_explicit(object, value, order)                         \
    __atomic_exchange_n(object, value, order)

#undef atomic_fetch_add_explicit
#define atomic_fetch_add_explicit(object, value, order)                        \
    __atomic_fetch_add(object, value, order)
#undef atomic_fetch_add
#define atomic_fetch_add(object, value)                                        \
    __atomic_fetch_add(object, value, memory_order_seq_cst)

#undef atomic_compare_exchange_strong_explicit
#define atomic_compare_exchange_strong_explicit(object, old, value, to, no)    \
    __atomic_compare_exchange_n(object, old, value, false, to, no)
#undef atomic_compare_exchange_weak_explicit
#define atomic_compare_exchange_weak_explicit(object, old, value, to, no)      \
    __atomic_compare_exchange_n(object, old, value, true, to, no)
#undef atomic_compare_exchange_strong
#define atomic_compare_exchange_strong(object, old, value)                     \
    __atomic_compare_exchange_n(                                               \
        object, old, value, false, memory_order_seq_cst, memory_order_seq_cst)
#undef atomic_compare_exchange_weak
#define atomic_compare_exchange_weak(object, old, value)                       \
    __atomic_compare_exchange_n(                                               \
        object, old, value, true, memory_order_seq_cst, memory_order_seq_cst)

#endif
