/* SPDX-License-Identifier: MIT */
#include "rt/core/seccomp_filter.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The machine of classic BPF. */
struct machine {
    uint32_t a, x, words[BPF_MEMWORDS];
    const struct seccomp_data *call;
    size_t next;     /* instruction */
    uint32_t result; /* of the program, once `ended` */
    bool ended, failed;
};

static uint32_t word_of_call(struct machine *m, uint32_t at)
{
    uint32_t word = 0;
    if (at % sizeof word != 0 || at > sizeof *m->call - sizeof word)
        m->failed = true;
    else
        memcpy(&word, (const char *)m->call + at, sizeof word);
    return word;
}

static uint32_t *memory(struct machine *m, uint32_t at)
{
    m->failed |= at >= BPF_MEMWORDS;
    return &m->words[at % BPF_MEMWORDS];
}

static uint32_t loaded(struct machine *m, const struct sock_filter *i)
{
    switch (BPF_MODE(i->code)) {
    case BPF_IMM:
        return i->k;
    case BPF_ABS:
        return word_of_call(m, i->k);
    case BPF_LEN:
        return sizeof *m->call;
    case BPF_MEM:
        return *memory(m, i->k);
    default:
        m->failed = true;
        return 0;
    }
}

static uint32_t shifted(uint32_t a, uint32_t by, bool left)
{
    if (by >= 32)
        return 0;
    return left ? a << by : a >> by;
}

static uint32_t computed(struct machine *m, uint16_t code, uint32_t by)
{
    uint32_t a = m->a;
    switch (BPF_OP(code)) {
    case BPF_ADD:
        return a + by;
    case BPF_SUB:
        return a - by;
    case BPF_MUL:
        return a * by;
    case BPF_DIV:
        m->failed |= by == 0;
        return by == 0 ? 0 : a / by;
    case BPF_OR:
        return a | by;
    case BPF_AND:
        return a & by;
    case BPF_XOR:
        return a ^ by;
    case BPF_LSH:
    case BPF_RSH:
        return shifted(a, by, BPF_OP(code) == BPF_LSH);
    case BPF_NEG:
        return -a;
    default:
        m->failed = true;
        return 0;
    }
}

static void jump(struct machine *m, const struct sock_filter *i, uint32_t with)
{
    bool is_true = false;
    switch (BPF_OP(i->code)) {
    case BPF_JA:
        m->next += i->k;
        return;
    case BPF_JEQ:
        is_true = m->a == with;
        break;
    case BPF_JGT:
        is_true = m->a > with;
        break;
    case BPF_JGE:
        is_true = m->a >= with;
        break;
    case BPF_JSET:
        is_true = (m->a & with) != 0;
        break;
    default:
        m->failed = true;
    }
    m->next += is_true ? i->jt : i->jf;
}

static void step(struct machine *m, const struct sock_filter *i)
{
    uint32_t operand = BPF_SRC(i->code) == BPF_X ? m->x : i->k;
    switch (BPF_CLASS(i->code)) {
    case BPF_LD:
        m->a = loaded(m, i);
        break;
    case BPF_LDX:
        m->x = loaded(m, i);
        break;
    case BPF_ST:
        *memory(m, i->k) = m->a;
        break;
    case BPF_STX:
        *memory(m, i->k) = m->x;
        break;
    case BPF_ALU:
        m->a = computed(m, i->code, operand);
        break;
    case BPF_JMP:
        jump(m, i, operand);
        break;
    case BPF_RET:
        m->result = BPF_RVAL(i->code) == BPF_A ? m->a : i->k;
        m->ended = true;
        break;
    default: /* BPF_MISC */
        if (BPF_MISCOP(i->code) == BPF_TXA)
            m->a = m->x;
        else
            m->x = m->a;
    }
}

bool wndl_rt_seccomp_allows(
    const struct sock_fprog *program, const struct seccomp_data *call)
{
    struct machine m = {.call = call};
    /* Jumps lead forward only. */
    while (!m.ended && !m.failed && m.next < program->len)
        step(&m, &program->filter[m.next++]);
    uint32_t action = m.result & SECCOMP_RET_ACTION_FULL;
    return m.ended && !m.failed &&
           (action == SECCOMP_RET_ALLOW || action == SECCOMP_RET_LOG);
}
