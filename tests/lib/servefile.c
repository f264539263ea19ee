/* SPDX-License-Identifier: MIT */
/*
 * servefile FILE: serves a file as windlass view serves its page, until
 * standard input ends; prints the address.
 */
#include "cli/view/server.h"

#include "testlib.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    struct wndl_server server;
    struct wndl_error err = {0};
    if (argc != 2 || wndl_server_open(&server, 0, &err) != WNDL_OK)
        return 2;
    struct wndl_bytes page = read_whole_file(argv[1]);
    printf("%s\n", server.url);
    fflush(stdout);
    enum wndl_status status =
        wndl_server_run(&server, page, STDIN_FILENO, &err);
    wndl_server_close(&server);
    free((void *)page.data);
    return status == WNDL_OK ? 0 : 1;
}
