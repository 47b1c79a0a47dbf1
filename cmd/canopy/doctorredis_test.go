package main

import (
	"strings"
	"testing"

	"canopy/db"
	"canopy/internal/app/doctor"
	"canopy/internal/devstack/devtest"
)

// TestDoctorWithARedisCluster: masters that stand alone are told, one that is gone is a fault, and with replicas all is well.
func TestDoctorWithARedisCluster(t *testing.T) {
	t.Parallel()
	server, settings := lasting(t)
	if err := db.Migrate(t.Context(), server.URL()); err != nil {
		t.Fatal(err)
	}
	whole, alone := devtest.StartRedisCluster(t, true), devtest.StartRedisCluster(t, false)
	settings["REDIS_URL"] = whole.URL
	var code int
	var found map[string][]doctor.Finding
	devtest.Eventually(t, "the replicas are told", func() bool { // once something has been copied to them
		code, found = examined(t, settings)
		return len(found["redis cluster"]) == 1 && found["redis cluster"][0].Status == doctor.OK
	})
	expect(t, found, "redis", doctor.OK, "cluster")
	expect(t, found, "redis cluster", doctor.OK, "3 masters serve all slots, each with a replica")
	expect(t, found, "clock of Redis", doctor.OK, "")
	expect(t, found, "workers", doctor.Warning, "none runs")
	if code != exitOK {
		t.Errorf("the exit code is %d: %+v", code, found)
	}
	settings["REDIS_URL"] = alone.URL
	code, found = examined(t, settings)
	expect(t, found, "redis cluster", doctor.Warning, "3 of 3 masters have no replica")
	if code != exitOK {
		t.Errorf("the exit code is %d: %+v", code, found)
	}
	settings["REDIS_URL"] = alone.Masters[1].URL()
	_, found = examined(t, settings)
	expect(t, found, "redis", doctor.Fault, "the server runs as cluster")
	settings["REDIS_URL"] = alone.URL
	alone.Masters[1].Kill()
	devtest.Eventually(t, "the cluster tells that a part of it is gone", func() bool {
		code, found = examined(t, settings)
		return code == exitFault
	})
	expect(t, found, "redis cluster", doctor.Fault, "")
	tellsNoPassword(t, settings["REDIS_URL"], found)
}

// TestDoctorWithSentinels: they are asked for the master, and whether another would take its place.
func TestDoctorWithSentinels(t *testing.T) {
	t.Parallel()
	server, settings := lasting(t)
	if err := db.Migrate(t.Context(), server.URL()); err != nil {
		t.Fatal(err)
	}
	s := devtest.StartSentinels(t)
	settings["REDIS_URL"] = s.URL
	code, found := examined(t, settings)
	expect(t, found, "redis", doctor.OK, "standalone")
	expect(t, found, "redis sentinels", doctor.OK, "replicas: 1")
	if code != exitOK {
		t.Errorf("the exit code is %d: %+v", code, found)
	}
	for what, c := range map[string]struct {
		url    string
		check  string
		status doctor.Status
		part   string
	}{
		"another master":           {strings.Replace(s.URL, "master="+devtest.SentinelMaster, "master=other", 1), "redis sentinels", doctor.Fault, `no master "other" is known`},
		"a wrong password of them": {strings.Replace(s.URL, "sentinel_password=", "sentinel_password=x", 1), "redis sentinels", doctor.Fault, "none can be asked"},
		"a sentinel for a server":  {s.Watching[0].URL(), "redis", doctor.Fault, "a sentinel's"},
		"the replica":              {s.Replica.URL(), "redis", doctor.Fault, "a replica"},
	} {
		t.Run(what, func(t *testing.T) {
			settings["REDIS_URL"] = c.url
			code, found := examined(t, settings)
			expect(t, found, c.check, c.status, c.part)
			if code != exitFault {
				t.Errorf("the exit code is %d", code)
			}
			tellsNoPassword(t, c.url, found)
		})
	}
	settings["REDIS_URL"] = s.URL
	s.Watching[0].Kill()
	code, found = examined(t, settings)
	expect(t, found, "redis sentinels", doctor.Warning, "some can't be asked")
	if code != exitOK {
		t.Errorf("with a sentinel less: the exit code is %d: %+v", code, found)
	}
	s.Master.Kill()
	devtest.Eventually(t, "the replica is found as the master", func() bool {
		_, found = examined(t, settings)
		return len(found["redis"]) == 1 && found["redis"][0].Status == doctor.OK
	})
	s.Watching[1].Kill()
	devtest.Eventually(t, "the last sentinel doubts", func() bool {
		_, found = examined(t, settings)
		return len(found["redis sentinels"]) == 1 && strings.Contains(found["redis sentinels"][0].Detail, "some can't be asked")
	})
}

// tellsNoPassword looks for those of a URL in what is told.
func tellsNoPassword(t *testing.T, url string, found map[string][]doctor.Finding) {
	t.Helper()
	_, rest, _ := strings.Cut(url, "://")
	credentials, _, _ := strings.Cut(rest, "@")
	_, password, _ := strings.Cut(credentials, ":")
	for check, list := range found {
		for _, f := range list {
			if password != "" && strings.Contains(f.Detail+f.Advice, password) {
				t.Errorf("%s shows a password: %+v", check, f)
			}
		}
	}
}
