// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The table of supported architectures. */
#include "target/arch.h"

const struct arch *arch_for_elf(uint16_t elf_machine)
{
	static const struct arch *const all[] = { &arch_x86_64 };

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (all[i]->elf_machine == elf_machine)
			return all[i];
	return 0;
}
