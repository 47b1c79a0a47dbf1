package extract

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"syscall"

	"golang.org/x/sys/unix"
)

// nobody is the user and group that owns nothing, as which a child of root reads documents.
const nobody = 65534

// confine takes from this process, for good and in all of its threads, what reading an open document does
// not need: files, connections, other processes, and root. It is called when all that is on disk is loaded
// and nothing of the document has been looked at. Landlock and the filter of system calls hold the same,
// by other means: half says that one of them is not to be had, err that neither is, or what else is not.
func confine(limits Limits) (half, err error) {
	err = errors.Join(dropRoot(), limitResources(limits))
	landlock, filter := restrictFiles(), filterCalls(needed)
	half = errors.Join(landlock, filter)
	if landlock != nil && filter != nil {
		err = errors.Join(err, half)
	}
	return half, err
}

// confineTool takes from this process what another program does not need that is run in its place: root, connections, other processes, and
// all files but those to read in some folders.
func confineTool(limits Limits, folders []string) error {
	calls := slices.Concat(needed, neededByTools, neededByMachine[runtime.GOARCH])
	return errors.Join(dropRoot(), limitResources(limits), restrictFiles(folders...), filterCalls(calls))
}

// dropRoot makes the process nobody's, if it is root's.
func dropRoot() error {
	if os.Geteuid() != 0 {
		return nil
	}
	for _, drop := range []func() error{
		func() error { return syscall.Setgroups(nil) },
		func() error { return syscall.Setresgid(nobody, nobody, nobody) },
		func() error { return syscall.Setresuid(nobody, nobody, nobody) },
		// Which has taken off that it ends with its Runner.
		func() error { return unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(syscall.SIGKILL), 0, 0, 0) },
	} {
		switch err := drop(); {
		case errors.Is(err, syscall.EPERM): // root of a container that may not
			return nil
		case err != nil:
			return fmt.Errorf("another user: %w", err)
		}
	}
	return nil
}
