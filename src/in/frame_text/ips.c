/* SPDX-License-Identifier: MIT */
/*
 * The crash reports that Apple's systems write as JSON, files that end in
 * ".ips". A frame is an object on one line; the images are in a list, in which
 * it has a number.
 */
#include "in/frame_text/ips.h"

#include "base/text.h"
#include "in/frame_text/forms.h"
#include "in/frame_text/members.h"

static const char list_name[] = "\"usedImages\"";

/* ---- frames */

struct object {
    uint64_t offset;
    uint64_t index;
    bool has_offset;
    bool has_index;
    bool has_line;
};

static void note_member(
    struct object *object, const struct wndl_frame_member *member)
{
    if (wndl_bytes_is(member->key, "imageOffset"))
        object->has_offset = wndl_frame_member_number(member, &object->offset);
    else if (wndl_bytes_is(member->key, "imageIndex"))
        object->has_index = wndl_frame_member_number(member, &object->index);
    else if (wndl_bytes_is(member->key, "sourceLine"))
        object->has_line = true;
}

/* Reads the inside of the object that begins `text`, up to *size. */
static bool read_object(
    struct wndl_bytes text, struct object *object, size_t *size)
{
    struct wndl_frame_member member;
    struct wndl_bytes rest = text;
    *object = (struct object){0};
    while (wndl_frame_take_member(&rest, &member))
        note_member(object, &member);
    *size = (size_t)(rest.data - text.data);
    return rest.size != 0 && rest.data[0] == '}' && object->has_offset &&
           object->has_index && !object->has_line;
}

bool wndl_frame_ips(
    struct wndl_frame_scan *s, size_t key, struct wndl_frame_text *frame)
{
    struct object object;
    size_t floor = wndl_frame_larger(s->taken, s->line);
    if (key > floor + WNDL_FRAME_LONGEST_PATH)
        floor = key - WNDL_FRAME_LONGEST_PATH;
    size_t open = wndl_frame_last_of(s, '{', floor, key);
    if (open == WNDL_FRAME_NONE)
        return false;
    size_t most = wndl_frame_line_end(s, key);
    if (most > key + 2 * WNDL_FRAME_LONGEST_PATH)
        most = key + 2 * WNDL_FRAME_LONGEST_PATH;
    size_t size;
    bool found =
        read_object(wndl_frame_span(s, open + 1, most), &object, &size);
    s->no_key = open + 1 + size;
    if (!found)
        return false;
    *frame = (struct wndl_frame_text){
        .form = WNDL_FRAME_IPS,
        .base = WNDL_FRAME_PROCESS,
        .start = open + 1,
        .end = open + 1 + size,
        .address = object.offset,
        .image = object.index,
        .return_address = !wndl_frame_is_after(s, open, "["),
        .perhaps = true,
    };
    return wndl_frame_emit(s, frame);
}

/* ---- images */

const uint8_t *wndl_frame_next_ips_list(
    struct wndl_bytes text, const uint8_t *from)
{
    size_t left = text.size - (size_t)(from - text.data);
    return left == 0 ? NULL
                     : memmem(from, left, list_name, sizeof list_name - 1);
}

static bool take_byte(struct wndl_bytes *text, uint8_t byte)
{
    while (text->size != 0 && wndl_frame_is_blank(text->data[0]))
        *text = (struct wndl_bytes){text->data + 1, text->size - 1};
    if (text->size == 0 || text->data[0] != byte)
        return false;
    *text = (struct wndl_bytes){text->data + 1, text->size - 1};
    return true;
}

bool wndl_frame_next_ips_image(
    struct wndl_bytes *list, struct wndl_frame_image *image)
{
    struct wndl_frame_member member;
    if (wndl_bytes_start_with(*list, list_name)) {
        list->data += sizeof list_name - 1;
        list->size -= sizeof list_name - 1;
        if (!take_byte(list, ':') || !take_byte(list, '['))
            return false;
    } else {
        (void)take_byte(list, ',');
    }
    if (!take_byte(list, '{'))
        return false;
    *image = (struct wndl_frame_image){.base = WNDL_FRAME_RVA};
    while (wndl_frame_take_member(list, &member)) {
        if (wndl_bytes_is(member.key, "path"))
            image->path = member.value;
        else if (wndl_bytes_is(member.key, "uuid"))
            image->build_id = member.value;
        else if (wndl_bytes_is(member.key, "arch"))
            image->arch = member.value;
    }
    return take_byte(list, '}');
}
