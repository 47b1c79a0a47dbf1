package extract

import (
	"fmt"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// restrictFiles puts the process into a Landlock domain that handles all that the kernel's version knows of,
// and allows nothing but to read and run what is in some folders (https://docs.kernel.org/userspace-api/landlock.html).
func restrictFiles(folders ...string) error {
	version, err := landlockVersion()
	if err != nil {
		return err
	}
	attr, size := handled(version)
	ruleset, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), size, 0) //nolint:gosec // as the call takes it
	if errno != 0 {
		return fmt.Errorf("landlock: %w", errno)
	}
	defer unix.Close(int(ruleset)) //nolint:errcheck // it is in force, or of no use
	for _, folder := range folders {
		if err := allowReading(int(ruleset), folder); err != nil {
			return err
		}
	}
	// Each thread has a domain of its own. Where C has threads, too, Go can't reach them all and refuses.
	for _, call := range [][3]uintptr{{unix.SYS_PRCTL, unix.PR_SET_NO_NEW_PRIVS, 1}, {unix.SYS_LANDLOCK_RESTRICT_SELF, ruleset, 0}} {
		if _, _, errno := syscall.AllThreadsSyscall(call[0], call[1], call[2], 0); errno != 0 {
			return fmt.Errorf("landlock: %w", errno)
		}
	}
	return nil
}

// allowReading allows what is in a folder to be read and run, if the folder is there.
func allowReading(ruleset int, folder string) error {
	fd, err := unix.Open(folder, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil // there is nothing to be read then
	}
	defer unix.Close(fd) //nolint:errcheck // it was only asked for
	rule := unix.LandlockPathBeneathAttr{
		Allowed_access: unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR | unix.LANDLOCK_ACCESS_FS_EXECUTE,
		Parent_fd:      int32(fd),
	}
	_, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(ruleset), unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(&rule)), 0, 0, 0) //nolint:gosec // as the call takes it
	if errno != 0 {
		return fmt.Errorf("landlock: %s: %w", folder, errno)
	}
	return nil
}

// landlockVersion is that of the kernel; an error where it has none, or was started without.
func landlockVersion() (int, error) {
	version, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return 0, fmt.Errorf("landlock: %w", errno)
	}
	return int(version), nil
}

// handled is what a domain may be about, and how long its description is, by the version of Landlock.
func handled(version int) (attr unix.LandlockRulesetAttr, size uintptr) {
	attr.Handled_access_fs = unix.LANDLOCK_ACCESS_FS_MAKE_SYM<<1 - 1 // this, and all before it
	size = unsafe.Offsetof(attr.Handled_access_net)
	if version >= 2 {
		attr.Handled_access_fs |= unix.LANDLOCK_ACCESS_FS_REFER
	}
	if version >= 3 {
		attr.Handled_access_fs |= unix.LANDLOCK_ACCESS_FS_TRUNCATE
	}
	if version >= 4 {
		attr.Handled_access_net = unix.LANDLOCK_ACCESS_NET_BIND_TCP | unix.LANDLOCK_ACCESS_NET_CONNECT_TCP
		size = unsafe.Offsetof(attr.Scoped)
	}
	if version >= 5 {
		attr.Handled_access_fs |= unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	}
	if version >= 6 {
		attr.Scoped = unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | unix.LANDLOCK_SCOPE_SIGNAL
		size = unsafe.Offsetof(attr.Quiet_access_fs)
	}
	return attr, size
}
