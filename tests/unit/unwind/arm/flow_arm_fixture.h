/* SPDX-License-Identifier: MIT */
/*
 * flow_arm_fixture: 32-bit Arm code that may not be unwound, followed from its
 * instructions to its return, over a stack and code of another address space.
 */
#ifndef WNDL_TESTS_FLOW_ARM_FIXTURE_H
#define WNDL_TESTS_FLOW_ARM_FIXTURE_H

#include "testlib.h"

#include "unwind/arm/exidx.h"
#include "unwind/slow/flow_arm.h"

enum {
    CODE = 0x10000,
    SITES = 0x8000, /* from CODE, where calls are that may have been made */
    INDEX = 0x8000,
    STACK = 0x7f000000,
    WORDS = 64,
    ENTRY = 40, /* the word that SP leads to where the code begins */
    NOP = 0xbf00,
    B_SELF = 0xe7fe,
    BX_LR = 0x4770,
    POP_R4_PC = 0xbd10,
    MANY = 2100,
};

/* The return addresses of the two calls, as LR has them. */
static const uint32_t thumb_ra = (CODE + SITES + 4) | 1;
static const uint32_t arm_ra = CODE + SITES + 8;
static const uint8_t sites[] = {0xff, 0xf7, 0xfe, 0xff, 0xfe, 0xff, 0xff, 0xeb};

/* Code, stack and registers, and where the walk is. */
struct flow_world {
    struct wndl_bytes code;
    uint32_t stack[WORDS];
    struct wndl_full full;
    uint32_t index[2]; /* of .ARM.exidx: of what begins at SITES; 0: none */
};

extern struct flow_world world;

/* Whether there was a way to a caller. */
bool step(void);

/* Registers; one that is not known is 0. */
void set(unsigned reg, uint32_t value);
uint64_t get(unsigned reg);

/* Of a word of the stack. */
uint32_t address_of(unsigned word);

/* Interrupted at offset `at` with all registers, `depth` words below ENTRY. */
void interrupt(const void *code, size_t size, uint32_t at, unsigned depth);

/* The step came to `ra` with SP at `word`. */
void expect_caller(uint32_t ra, unsigned word);

/* Functions that save registers and call. */
static const uint16_t thumb[] = {
    0xb5b0,         /* 0 push {r4, r5, r7, lr} */
    0xb08a,         /* 2 sub sp, #40 */
    0x4604,         /* 4 mov r4, r0 */
    0xf000, 0xf800, /* 6 bl */
    0xb00a,         /* 10 add sp, #40 */
    0xbdb0,         /* 12 pop {r4, r5, r7, pc} */
};
static const uint32_t arm[] = {
    0xe92d4010, /* 0 push {r4, lr} */
    0xed2d8b02, /* 4 vpush {d8} */
    0xe24dd008, /* 8 sub sp, sp, #8 */
    0xebfffffe, /* 12 bl */
    0xe28dd008, /* 16 add sp, sp, #8 */
    0xecbd8b02, /* 20 vpop {d8} */
    0xe8bd8010, /* 24 pop {r4, pc} */
};

#endif
