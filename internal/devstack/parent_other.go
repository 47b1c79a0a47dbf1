//go:build !linux

package devstack

import "syscall"

// dieWithParent has no counterpart outside Linux: a killed program leaves its servers behind, and
// the next start tells so.
func dieWithParent(*syscall.SysProcAttr) {}
