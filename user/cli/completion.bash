# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# bash completion for framescope: commands, options and words are those that --help lists
_framescope() {
	local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} command=${COMP_WORDS[1]} program=${COMP_WORDS[0]}
	local words=

	COMPREPLY=()
	if [ "$COMP_CWORD" = 1 ]; then
		words="$("$program" --help 2>/dev/null | sed -n 's/^  \([a-z]*\) .*/\1/p') help --help --version"
	elif [ "$command" = help ]; then
		words=$("$program" --help 2>/dev/null | sed -n 's/^  \([a-z]*\) .*/\1/p')
	else
		case $before in
		-f | --format) words=$("$program" export --help | sed -n 's/^ \{20,\}\([a-z]*\)  *\..*/\1/p') ;;
		-m | --mode) words="all unique-types unique-events reduce-all" ;;
		--rung) words="session multi links" ;;
		--type | --only-under) words=$("$program" events --help | sed -n '/^Types:/,$s/^Types:\|^ *//p') ;;
		--engine) words=$("$program" list --engines 2>/dev/null | sed -n '2,$s/ .*//p') ;;
		-p | --pid) words=$(ps -eo pid= 2>/dev/null) ;;
		*)
			case $word in
			-*) words=$("$program" "$command" --help 2>/dev/null | sed -n 's/^ *\(-[a-z], \)\{0,1\}\(--[a-z-]*\).*/\2/p') ;;
			esac
		esac
	fi
	[ -z "$words" ] || mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}
complete -o default -F _framescope framescope
