# bash completion for expops

# Add a name to what can be inserted, quoted for the quote that is open at the cursor, so that the shell runs nothing of it. Inside double
# quotes "!" has no escape: it stands outside of them, after a backslash. Behind a name that ends with the quote, readline adds none.
_expops_add() {
	local text=$1
	case $2 in
	\')
		text=${text//\'/\'\\\'\'}
		;;
	\")
		text=${text//\\/\\\\}
		text=${text//\"/\\\"}
		text=${text//\$/\\\$}
		text=${text//\`/\\\`}
		text=${text//!/\"\\!\"}
		;;
	*)
		printf -v text %q "$text"
		;;
	esac
	[[ ! $2 || $text != *"$2" ]] || text+=$2
	COMPREPLY+=("$text")
}

# Read the line up to the cursor as the shell does: `words` without their quotes, of which the last is to be completed, and the `quote`
# that is open at the cursor. readline replaces what follows that quote or the last one of COMP_WORDBREAKS: `before` is how much of the
# word it keeps. Fails in $'...', whose escapes are others.
_expops_read() {
	local line=${COMP_LINE:0:COMP_POINT} word= start=0 char i
	words=() quote= before=0
	for ((i = 0; i < ${#line}; i++)); do
		char=${line:i:1}
		if [[ $quote && $char == "$quote" ]]; then
			quote= before=$start
		elif [[ ! $quote && $char == [\'\"] ]]; then
			[[ $word != *\$ ]] || return
			quote=$char before=${#word}
		elif [[ $char == \\ && $quote != \' ]]; then
			((++i))
			word+=${line:i:1}
		elif [[ ! $quote && $char == [[:blank:]] ]]; then
			[[ ! $word ]] || words+=("$word")
			word= start=0 before=0
		else
			word+=$char
			[[ $quote || $COMP_WORDBREAKS != *"$char"* ]] || start=${#word} before=${#word}
		fi
	done
	words+=("$word")
}

_expops() {
	local words quote before name
	COMPREPLY=()
	_expops_read || return
	while IFS=$'\t' read -r name _; do
		[[ $name != *= ]] || compopt -o nospace
		_expops_add "${name:before}" "$quote"
	done < <("$1" complete -- "${words[@]:1}" 2>/dev/null)
}
complete -o default -F _expops expops
