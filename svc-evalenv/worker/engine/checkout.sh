# shellcheck shell=sh
# The source of a build, in front of its script: the commit $REF of the repository $REPO, which may be empty, in
# context/, and the container file that it has, in Containerfile, if none was given. A link could lead to a file of
# the worker's.

mkdir context
if [ -n "$REPO" ]; then
	git init -q context && git -C context fetch -q --depth 1 -- "$REPO" "$REF" &&
		git -C context checkout -q FETCH_HEAD || exit
fi
for file in context/Containerfile context/Dockerfile; do
	if [ ! -e Containerfile ] && [ -f "$file" ] && [ ! -L "$file" ]; then
		cp "$file" Containerfile
	fi
done
