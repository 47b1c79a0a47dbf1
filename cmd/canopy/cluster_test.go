package main

import (
	"context"
	"database/sql"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	canopy "canopy/clients/go"
	"canopy/internal/devstack/cluster"
	"canopy/internal/devstack/devtest"
)

// clustered starts a cluster of this program, where a region has a cell of its own unless it is empty.
func clustered(t *testing.T, region string) *cluster.Cluster {
	t.Helper()
	self := devtest.Must[string](t)(os.Executable())
	program := filepath.Join(t.TempDir(), "canopy")
	script := fmt.Sprintf("#!/bin/sh\n%s=\"$*\" exec %q\n", argumentsVariable, self)
	devtest.Check(t, os.WriteFile(program, []byte(script), 0o700))
	c := devtest.Must[*cluster.Cluster](t)(cluster.Start(t.Context(), cluster.Options{
		Canopy: program, Balancer: "../../deploy/haproxy.cfg", Region: region, Synchronous: region != "",
	}))
	t.Cleanup(c.Stop)
	return c
}

// follows waits until the standby has what the primary has committed: it streams behind it, and what it lacks at a failover is lost.
func follows(t *testing.T, c *cluster.Cluster) {
	t.Helper()
	ask := func(at, question string, args ...any) (answer string, err error) {
		db := devtest.Must[*sql.DB](t)(sql.Open("postgres", at))
		defer func() { _ = db.Close() }()
		err = db.QueryRowContext(t.Context(), question, args...).Scan(&answer)
		return answer, err
	}
	committed, err := ask(c.Primary.URL(), "SELECT pg_current_wal_insert_lsn()")
	devtest.Check(t, err)
	devtest.Eventually(t, "the standby has all of it", func() bool {
		there, err := ask(c.Standby.URL(), "SELECT pg_last_wal_replay_lsn() >= $1::pg_lsn", committed)
		return err == nil && there == "true"
	})
}

// TestCluster loses each kind of process of a cluster, and its primary: what was written stays, and it goes on without hands.
func TestCluster(t *testing.T) {
	c := clustered(t, "")
	client := canopy.Client{URL: c.URL, App: "assistant", Key: canopy.PrintedKey(c.Key), HTTP: &http.Client{Timeout: 10 * time.Second}}
	written := map[int64]bool{}
	write := func() error {
		var made struct{ ID int64 }
		err := client.Call(t.Context(), "POST", "/context", map[string]string{"name": fmt.Sprint("Context ", len(written)), "description": "", "caption": "", "toolsJson": "[]"}, &made)
		if err == nil {
			written[made.ID] = true
		}
		return err
	}
	devtest.Check(t, write())
	killed := map[string]int{}
	for _, p := range c.Parts() {
		kind := strings.TrimRight(p.Name, "0123456789")
		if killed[kind]++; killed[kind] > 1 {
			continue
		}
		before := p.PID()
		devtest.Check(t, syscall.Kill(before, syscall.SIGKILL))
		devtest.Eventually(t, p.Name+" is started anew", func() bool { return p.PID() != before && p.Running() })
		devtest.Eventually(t, "it takes writes after "+p.Name+" was killed", func() bool { return write() == nil })
	}
	if len(killed) < 6 {
		t.Errorf("killed were %v", killed)
	}
	follows(t, c)
	devtest.Check(t, c.FailOver(context.Background()))
	devtest.Eventually(t, "the standby takes writes", func() bool { return write() == nil })
	for id := range written {
		if err := client.Call(t.Context(), "GET", fmt.Sprint("/context/documents/", id), nil, nil); err != nil {
			t.Errorf("context %d was acknowledged and is lost: %v", id, err)
		}
	}
	for id := range written {
		devtest.Check(t, client.Upload(t.Context(), id, "valve.txt", strings.NewReader("The valve is red.")))
		devtest.Eventually(t, "a worker has read what is in the bucket", func() bool {
			var documents []struct{ Status string }
			err := client.Call(t.Context(), "GET", fmt.Sprint("/context/documents/", id), nil, &documents)
			return err == nil && len(documents) == 1 && documents[0].Status == "ready"
		})
		break
	}
}

// TestClusterOfTwoCells: what a company of the region writes at either address is in its cell alone, and stays when the cell's primary is lost.
func TestClusterOfTwoCells(t *testing.T) {
	c := clustered(t, "us-east")
	company := devtest.Must[*cluster.Company](t)(c.NewCompany(t.Context(), "us-east", "East", "east@example.com"))
	count := func(url, what string) (n int64) {
		db := devtest.Must[*sql.DB](t)(sql.Open("postgres", url))
		defer func() { _ = db.Close() }()
		devtest.Check(t, db.QueryRowContext(t.Context(), "SELECT count(*) FROM "+what).Scan(&n))
		return n
	}
	contexts := func(url string) int64 { return count(url, "contexts") }
	wrote := func(at string) bool {
		client := canopy.Client{URL: at, App: "assistant", Key: canopy.PrintedKey(company.Key), HTTP: &http.Client{Timeout: 10 * time.Second}}
		return client.Call(t.Context(), "POST", "/context", map[string]string{"name": at, "description": "", "caption": "", "toolsJson": "[]"}, nil) == nil
	}
	for _, at := range []string{c.URL, c.Cell.URL} {
		devtest.Eventually(t, "a context is made at "+at, func() bool { return wrote(at) })
	}
	there := contexts(c.Cell.Primary.URL())
	if here := contexts(c.Primary.URL()); here != 0 || there < 2 {
		t.Errorf("the home has %d contexts, the cell %d", here, there)
	}
	devtest.Check(t, c.Cell.FailOver(t.Context()))
	if kept := contexts(c.Cell.Standby.URL()); kept != there {
		t.Errorf("%d of %d contexts are left", kept, there)
	}
	devtest.Eventually(t, "it goes on, also for who comes by the home's address", func() bool { return wrote(c.URL) })
	devtest.Eventually(t, "it follows the home", func() bool {
		return count(c.Primary.URL(), "pg_replication_slots WHERE slot_type = 'logical' AND active") > 0
	})
}
