/* SPDX-License-Identifier: MIT */
/* lists: blocks whose waste is known: a list, an array, a pool of its own. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <windlass/heap.h>

struct name {
    char text[24];
};
struct node {
    struct node *next;
    long kind; /* 1 or 5 */
    int value; /* below 1,000 */
    int unused;
    struct name *name; /* of this node alone */
    long copy;         /* of `kind` */
};
struct element {
    int number;
    short three;
    short unused;
    long flag;
};
/* Of three equal ones, one departs: the second of these, the first of those. */
struct three {
    int first, second, third, unused;
    long a, b, c;
};
struct item {
    long id;
    long unused[2];
};

static struct item pool[100];

static __attribute__((noinline)) struct item *pool_take(int i)
{
    wndl_heap_on_alloc(&pool[i], sizeof pool[i]);
    return &pool[i];
}

static long use_pool(void)
{
    long sum = 0;
    for (int i = 0; i < 100; i++) {
        struct item *volatile item = pool_take(i);
        item->id = i;
        sum += item->id;
    }
    for (int i = 0; i < 100; i++)
        wndl_heap_on_free(&pool[i]);
    return sum;
}

static long use_threes(void)
{
    long sum = 0;
    for (int i = 0; i < 100; i++) {
        volatile struct three *t = malloc(sizeof *t);
        t->first = t->second = t->third = i;
        t->a = t->b = t->c = 1000 + 7 * i;
        if (i == 60)
            t->second = i + 1000;
        if (i == 40)
            t->a = 5;
        sum += t->first + t->second + t->third + t->a + t->b + t->c;
        free((void *)t);
    }
    return sum;
}

int main(void)
{
    struct node *head = NULL;
    long sum = use_pool() + use_threes();
    for (int i = 0; i < 1000; i++) {
        struct node *n = malloc(sizeof *n);
        n->next = head;
        n->kind = i % 3 ? 5 : 1;
        n->value = i;
        n->copy = n->kind;
        n->name = malloc(sizeof *n->name);
        strcpy(n->name->text, "x");
        head = n;
    }
    for (struct node *n = head; n; n = n->next)
        sum += n->kind + n->value + n->name->text[0] + n->copy;
    struct element *e = malloc(100 * sizeof *e);
    for (int i = 0; i < 100; i++) {
        e[i].number = i;
        e[i].three = 3;
        e[i].flag = i & 1;
    }
    for (int i = 0; i < 100; i++)
        sum += e[i].number + e[i].three + e[i].flag;
    printf("%ld\n", sum);
    free(e);
    while (head) {
        struct node *n = head;
        head = n->next;
        free(n->name);
        free(n);
    }
    return 0;
}
