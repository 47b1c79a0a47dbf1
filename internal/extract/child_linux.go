package extract

import "os"

// becomeChild makes this process the first to go when the machine runs out of memory.
func becomeChild() {
	_ = os.WriteFile("/proc/self/oom_score_adj", []byte("1000"), 0)
}
