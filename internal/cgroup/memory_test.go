package cgroup

import (
	"testing"
	"testing/fstest"
)

func TestMemoryLimit(t *testing.T) {
	const none1 = "9223372036854771712\n"
	for _, tt := range []struct {
		name  string
		files map[string]string
		want  int64
	}{
		{"no groups", nil, 0},
		{"version 2, in a container", map[string]string{"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "536870912\n"}, 512 << 20},
		{"version 2, without a limit", map[string]string{"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "max\n"}, 0},
		{"version 2, the least on the way up", map[string]string{
			"proc/self/cgroup":                                     "0::/system.slice/canopy.service\n",
			"sys/fs/cgroup/system.slice/memory.max":                "1000\n",
			"sys/fs/cgroup/system.slice/canopy.service/memory.max": "2000\n",
		}, 1000},
		{"version 2, a path that leads nowhere", map[string]string{"proc/self/cgroup": "0::/../../pod\n", "sys/fs/cgroup/memory.max": "3000\n"}, 3000},
		{"version 1", map[string]string{
			"proc/self/cgroup":                                      "9:name=systemd:/\n4:memory:/docker/abc\n0::/\n",
			"sys/fs/cgroup/memory/memory.limit_in_bytes":            none1,
			"sys/fs/cgroup/memory/docker/abc/memory.limit_in_bytes": "4000\n",
		}, 4000},
		{"version 1, beside another controller", map[string]string{
			"proc/self/cgroup": "4:cpu,memory:/\n", "sys/fs/cgroup/memory/memory.limit_in_bytes": "5000\n",
		}, 5000},
		{"version 1, without a limit", map[string]string{
			"proc/self/cgroup": "4:memory:/\n", "sys/fs/cgroup/memory/memory.limit_in_bytes": none1,
		}, 0},
		{"nonsense", map[string]string{"proc/self/cgroup": "memory\n", "sys/fs/cgroup/memory.max": "lots\n"}, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			root := fstest.MapFS{}
			for name, content := range tt.files {
				root[name] = &fstest.MapFile{Data: []byte(content)}
			}
			if got := MemoryLimit(root); got != tt.want {
				t.Errorf("%d, not %d", got, tt.want)
			}
		})
	}
}
