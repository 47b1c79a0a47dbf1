package config

import (
	"maps"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
)

const oneMachine, cluster = "compose.yaml", "deploy/compose.cluster.yaml"

// composed reads the settings of a file for Compose, as they are in the environment given.
func composed(t *testing.T, file string, given environment) environment {
	t.Helper()
	e := environment{}
	for _, m := range regexp.MustCompile(`(?m)^    ((?:CANOPY|DATABASE|REDIS|OTEL)_[A-Z_]+): (.*)$`).FindAllStringSubmatch(repositoryFile(t, file), -1) {
		e[m[1]] = expand(t, m[1], m[2], given)
	}
	return e
}

var passed = regexp.MustCompile(`^\$\{(\w+):([-?+])([^}]*)\}$`)

// expand reads a value as Compose does; it must be what the variable of the same name is set to, or
// be derived from that.
func expand(t *testing.T, name, value string, given environment) string {
	t.Helper()
	m := passed.FindStringSubmatch(value)
	if m == nil || m[1] != name {
		t.Errorf("%s: %s does not pass it", name, value)
		return ""
	}
	set := given[name]
	switch {
	case m[2] == "+" && set != "":
		return m[3]
	case m[2] == "-" && set == "":
		return m[3]
	case m[2] == "?" && set == "":
		t.Errorf("%s must be set: %s", name, m[3])
	}
	return set
}

