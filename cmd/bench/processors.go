package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// tick is the unit in which the kernel tells the time that a process had of a processor.
const tick = 10 * time.Millisecond

// processors is the time that each part has had of the processors: it tells what the machine does for a rate, however much else runs on it.
type processors struct{ postgres, serve, worker, sink, load time.Duration }

func (c *courier) processors() (p processors, err error) {
	var backend int
	if err := c.db.QueryRowContext(c.ctx, `SELECT pg_backend_pid()`).Scan(&backend); err != nil {
		return p, err
	}
	own := stat(fmt.Sprintf("/proc/%d/stat", backend))
	p = processors{serve: busy(c.server.cmd.Process.Pid), worker: busy(c.worker.cmd.Process.Pid), sink: busy(c.sink.cmd.Process.Pid), load: busy(os.Getpid())}
	all, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, file := range all {
		if f := stat(file); len(f) > system && len(own) > parent && f[parent] == own[parent] {
			p.postgres += spent(f)
		}
	}
	return p, nil
}

func (p processors) less(q processors) processors {
	return processors{postgres: p.postgres - q.postgres, serve: p.serve - q.serve, worker: p.worker - q.worker, sink: p.sink - q.sink, load: p.load - q.load}
}

// each tells what every one of n had.
func (p processors) each(n int) string {
	one := func(d time.Duration) string { return fmt.Sprintf("%.2f", d.Seconds()*1000/float64(n)) }
	return fmt.Sprintf("PostgreSQL %s, serve %s, worker %s, receiver %s, load %s ms", one(p.postgres), one(p.serve), one(p.worker), one(p.sink), one(p.load))
}

// The fields of proc(5)'s stat that are read, counted from behind the name of the program.
const parent, user, system = 1, 11, 12

func stat(file string) []string {
	raw, _ := os.ReadFile(file) // a process may have ended meanwhile
	return strings.Fields(string(raw[bytes.LastIndexByte(raw, ')')+1:]))
}

func spent(fields []string) time.Duration {
	var ticks int64
	for _, at := range []int{user, system} {
		if n, err := strconv.ParseInt(fields[at], 10, 64); err == nil {
			ticks += n
		}
	}
	return time.Duration(ticks) * tick
}

func busy(pid int) time.Duration {
	if f := stat(fmt.Sprintf("/proc/%d/stat", pid)); len(f) > system {
		return spent(f)
	}
	return 0
}
