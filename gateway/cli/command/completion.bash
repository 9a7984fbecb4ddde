# bash completion for expops
_expops() {
	local word=${COMP_WORDS[COMP_CWORD]} name
	COMPREPLY=()
	while IFS=$'\t' read -r name _; do
		[[ $name != *= ]] || compopt -o nospace
		[[ $word == [\"\']* ]] || printf -v name %q "$name"
		COMPREPLY+=("$name")
	done < <(word=${word#[\"\']} && "$1" complete -- "${COMP_WORDS[@]:1:COMP_CWORD-1}" "${word//\\/}" 2>/dev/null)
}
complete -o default -F _expops expops
