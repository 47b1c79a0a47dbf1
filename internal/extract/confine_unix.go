//go:build linux || darwin

package extract

import (
	"errors"
	"fmt"
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// openFiles is how many files a child may hold: its own four, and what its runtime holds.
const openFiles = 32

// limitResources has the kernel hold a child to what the Runner watches over as well, to no file that grows,
// and to no core file, which would hold the document. Tighter limits that are there stay. Threads count as
// processes, of which the runtime starts some now and then, among all of the user's: that limit is not one
// that can be set here.
func limitResources(limits Limits) error {
	// Every processor may work for it all the time, so that this one ends only what outlives its Runner.
	seconds := uint64(limits.Time/time.Second+1) * uint64(runtime.NumCPU())
	var errs []error
	for what, most := range map[int]uint64{
		unix.RLIMIT_CPU: seconds, unix.RLIMIT_FSIZE: 0, unix.RLIMIT_NOFILE: openFiles, unix.RLIMIT_CORE: 0,
		// Of what is set aside not all is used: resident memory is what the Runner watches.
		unix.RLIMIT_DATA: 2*uint64(limits.Memory) + 512<<20,
	} {
		if err := limitTo(what, most); err != nil {
			errs = append(errs, fmt.Errorf("limit %d: %w", what, err))
		}
	}
	return errors.Join(errs...)
}

func limitTo(what int, most uint64) error {
	var now unix.Rlimit
	if err := unix.Getrlimit(what, &now); err != nil {
		return err
	}
	most = min(most, now.Cur, now.Max)
	return unix.Setrlimit(what, &unix.Rlimit{Cur: most, Max: most})
}
