// SPDX-License-Identifier: MIT
//
//     bugs ERROR...
//
// Errors that are known, each in a function of its own; "stay" waits for ever.
#include <cstdio>
#include <cstdlib>
#include <pthread.h>
#include <unistd.h>

struct Widget {
    int width, height;
    Widget() : width(1) {}
    int area() { return height > 3 ? width : 2; }
};

static volatile int sink;
static volatile char *volatile lost;

static void overrun()
{
    volatile char *p = static_cast<char *>(std::malloc(10));
    p[10] = 1;
    std::free(const_cast<char *>(p));
}

#ifdef ANOTHER
static void another()
{
    volatile char *p = static_cast<char *>(std::malloc(20));
    sink = p[20];
    std::free(const_cast<char *>(p));
}
#endif

static void unset()
{
    Widget *w = new Widget;
    sink = w->area();
    delete w;
}

static void __attribute__((noinline)) fill(int *out, bool fills)
{
    if (fills)
        *out = 1;
}

static void __attribute__((noinline)) out_parameter(bool fills)
{
    int value;
    fill(&value, fills);
    if (value)
        sink = 1;
}

static void mismatched()
{
    delete static_cast<char *>(std::malloc(1));
}

static void leak()
{
    lost = static_cast<char *>(std::malloc(33));
    lost = nullptr;
}

static int shared;

static void *increment(void *unused)
{
    shared++;
    return unused;
}

static void race()
{
    pthread_t thread;
    pthread_create(&thread, nullptr, increment, nullptr);
    shared++;
    pthread_join(thread, nullptr);
}

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t b = PTHREAD_MUTEX_INITIALIZER;

static void order()
{
    pthread_mutex_lock(&a);
    pthread_mutex_lock(&b);
    pthread_mutex_unlock(&b);
    pthread_mutex_unlock(&a);
    pthread_mutex_lock(&b);
    pthread_mutex_lock(&a);
    pthread_mutex_unlock(&a);
    pthread_mutex_unlock(&b);
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        switch (argv[i][0]) {
        case 'a': // "all"
            overrun();
            unset();
            out_parameter(argc > 9);
            mismatched();
            leak();
#ifdef ANOTHER
            another();
#endif
            break;
        case 'o': overrun(); break;
        case 'r': race(); break;
        case 'l': order(); break;
        case 's':
            std::printf("stays %d\n", static_cast<int>(getpid()));
            std::fflush(stdout);
            for (;;)
                pause();
        case '1': overrun(); break;
        case '2': leak(); break;
        default: return std::atoi(argv[i] + 1);
        }
    }
    return 0;
}
