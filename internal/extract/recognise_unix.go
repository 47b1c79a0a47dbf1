//go:build unix

package extract

import "syscall"

// runInstead has a program take the place of this one.
func runInstead(program string, args, env []string) error { return syscall.Exec(program, args, env) }
