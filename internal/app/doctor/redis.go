package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"

	"canopy/internal/redisconn"
	"canopy/internal/roster"
)

// redis looks whether the server is of the kind that the setting says, and who works by it.
func (v *Visit) redis(ctx context.Context) {
	if v.lacks("redis", "REDIS_URL", v.cfg.RedisURL) {
		return
	}
	options, err := redisconn.Parse(v.cfg.RedisURL)
	if err != nil {
		v.found("redis", Fault, "write it as said", "%v", err)
		return
	}
	if watched, is := options.(asynq.RedisFailoverClientOpt); is {
		v.sentinels(ctx, watched)
	}
	client, err := redisconn.Client(v.cfg.RedisURL)
	if err != nil {
		v.found("redis", Fault, "write it as said", "%v", err)
		return
	}
	defer func() { _ = client.Close() }()
	servers, err := servers(ctx, client)
	if len(servers) == 0 {
		v.found("redis", Fault, "see that the server runs and lets this machine in; the kind must be that of REDIS_URL: redis://, redis-cluster:// or redis-sentinel://", "%v", err)
		return
	}
	v.redisMode(servers[0].facts)
	if servers[0].facts["redis_mode"] == "cluster" {
		v.cluster(servers, err)
	}
	v.redisMemory(servers)
	begun := time.Now()
	if now, err := client.Time(ctx).Result(); err == nil {
		v.clock("clock of Redis", now, begun.Truncate(time.Microsecond), time.Since(begun))
	}
	v.workers(ctx, client)
}

// redisServer is what a server that holds data says of itself, and in a cluster of the others.
type redisServer struct {
	facts, state map[string]string
	// nodes are the lines of CLUSTER NODES.
	nodes string
}

// servers asks the server, or each master of a cluster. The error is that of one that can't be asked.
func servers(ctx context.Context, client redis.UniversalClient) (list []redisServer, err error) {
	cluster, is := client.(*redis.ClusterClient)
	if !is {
		said, err := client.Info(ctx).Result()
		if err != nil {
			return nil, err
		}
		return []redisServer{{facts: infoOf(said)}}, nil
	}
	var mu sync.Mutex
	err = cluster.ForEachMaster(ctx, func(ctx context.Context, master *redis.Client) error {
		said, err := master.Info(ctx).Result()
		state, stateErr := master.ClusterInfo(ctx).Result()
		nodes, nodesErr := master.ClusterNodes(ctx).Result()
		if err := errors.Join(err, stateErr, nodesErr); err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		list = append(list, redisServer{infoOf(said), infoOf(state), nodes})
		return nil
	})
	return list, err
}

// infoOf reads what INFO says.
func infoOf(said string) map[string]string {
	facts := map[string]string{}
	for line := range strings.Lines(said) {
		if name, value, found := strings.Cut(strings.TrimSpace(line), ":"); found {
			facts[name] = value
		}
	}
	return facts
}

func (v *Visit) redisMode(facts map[string]string) {
	scheme, _, _ := strings.Cut(v.cfg.RedisURL, "://")
	mode, cluster := facts["redis_mode"], scheme == "redis-cluster"
	switch {
	case mode == "sentinel":
		v.found("redis", Fault, "write REDIS_URL as redis-sentinel://host,host/0?master=NAME", "the address is a sentinel's, which keeps nothing itself")
	case cluster != (mode == "cluster"):
		v.found("redis", Fault, "write REDIS_URL as redis-cluster://host,host for a cluster, and as redis:// for a server", "REDIS_URL says %s://, the server runs as %s", scheme, mode)
	case facts["role"] == "slave":
		v.found("redis", Fault, "name the master, or the sentinels that know it", "the server is a replica, which takes no writes")
	default:
		v.ok("redis", "version %s, %s", facts["redis_version"], mode)
	}
}

// droppingOf is how a server drops what it likes when it is full; "" where it drops nothing.
func droppingOf(facts map[string]string) string {
	if policy := facts["maxmemory_policy"]; policy != "noeviction" && facts["maxmemory"] != "0" {
		return policy
	}
	return ""
}

func (v *Visit) redisMemory(servers []redisServer) {
	for _, s := range servers {
		if policy := droppingOf(s.facts); policy != "" {
			v.found("redis memory", Warning, "set maxmemory-policy noeviction, and keep other programs' caches elsewhere",
				"the server drops what it likes when it is full (%s): tasks come late then, and limits forget", policy)
			return
		}
	}
}

// cluster looks whether every part of what a cluster holds is served, and by whom when a server ends. away is the error of a master that can't be
// asked.
func (v *Visit) cluster(servers []redisServer, away error) {
	masters, alone := mastersOf(servers[0].nodes)
	const check = "see `redis-cli --cluster check`"
	switch state := servers[0].state; {
	case state["cluster_state"] != "ok":
		v.found("redis cluster", Fault, check+", and start what is missing", "its state is %s: %s of 16384 slots are served", state["cluster_state"], state["cluster_slots_ok"])
	case away != nil:
		v.found("redis cluster", Fault, check+", and that this machine reaches each server at the address that the cluster tells", "a master can't be asked: %v", away)
	case alone > 0:
		v.found("redis cluster", Warning, "give each master a replica, on another machine", "%d of %d masters have no replica: tasks and limits stand still when one of them ends", alone, masters)
	default:
		v.ok("redis cluster", "%d masters serve all slots, each with a replica", masters)
	}
}

