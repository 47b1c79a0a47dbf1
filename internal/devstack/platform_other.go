//go:build !unix

package devstack

import (
	"os"
	"syscall"
)

const freezing, thawing syscall.Signal = 0, 0

type account struct{ name string }

func serverAccount() (*account, error) { return nil, ErrUnsupported }

func (*account) give(string) error { return ErrUnsupported }

func childAttributes(*account, syscall.Signal) *syscall.SysProcAttr { return nil }

func takeLock(string) (*os.File, error) { return nil, ErrUnsupported }

func ownedByUs(os.FileInfo) bool { return false }

func alive(int) bool { return false }

func memoryFolder() string { return "" }

func worksIn(int, string) bool { return false }

func signalPID(int, syscall.Signal) error { return ErrUnsupported }
