/* SPDX-License-Identifier: MIT */
/*
 * replay: a main for a fuzz target built without libFuzzer. Runs each file,
 * or each file of each folder, that it is given, once.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int run_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return 0;
    fseek(file, 0, SEEK_END);
    size_t size = (size_t)ftell(file);
    rewind(file);
    uint8_t *data = malloc(size == 0 ? 1 : size);
    int ran = data != NULL && fread(data, 1, size, file) == size;
    if (ran)
        LLVMFuzzerTestOneInput(data, size);
    free(data);
    fclose(file);
    return ran;
}

static int run_folder(const char *path)
{
    DIR *folder = opendir(path);
    int ran = 0;
    if (folder == NULL)
        return 0;
    for (struct dirent *e; (e = readdir(folder)) != NULL;) {
        char file[4096];
        snprintf(file, sizeof file, "%s/%s", path, e->d_name);
        if (e->d_name[0] != '.')
            ran += run_file(file);
    }
    closedir(folder);
    return ran;
}

int main(int argc, char **argv)
{
    int ran = 0;
    for (int i = 1; i < argc; i++) {
        struct stat st;
        if (stat(argv[i], &st) != 0)
            continue;
        ran += S_ISDIR(st.st_mode) ? run_folder(argv[i]) : run_file(argv[i]);
    }
    printf("%d inputs\n", ran);
    return ran > 0 ? 0 : 1;
}
