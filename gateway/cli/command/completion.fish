# fish completion for expops
function __expops
	set -l words (commandline -opc)
	set -l word (commandline -ct | string replace -r '^["\']' '')
	set -l rows ($words[1] complete -- $words[2..] "$word" 2>/dev/null)
	if test (count $rows) -gt 0
		printf '%s\n' $rows
	else
		__fish_complete_path (commandline -ct)
	end
end
complete -c expops -f -a '(__expops)'
