package devstack

import (
	"errors"
	"os"
	"os/user"
	"strconv"
	"syscall"
)

// serverUser is who PostgreSQL runs as where this program is root, for whom it refuses to run; nil
// stands for this program's own user.
func serverUser() (*syscall.Credential, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err1 := strconv.ParseUint(u.Uid, 10, 32)
		gid, err2 := strconv.ParseUint(u.Gid, 10, 32)
		if err := errors.Join(err1, err2); err != nil {
			return nil, err
		}
		return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
	}
	return nil, errors.New("PostgreSQL does not run as root, and there is no user postgres or nobody")
}

func as(c *syscall.Credential) *syscall.SysProcAttr { return &syscall.SysProcAttr{Credential: c} }

func chown(path string, c *syscall.Credential) error {
	if c == nil {
		return nil
	}
	return os.Chown(path, int(c.Uid), int(c.Gid))
}
