#!/bin/sh
# Looks for known vulnerabilities in what the programs call, with a pinned govulncheck. Its database is
# https://vuln.go.dev, or what GOVULNDB names. Where the tool or the database can't be had nothing was
# checked: the script says so and fails, as it does where something is found.
set -eu
. scripts/tool.sh

tool govulncheck golang.org/x/vuln/cmd/govulncheck v1.8.0 || { echo "vuln: nothing was checked" >&2; exit 1; }
said=$(mktemp)
trap 'rm -f "$said"' EXIT
status=0
"$TOOL" ${GOVULNDB:+-db "$GOVULNDB"} ./... 2>"$said" || status=$?
cat "$said" >&2
case $status in
0 | 3) ;; # it has looked, and found nothing or something
*)
    ! grep -qE 'fetching vulnerabilities|creating client' "$said" ||
        echo "vuln: the database of vulnerabilities can't be reached from here: ${GOVULNDB:-https://vuln.go.dev}" >&2
    echo "vuln: nothing was checked" >&2
    ;;
esac
exit "$status"
