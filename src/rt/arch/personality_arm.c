/* SPDX-License-Identifier: MIT */
/*
 * personality_arm: the personality routines of .ARM.exidx. Entries refer to
 * them so that linkers include them; unwinders use their own, by number.
 * Without these the runtime would need libgcc_s.
 */
void __aeabi_unwind_cpp_pr0(void);
void __aeabi_unwind_cpp_pr1(void);

void __aeabi_unwind_cpp_pr0(void)
{
}

void __aeabi_unwind_cpp_pr1(void)
{
}
