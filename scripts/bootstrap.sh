#!/bin/sh
# Installs what is missing for `make run`: the PostgreSQL server's programs and redis-server; and with
# the argument `tests` what `make test` needs besides: PgBouncer, Tesseract, Node.js with npm, by which PGlite is installed where PostgreSQL has
# no pgvector, and for the examples zsh, bash, curl, jq, openssl and Python; or with `browser` what `make test-browser` and
# `make clients` do: Chromium, and Node.js with npm. What is installed is never upgraded, and no system-wide server is set up.
set -eu

say() { printf 'bootstrap: %s\n' "$*" >&2; }

have_postgres() {
    for dir in /usr/lib/postgresql/*/bin /usr/pgsql-*/bin /opt/homebrew/opt/postgresql*/bin /usr/local/opt/postgresql*/bin /usr/local/pgsql/bin; do
        [ -x "$dir/initdb" ] && [ -x "$dir/postgres" ] && return 0
    done
    command -v initdb >/dev/null 2>&1
}

have_redis() { command -v redis-server >/dev/null 2>&1 || command -v valkey-server >/dev/null 2>&1; }

have_pgbouncer() { command -v pgbouncer >/dev/null 2>&1 || [ -x /usr/sbin/pgbouncer ]; }

have_browser() {
    for program in chromium google-chrome; do
        command -v $program >/dev/null 2>&1 && return 0
    done
    [ -d "/Applications/Google Chrome.app" ]
}

missing=
[ -n "${DATABASE_URL:-}" ] || have_postgres || missing="postgresql"
[ -n "${REDIS_URL:-}" ] || have_redis || missing="$missing redis"
if [ "${1:-}" = tests ]; then
    have_pgbouncer || missing="$missing pgbouncer"
    for program in tesseract zsh bash curl jq openssl node npm python3; do
        command -v $program >/dev/null 2>&1 || missing="$missing $program"
    done
fi
if [ "${1:-}" = browser ]; then
    have_browser || missing="$missing chromium"
    for program in node npm; do
        command -v $program >/dev/null 2>&1 || missing="$missing $program"
    done
fi

if ! command -v go >/dev/null 2>&1; then
    say "Go is missing: install the version that go.mod names, or a newer one, from https://go.dev/dl/"
    exit 1
fi
# Go itself knows whether it is new enough for go.mod, or may fetch the version that is.
if ! (cd "$(dirname "$0")/.." && go list -m) >/dev/null 2>&1; then
    say "this Go is too old: install $(sed -n 's/^go /Go /p' "$(dirname "$0")/../go.mod") or newer from https://go.dev/dl/"
    exit 1
fi
[ -n "$missing" ] || exit 0

as_root=
if [ "$(id -u)" != 0 ]; then
    if command -v sudo >/dev/null 2>&1; then as_root="sudo"; else as_root="none"; fi
fi

# Debian's packages, without the cluster and the services that they would set up.
install_debian() {
    packages=
    for part in $missing; do
        case $part in
        postgresql) packages="$packages postgresql" ;;
        redis) packages="$packages redis-server" ;;
        node) packages="$packages nodejs" ;;
        tesseract) packages="$packages tesseract-ocr" ;;
        *) packages="$packages $part" ;;
        esac
    done
    say "installing$packages"
    $as_root sh -c '
        set -eu
        export DEBIAN_FRONTEND=noninteractive
        fresh_policy=
        if [ ! -e /usr/sbin/policy-rc.d ]; then
            fresh_policy=yes
            printf "#!/bin/sh\nexit 101\n" >/usr/sbin/policy-rc.d
            chmod 755 /usr/sbin/policy-rc.d
        fi
        log=$(mktemp)
        trap "rm -f $log; [ -z \"$fresh_policy\" ] || rm -f /usr/sbin/policy-rc.d" EXIT
        case " $* " in
        *" postgresql "*)
            if [ ! -e /etc/postgresql-common/createcluster.conf ]; then
                mkdir -p /etc/postgresql-common
                echo "create_main_cluster = false" >/etc/postgresql-common/createcluster.conf
            fi ;;
        esac
        options="-y --no-install-recommends -o Dpkg::Options::=--force-confold"
        apt-get install $options "$@" >"$log" 2>&1 || {
            apt-get update >/dev/null
            apt-get install $options "$@" >"$log" 2>&1 || { cat "$log" >&2; exit 1; }
        }
        # The policy kept the service from starting now; this keeps it from starting at the next boot.
        for service in redis-server pgbouncer; do
            case " $* " in
            *" $service "*) if command -v systemctl >/dev/null 2>&1; then systemctl disable $service >/dev/null 2>&1 || true; fi ;;
            esac
        done
    ' sh $packages
}

if command -v apt-get >/dev/null 2>&1 && [ "$as_root" != none ]; then
    install_debian
elif command -v brew >/dev/null 2>&1; then
    for part in $missing; do
        case $part in
        postgresql) brew install postgresql@16 ;;
        redis) brew install redis ;;
        chromium) brew install --cask google-chrome ;;
        *) brew install "$part" ;;
        esac
    done
else
    say "please install:$(printf ' %s' $missing) (PostgreSQL 14 or newer; or set DATABASE_URL and REDIS_URL)"
    # Without a Redis there is a stand-in; without the others nothing works.
    case $missing in redis | " redis") ;; *) exit 1 ;; esac
fi
