#compdef expops
_expops() {
	local -a rows fields
	rows=("${(@f)$($words[1] complete -- "${(@Q)words[2,CURRENT - 1]}" "${(Q)PREFIX}" 2>/dev/null)}")
	rows=("${(@)rows:#}")
	if ((${#rows} == 0)); then
		_files
		return
	fi
	rows=("${(@)rows//\\/\\\\}")
	rows=("${(@)rows//:/\\:}")
	rows=("${(@)rows/$'\t'/:}")
	fields=("${(@M)rows:#*=(|:*)}")
	rows=("${(@)rows:|fields}")
	((${#rows} == 0)) || _describe expops rows
	((${#fields} == 0)) || _describe field fields -S ''
}
if [ "$funcstack[1]" = _expops ]; then
	_expops "$@"
else
	compdef _expops expops
fi
