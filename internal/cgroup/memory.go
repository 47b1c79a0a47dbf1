// Package cgroup reads the limits that Linux holds this process to: those of its container, or of its
// service.
package cgroup

import (
	"bufio"
	"bytes"
	"io/fs"
	"path"
	"strconv"
	"strings"
)

// hierarchy is where the groups of one version are usually mounted, and which file of a group has its limit.
type hierarchy struct{ mount, file string }

var (
	version1 = hierarchy{"sys/fs/cgroup/memory", "memory.limit_in_bytes"}
	version2 = hierarchy{"sys/fs/cgroup", "memory.max"}
)

// unlimited is from where on a number stands for no limit: version 1 writes the greatest that it knows.
const unlimited = 1 << 60

// MemoryLimit is the least memory that the groups of this process, one within the other, may have, in bytes; 0
// where none is limited, or where there are no control groups. root is the root of the file system. See cgroups(7).
func MemoryLimit(root fs.FS) (least int64) {
	raw, err := fs.ReadFile(root, "proc/self/cgroup")
	if err != nil {
		return 0
	}
	for lines := bufio.NewScanner(bytes.NewReader(raw)); lines.Scan(); {
		// hierarchy-ID:controllers:path
		parts := strings.SplitN(lines.Text(), ":", 3)
		if len(parts) != 3 {
			continue
		}
		for _, controller := range strings.Split(parts[1], ",") {
			switch {
			case controller == "memory":
				least = lesser(least, version1.least(root, parts[2]))
			case parts[0] == "0":
				least = lesser(least, version2.least(root, parts[2]))
			}
		}
	}
	return least
}

// least is the least limit of a group and of those that it is in. A container often sees itself where the root would
// be, and its path leads nowhere: what is found on the way up counts.
func (h hierarchy) least(root fs.FS, group string) (least int64) {
	for at := path.Clean("/" + group); ; at = path.Dir(at) {
		if raw, err := fs.ReadFile(root, path.Join(h.mount, at, h.file)); err == nil {
			// "max" is no number, and no limit.
			if n, err := strconv.ParseInt(strings.TrimSpace(string(raw)), 10, 64); err == nil && n < unlimited {
				least = lesser(least, n)
			}
		}
		if at == "/" {
			return least
		}
	}
}

// lesser is the lesser of two limits, of which 0 is none.
func lesser(a, b int64) int64 {
	if a == 0 || b > 0 && b < a {
		return b
	}
	return a
}