// mastersOf counts the masters that have slots, and those of them without a replica, in the lines of CLUSTER NODES: id, address, flags, of a replica its
// master, four more, and of a master its slots.
func mastersOf(nodes string) (masters, alone int) {
	followed, serving := map[string]bool{}, []string{}
	for line := range strings.Lines(nodes) {
		fields := strings.Fields(line)
		if len(fields) < 8 {
			continue
		}
		switch flags := strings.Split(fields[2], ","); {
		case slices.Contains(flags, "fail"):
		case slices.Contains(flags, "slave"):
			followed[fields[3]] = true
		case len(fields) > 8:
			serving = append(serving, fields[0])
		}
	}
	for _, id := range serving {
		if !followed[id] {
			alone++
		}
	}
	return len(serving), alone
}

// sentinels asks each of them whether it knows the master, and whether another would take its place.
func (v *Visit) sentinels(ctx context.Context, o asynq.RedisFailoverClientOpt) {
	var away, strange, doubts []string
	var master map[string]string
	for _, address := range o.SentinelAddrs {
		facts, doubt, err := askSentinel(ctx, o, address)
		switch {
		case errors.Is(err, errStrange):
			strange = append(strange, address)
		case err != nil:
			away = append(away, address)
		default:
			master = facts
		}
		if doubt != "" {
			doubts = append(doubts, address+": "+doubt)
		}
	}
	const check = "redis sentinels"
	list := func(of []string) string { return strings.Join(of, ", ") }
	switch {
	case len(strange) > 0:
		v.found(check, Fault, "write the name of their `sentinel monitor` into master= of REDIS_URL", "no master %q is known at %s", o.MasterName, list(strange))
	case master == nil:
		v.found(check, Fault, "see that they run, let this machine in, and take sentinel_username and sentinel_password of REDIS_URL", "none can be asked: %s", list(away))
	case len(away) > 0:
		v.found(check, Warning, "start them, or take them out of REDIS_URL", "some can't be asked: %s", list(away))
	case len(doubts) > 0:
		v.found(check, Warning, "start those that are missing: until then nobody takes the master's place", "%s", list(doubts))
	case master["num-slaves"] == "0":
		v.found(check, Warning, "give the master a replica, on another machine", "the master %q has no replica: nobody can take its place", o.MasterName)
	case len(o.SentinelAddrs) == 1:
		v.found(check, Warning, "name at least two in REDIS_URL", "REDIS_URL names one: when that is away no process finds the master")
	default:
		v.ok(check, "the master %q at %s, replicas: %s, sentinels that would agree on another: %s", o.MasterName, master["ip"]+":"+master["port"], master["num-slaves"], enough(master))
	}
}

// enough tells how many sentinels there are, and how many have to agree.
func enough(master map[string]string) string {
	return fmt.Sprintf("%s beside the one asked, of whom %s have to", cmp.Or(master["num-other-sentinels"], "0"), master["quorum"])
}

// errStrange says that a sentinel watches no master of the name.
var errStrange = errors.New("the master is not known")

// askSentinel gives what a sentinel knows of the master, and why it doubts that another could take its place.
func askSentinel(ctx context.Context, o asynq.RedisFailoverClientOpt, address string) (master map[string]string, doubt string, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience/5)
	defer cancel()
	client := redis.NewSentinelClient(&redis.Options{
		Addr: address, Username: o.SentinelUsername, Password: o.SentinelPassword, TLSConfig: o.TLSConfig, ContextTimeoutEnabled: true,
	})
	defer func() { _ = client.Close() }()
	if master, err = client.Master(ctx, o.MasterName).Result(); err != nil {
		if strings.Contains(err.Error(), "No such master") {
			err = errStrange
		}
		return nil, "", err
	}
	if err := client.CkQuorum(ctx, o.MasterName).Err(); err != nil {
		doubt = err.Error()
	}
	return master, doubt, nil
}

// workers tells who takes tasks.
func (v *Visit) workers(ctx context.Context, client redis.UniversalClient) {
	list, err := roster.New(client).Workers(ctx)
	if err != nil {
		v.unknown("workers", "Redis could not be asked")
		return
	}
	versions := []string{}
	for _, w := range list {
		if !slices.Contains(versions, w.Version) {
			versions = append(versions, w.Version)
		}
	}
	switch {
	case len(list) == 0:
		v.found("workers", Warning, "start `canopy worker`", "none runs: deliveries, runs, documents and mails wait")
	case len(versions) > 1:
		v.found("workers", Warning, "end the roll-out: docs/upgrade.md", "%d run, of the versions %s", len(list), strings.Join(versions, ", "))
	default:
		v.ok("workers", "%d run, of the version %s", len(list), versions[0])
	}
}
