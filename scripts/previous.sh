#!/bin/sh
# previous.sh COMMIT FOLDER: builds the program of an earlier commit as FOLDER/canopy, of its sources as git has them. FOLDER/schema has the
# version of the schema that it knows.
set -eu
commit=$1
mkdir -p "$2"
folder=$(cd "$2" && pwd)
if ! git cat-file -e "$commit^{commit}" 2>/dev/null; then
	echo "previous.sh: the commit $commit is not here: a shallow clone has no history, git fetch --unshallow brings it" >&2
	exit 1
fi
rm -rf "$folder/source"
mkdir "$folder/source"
git archive "$commit" | tar -x -C "$folder/source"
(cd "$folder/source" && CGO_ENABLED=0 go build -trimpath -ldflags "-X main.version=previous" -o "$folder/canopy" ./cmd/canopy)
(cd "$folder/source/db/migrations" && printf '%s\n' *.sql) | sed -n 's/^0*\([1-9][0-9]*\)_.*/\1/p' | sort -n | tail -n 1 >"$folder/schema"
rm -rf "$folder/source"
