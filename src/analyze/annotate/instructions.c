/* SPDX-License-Identifier: MIT */
#include "analyze/annotate/instructions.h"

#include <elf.h>
#include <string.h>

/* Numbers as objdump writes them. */
static bool set_numbers(ZydisFormatter *formatter)
{
    static const ZydisFormatterProperty paddings[] = {
        ZYDIS_FORMATTER_PROP_ADDR_PADDING_ABSOLUTE,
        ZYDIS_FORMATTER_PROP_DISP_PADDING,
        ZYDIS_FORMATTER_PROP_IMM_PADDING,
    };
    bool is_set = ZYAN_SUCCESS(ZydisFormatterSetProperty(
        formatter, ZYDIS_FORMATTER_PROP_HEX_UPPERCASE, ZYAN_FALSE));
    for (size_t i = 0; i < sizeof paddings / sizeof *paddings && is_set; i++)
        is_set = ZYAN_SUCCESS(ZydisFormatterSetProperty(
            formatter, paddings[i], ZYDIS_PADDING_DISABLED));
    return is_set;
}

bool wndl_instructions_init(
    struct wndl_instructions *in, uint16_t machine, bool intel)
{
    const bool wide = machine == EM_X86_64;
    if (!wide && machine != EM_386)
        return false;
    return ZYAN_SUCCESS(ZydisDecoderInit(&in->decoder,
               wide ? ZYDIS_MACHINE_MODE_LONG_64 : ZYDIS_MACHINE_MODE_LEGACY_32,
               wide ? ZYDIS_STACK_WIDTH_64 : ZYDIS_STACK_WIDTH_32)) &&
           ZYAN_SUCCESS(ZydisFormatterInit(
               &in->formatter, intel ? ZYDIS_FORMATTER_STYLE_INTEL
                                     : ZYDIS_FORMATTER_STYLE_ATT)) &&
           set_numbers(&in->formatter);
}

/* The target of a direct call or jump. */
static void find_target(const ZydisDecodedInstruction *instruction,
    const ZydisDecodedOperand *operand, uint64_t address,
    struct wndl_instruction *to)
{
    ZyanU64 target;
    to->has_target = instruction->operand_count_visible == 1 &&
                     operand->type == ZYDIS_OPERAND_TYPE_IMMEDIATE &&
                     operand->imm.is_relative == ZYAN_TRUE &&
                     ZYAN_SUCCESS(ZydisCalcAbsoluteAddress(
                         instruction, operand, address, &target));
    to->target = to->has_target ? target : 0;
}

void wndl_instructions_decode(const struct wndl_instructions *in,
    struct wndl_bytes code, uint64_t address, struct wndl_instruction *to)
{
    ZydisDecodedInstruction instruction;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    *to = (struct wndl_instruction){.size = 1, .text = "(bad)"};
    if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(
            &in->decoder, code.data, code.size, &instruction, operands)))
        return;
    if (!ZYAN_SUCCESS(ZydisFormatterFormatInstruction(&in->formatter,
            &instruction, operands, instruction.operand_count_visible, to->text,
            sizeof to->text, address, NULL)))
        memcpy(to->text, "(bad)", sizeof "(bad)");
    to->size = instruction.length;
    find_target(&instruction, &operands[0], address, to);
}
