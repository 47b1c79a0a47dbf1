# For the scripts beside it: `tool NAME MODULE VERSION` installs a pinned Go program, unless it is there,
# and sets TOOL to its path. Where it can't be had it says so and fails.
tool() {
    bin="$(pwd)/.cache/bin"
    TOOL="$bin/$1-$3"
    [ ! -x "$TOOL" ] || return 0
    mkdir -p "$bin"
    echo "building $1 $3: some minutes the first time" >&2
    GOFLAGS=-mod=mod GOBIN="$bin" go install "$2@$3" >"$bin/$1.log" 2>&1 && mv "$bin/$1" "$TOOL" && return 0
    echo "$1 $3 can't be installed here: $(tail -n 1 "$bin/$1.log")" >&2
    return 1
}
