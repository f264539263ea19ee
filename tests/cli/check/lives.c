/* SPDX-License-Identifier: MIT */
/*
 *     lives
 *
 * A program with threads that allocate under a lock, a forked child and a
 * program that it starts: what has our preloaded objects inside.
 */
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 3, ROUNDS = 50 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *shared;

static void *work(void *unused)
{
    for (int i = 0; i < ROUNDS; i++) {
        void *block = calloc(1, 10 + (size_t)i);
        pthread_mutex_lock(&lock);
        free(shared);
        shared = block;
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];
    int status = 0;
    if (argc > 1)
        return 0;
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    free(shared);
    const pid_t child = fork();
    if (child == 0) {
        execl(argv[0], argv[0], "again", (char *)NULL);
        _exit(1);
    }
    return waitpid(child, &status, 0) != child || status != 0;
}