func repositoryFile(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile("../../" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestComposePassesEverySetting: what is set outside holds inside.
func TestComposePassesEverySetting(t *testing.T) {
	for _, file := range []string{oneMachine, cluster} {
		given := environment{}
		for _, v := range Variables() {
			given[v.Name] = "value of " + v.Name
		}
		got := composed(t, file, given)
		if want := slices.Sorted(maps.Keys(given)); !slices.Equal(slices.Sorted(maps.Keys(got)), want) {
			t.Errorf("%s has %v, the settings are %v", file, slices.Sorted(maps.Keys(got)), want)
		}
		const roots = "/etc/canopy/webhook-ca.pem" // the file that was named is mounted there
		if !strings.Contains(repositoryFile(t, file), "- ${CANOPY_WEBHOOK_CA:-/dev/null}:"+roots+":ro\n") {
			t.Errorf("%s: nothing is at %s", file, roots)
		}
		given["CANOPY_WEBHOOK_CA"] = roots
		if !maps.Equal(got, given) {
			t.Errorf("%s: inside is %v", file, got)
		}
	}
}

// TestComposeStarts: with nothing but the key set, serve and worker start, and both keep documents on
// one volume, whose folder the image has made for its own user.
func TestComposeStarts(t *testing.T) {
	compose, image := repositoryFile(t, oneMachine), repositoryFile(t, "Dockerfile")
	for _, mode := range []Mode{Server, Worker} {
		c := load(t, mode, composed(t, oneMachine, environment{"CANOPY_SECRET_KEY": testKey}))
		folder, found := strings.CutPrefix(c.BlobURL, "file://")
		if !found || !strings.Contains(compose, "- blobs:"+folder+" ") || !strings.Contains(image, "--chown=nonroot:nonroot /blobs "+folder) {
			t.Errorf("documents are kept in %s", folder)
		}
		if c.Listen != ":8080" || !strings.Contains(compose, `ports: ["8080:8080"]`) {
			t.Errorf("it listens on %s", c.Listen)
		}
	}
}

// services are those of the cluster, with what the tests look at.
func services(t *testing.T) map[string]service {
	t.Helper()
	var all struct{ Services map[string]service }
	if err := yaml.UnmarshalWithOptions([]byte(repositoryFile(t, cluster)), &all, yaml.AllowDuplicateMapKey()); err != nil { // it is what a merge key means
		t.Fatal(err)
	}
	return all.Services
}

type service struct {
	Profiles    []string
	Command     []string
	Environment map[string]string
	Ports       []string
	Networks    map[string]struct {
		Address string `yaml:"ipv4_address"`
	}
}

// TestClusterStarts: with nothing but the key set, every process of the cluster starts, and what each is told to ask is there.
func TestClusterStarts(t *testing.T) {
	all, text := services(t), repositoryFile(t, cluster)
	env := composed(t, cluster, environment{"CANOPY_SECRET_KEY": testKey})
	count := map[string]int{}
	for name, s := range all {
		if len(s.Profiles) > 0 {
			continue
		}
		for mode, command := range map[Mode]string{Server: "serve", Worker: "worker", Schema: "migrate"} {
			if len(s.Command) > 0 && s.Command[0] == command {
				count[command]++
				load(t, mode, env)
				if _, own := s.Environment["CANOPY_LISTEN"]; !own {
					t.Errorf("%s has not the settings", name)
				}
			}
		}
	}
	if count["serve"] != 2 || count["worker"] != 2 || count["migrate"] != 1 {
		t.Errorf("there are %v", count)
	}
	c := load(t, Server, env)
	balancer := all["balancer"].Environment
	listens := listeners(all, text, "", c.Listen)
	for _, address := range append(strings.Split(strings.Join(hostsOf(t, env), ","), ","), balancer["SERVE_1"], balancer["SERVE_2"]) {
		if !listens[address] {
			t.Errorf("nobody listens on %s", address)
		}
	}
	trusted := netip.MustParsePrefix(all["balancer"].Networks["default"].Address + "/32")
	if !slices.Equal(c.TrustedProxies, []netip.Prefix{trusted}) || balancer["LISTEN"] != ":8080" || !slices.Equal(all["balancer"].Ports, []string{"8080:8080"}) {
		t.Errorf("the balancer listens on %s, %v, and %v is believed", balancer["LISTEN"], all["balancer"].Ports, c.TrustedProxies)
	}
	network := regexp.MustCompile(`subnet: (\S+), gateway: (\S+), ip_range: (\S+?)}`).FindStringSubmatch(text)
	if network == nil {
		t.Fatal("the network has no addresses of its own")
	}
	subnet, handedOut, taken := netip.MustParsePrefix(network[1]), netip.MustParsePrefix(network[3]), map[string]string{network[2]: "the gateway"}
	for name, s := range all {
		address := s.Networks["default"].Address
		if address == "" {
			continue
		}
		if at := netip.MustParseAddr(address); !subnet.Contains(at) || handedOut.Contains(at) || taken[address] != "" {
			t.Errorf("%s can't have %s, as %s has, or anybody", name, address, taken[address])
		}
		taken[address] = name
	}
}

// listeners are the addresses that services whose names begin so listen on.
func listeners(all map[string]service, text, prefix, serve string) map[string]bool {
	listens := map[string]bool{prefix + "s3:" + regexp.MustCompile(`-s3\.port=(\d+)`).FindStringSubmatch(text)[1]: true}
	for name, s := range all {
		switch own, is := strings.CutPrefix(name, prefix); {
		case !is:
		case strings.HasPrefix(own, "serve"):
			listens[name+serve] = true
		case strings.HasPrefix(own, "postgres"):
			listens[name+":5432"] = true
		case strings.HasPrefix(own, "pgbouncer"):
			listens[name+":"+regexp.MustCompile(`listen_port = (\d+)`).FindStringSubmatch(text)[1]] = true
		case strings.HasPrefix(own, "redis") && s.Networks["default"].Address != "":
			listens[s.Networks["default"].Address+":6379"] = true
		}
	}
	return listens
}

// TestClusterHasACell: with the profile of the cell every process of it starts, asks what is the cell's own, and follows the home as the role that is made there.
func TestClusterHasACell(t *testing.T) {
	all, text := services(t), repositoryFile(t, cluster)
	shared := composed(t, cluster, environment{"CANOPY_SECRET_KEY": testKey, "CANOPY_CELL_KEY": testKey})
	settings := func(name string) environment {
		env := maps.Clone(shared)
		for key, value := range all[name].Environment {
			if !strings.Contains(value, "${") {
				env[key] = value
			}
		}
		return env
	}
	var c *Config
	for name, mode := range map[string]Mode{"cell-serve1": Server, "cell-serve2": Server, "cell-worker1": Worker, "cell-worker2": Worker, "cell-join": Schema, "cell-open": Schema} {
		if !slices.Equal(all[name].Profiles, []string{"cell"}) {
			t.Errorf("%s starts without the profile", name)
		}
		if got := load(t, mode, settings(name)); mode == Server {
			c = got
		}
	}
	balancer := all["cell-balancer"]
	listens := listeners(all, text, "cell-", c.Listen)
	for _, address := range append(strings.Split(strings.Join(hostsOf(t, settings("cell-serve1")), ","), ","), balancer.Environment["SERVE_1"], balancer.Environment["SERVE_2"]) {
		if !listens[address] {
			t.Errorf("nobody of the cell listens on %s", address)
		}
	}
	if trusted := netip.MustParsePrefix(balancer.Networks["default"].Address + "/32"); !slices.Equal(c.TrustedProxies, []netip.Prefix{trusted}) {
		t.Errorf("%v is believed", c.TrustedProxies)
	}
	home, joins, opens := settings("cell-open")["DATABASE_URL"], all["cell-join"].Command, all["cell-open"].Command
	if !slices.Equal(joins, []string{"region", "join", c.Region}) || opens[2] != c.Region || opens[3] != "http://cell-balancer"+balancer.Environment["LISTEN"] {
		t.Errorf("%s serves, %v, %v", c.Region, joins, opens)
	}
	role := opens[5]
	if !strings.HasPrefix(c.HomeURL, "postgres://"+role+":"+role+"@postgres1:5432,postgres2:5432/") || !strings.Contains(home, "@postgres1:5432,postgres2:5432/") ||
		!strings.Contains(strings.Join(all["cell-role"].Command, " "), "CREATE ROLE "+role+" LOGIN REPLICATION PASSWORD '"+role+"'") {
		t.Errorf("the cell comes to %s, and is let in at %s as %s", c.HomeURL, home, role)
	}
	if at := settings("cell-join")["DATABASE_URL"]; !strings.Contains(at, "@cell-postgres1:5432,") || settings("cell-join")["CANOPY_HOME_URL"] != c.HomeURL {
		t.Errorf("what joins is %s", at)
	}
}

// TestClusterMayBeACell, or the home of one: what that takes is passed to every process.
func TestClusterMayBeACell(t *testing.T) {
	const home = "postgres://us_east:password@home:5432/canopy"
	given := environment{"CANOPY_SECRET_KEY": testKey, "CANOPY_CELL_KEY": testKey, "CANOPY_REGION": "us-east", "CANOPY_HOME_URL": home}
	for _, mode := range []Mode{Server, Worker, Schema} {
		if c := load(t, mode, composed(t, cluster, given)); c.HomeURL != home || mode != Schema && (c.Region != "us-east" || len(c.CellKeys) != 1) {
			t.Errorf("it is the cell of %q, of the home %s", c.Region, c.HomeURL)
		}
	}
	for _, name := range []string{"postgres1", "postgres2"} {
		if command := strings.Join(services(t)[name].Command, " "); !strings.Contains(command, "-c wal_level=logical") {
			t.Errorf("no cell can follow %s", name)
		}
	}
}

// TestCopiesOfTheClusterAreWhole: a standby whose copy was cut off begins it anew when it is started again, and one that has its copy keeps it. What copies and
// what is started are scripts that do as the programs of these names.
func TestCopiesOfTheClusterAreWhole(t *testing.T) {
	programs, data := t.TempDir(), filepath.Join(t.TempDir(), "data")
	for name, script := range map[string]string{
		// The first one is cut off half-way, with its server.
		"pg_basebackup": `while [ "$1" != -D ]; do shift; done
			mkdir "$2" && echo 16 >"$2/PG_VERSION" || exit 1
			if [ ! -e "$0.begun" ]; then touch "$0.begun" && kill -KILL $PPID && exit 1; fi
			mkdir "$2/global" && echo whole >"$2/global/pg_control"`,
		"docker-entrypoint.sh": `cat "$PGDATA/global/pg_control" "$PGDATA/PG_VERSION"`,
	} {
		if err := os.WriteFile(filepath.Join(programs, name), []byte("#!/bin/sh\n"+script), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(data, 0o700); err != nil {
		t.Fatal(err)
	}
	command := services(t)["postgres2"].Command
	start := func() string {
		cmd := exec.CommandContext(t.Context(), command[0], command[1], strings.ReplaceAll(command[2], "$$", "$"))
		cmd.Env = append(os.Environ(), "PATH="+programs+":"+os.Getenv("PATH"), "PGDATA="+data, "FOLLOWS=postgres1")
		said, err := cmd.CombinedOutput()
		if err != nil {
			return err.Error()
		}
		return string(said)
	}
	if cut := start(); cut != "signal: killed" {
		t.Fatal(cut)
	}
	for range 2 {
		if said := start(); said != "whole\n16\n" {
			t.Errorf("it starts with %q", said)
		}
		if err := os.WriteFile(filepath.Join(programs, "pg_basebackup"), []byte("#!/bin/sh\nexit 1"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if left, err := os.ReadDir(data); err != nil || len(left) != 2 {
		t.Errorf("there are %v, %v", left, err)
	}
}

// hostsOf are the hosts that the URLs of settings name, with their ports.
func hostsOf(t *testing.T, env environment) (list []string) {
	t.Helper()
	for name, pattern := range map[string]string{
		"DATABASE_URL": `@([^/]+)/`, "CANOPY_DATABASE_READ_URL": `@([^/]+)/`, "REDIS_URL": `://([^/]+)$`, "CANOPY_BLOB_URL": `endpoint=http://([^&]+)`,
	} {
		m := regexp.MustCompile(pattern).FindStringSubmatch(env[name])
		if m == nil {
			t.Fatalf("%s is %s", name, env[name])
		}
		list = append(list, m[1])
	}
	return list
}

// TestBalancerOfTheClusterAsksForReadiness before a process refuses requests, and has room for streams.
func TestBalancerOfTheClusterAsksForReadiness(t *testing.T) {
	text := repositoryFile(t, "deploy/haproxy.cfg")
	seconds := func(pattern string) time.Duration {
		m := regexp.MustCompile(pattern).FindStringSubmatch(text)
		if m == nil {
			t.Fatalf("there is no %s", pattern)
		}
		d, err := time.ParseDuration(m[1])
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	every, _ := strconv.Atoi(regexp.MustCompile(`fall (\d+)`).FindStringSubmatch(text)[1])
	if noticed := time.Duration(every) * seconds(`inter (\S+)`); noticed >= defaultDrain || !strings.Contains(text, "uri /readyz") {
		t.Errorf("it is noticed after %s that a process ends, which waits for %s", noticed, defaultDrain)
	}
	if seconds(`timeout server (\S+)`) < 10*time.Minute || seconds(`timeout tunnel (\S+)`) < 10*time.Minute || seconds(`timeout http-keep-alive (\S+)`) >= 2*time.Minute {
		t.Error("streams are cut, or idle connections are kept for longer than serve keeps them")
	}
}
