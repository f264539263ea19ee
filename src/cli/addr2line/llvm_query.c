/* SPDX-License-Identifier: MIT */
#include "cli/addr2line/llvm_query.h"

#include <string.h>

static const char spaces[] = " \t\n\v\f\r";

static bool take_prefix(char **line, const char *prefix)
{
    size_t size = strlen(prefix);
    if (strncmp(*line, prefix, size) != 0)
        return false;
    *line += size;
    return true;
}

static void skip_spaces(char **line)
{
    *line += strspn(*line, spaces);
}

static enum wndl_llvm_command take_command(char **line)
{
    if (take_prefix(line, "DATA "))
        return WNDL_LLVM_DATA;
    if (take_prefix(line, "FRAME "))
        return WNDL_LLVM_FRAME;
    take_prefix(line, "CODE ");
    return WNDL_LLVM_CODE;
}

/* A word, or a text in quotes, which may be open at the end of the line. */
static char *take_word(char **line)
{
    skip_spaces(line);
    const char quote = **line;
    const bool is_quoted = quote == '"' || quote == '\'';
    const char end[] = {quote, '\0'};
    char *word = *line + is_quoted;
    char *after = word + strcspn(word, is_quoted ? end : spaces);
    *line = *after == '\0' ? after : after + 1;
    *after = '\0';
    return word;
}

static const char *take_module(
    char **line, bool has_module, struct wndl_llvm_query *query)
{
    skip_spaces(line);
    const bool is_file = take_prefix(line, "FILE:");
    query->is_build_id = !is_file && take_prefix(line, "BUILDID:");
    if (!is_file && !query->is_build_id && has_module)
        return NULL;
    if (has_module)
        return "input file has already been specified";
    query->module = take_word(line);
    if (query->module[0] != '\0')
        return NULL;
    return is_file || query->is_build_id
               ? "must be followed by an input file"
               : "no input filename has been specified";
}

const char *wndl_llvm_query_read(
    char *line, bool has_module, struct wndl_llvm_query *query)
{
    *query = (struct wndl_llvm_query){.command = take_command(&line)};
    const char *problem = take_module(&line, has_module, query);
    if (problem != NULL)
        return problem;
    skip_spaces(&line);
    line[strcspn(line, spaces)] = '\0';
    query->address = line;
    return *line == '\0' ? "no module offset has been specified" : NULL;
}
