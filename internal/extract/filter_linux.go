package extract

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// needed are the system calls of Go's runtime, and of C's where it is linked, for memory, threads, time,
// signals, and files that are open. All others are refused.
var needed = []uint32{
	unix.SYS_READ, unix.SYS_WRITE, unix.SYS_READV, unix.SYS_WRITEV, unix.SYS_PREAD64, unix.SYS_LSEEK, unix.SYS_FSTAT, unix.SYS_CLOSE,
	unix.SYS_MMAP, unix.SYS_MUNMAP, unix.SYS_MPROTECT, unix.SYS_MADVISE, unix.SYS_MREMAP, unix.SYS_MINCORE, unix.SYS_BRK, unix.SYS_PRCTL,
	unix.SYS_FUTEX, unix.SYS_SCHED_YIELD, unix.SYS_SCHED_GETAFFINITY, unix.SYS_SET_ROBUST_LIST, unix.SYS_RSEQ, unix.SYS_MEMBARRIER,
	unix.SYS_NANOSLEEP, unix.SYS_CLOCK_NANOSLEEP, unix.SYS_CLOCK_GETTIME, unix.SYS_CLOCK_GETRES, unix.SYS_GETTIMEOFDAY,
	unix.SYS_TIMER_CREATE, unix.SYS_TIMER_SETTIME, unix.SYS_TIMER_DELETE, unix.SYS_SETITIMER,
	unix.SYS_RT_SIGACTION, unix.SYS_RT_SIGPROCMASK, unix.SYS_RT_SIGRETURN, unix.SYS_SIGALTSTACK, unix.SYS_RESTART_SYSCALL,
	unix.SYS_EPOLL_CREATE1, unix.SYS_EPOLL_CTL, unix.SYS_EPOLL_PWAIT, unix.SYS_EVENTFD2, unix.SYS_GETRANDOM,
	unix.SYS_GETPID, unix.SYS_GETTID, unix.SYS_GETUID, unix.SYS_SYSINFO, unix.SYS_EXIT, unix.SYS_EXIT_GROUP,
}

// neededByTools are what programs need beside: to be started in this process's place, and files to read. Which files, Landlock says.
var neededByTools = []uint32{
	unix.SYS_EXECVE, unix.SYS_OPENAT, unix.SYS_STATX, unix.SYS_READLINKAT, unix.SYS_FACCESSAT, unix.SYS_FACCESSAT2,
	unix.SYS_GETDENTS64, unix.SYS_GETCWD, unix.SYS_PRLIMIT64, unix.SYS_SET_TID_ADDRESS, unix.SYS_UNAME, unix.SYS_SCHED_SETAFFINITY,
	unix.SYS_GETEUID, unix.SYS_GETGID, unix.SYS_GETEGID, unix.SYS_GETPPID, unix.SYS_GETRUSAGE, unix.SYS_TIMES, unix.SYS_FADVISE64, unix.SYS_IOCTL,
	unix.SYS_DUP, unix.SYS_FCNTL,
}

// neededByMachine are further ones by machine, whose numbers others don't have: of amd64 newfstatat and arch_prctl, of arm64 fstatat.
var neededByMachine = map[string][]uint32{"amd64": {262, 158}, "arm64": {79}}

// The parts of seccomp_data (seccomp(2)): of an argument the lower half, on machines that begin with it.
const (
	offsetCall    = 0
	offsetMachine = 4
	offsetFirst   = 16
	offsetSecond  = 24
)

// machines are those whose calls the filter knows.
var machines = map[string]uint32{"amd64": unix.AUDIT_ARCH_X86_64, "arm64": unix.AUDIT_ARCH_AARCH64}

// filterCalls has the kernel refuse all system calls but those that are needed: threads are started, but no
// processes, and signals go to this process alone.
func filterCalls(needed []uint32) error {
	machine, known := machines[runtime.GOARCH]
	if !known {
		return errors.New("seccomp: no filter for " + runtime.GOARCH)
	}
	program := filter(machine, uint32(os.Getpid()), needed)
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("seccomp: %w", err)
	}
	all := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	thread, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&all))) //nolint:gosec // as the call takes it
	switch {
	case errno != 0:
		return fmt.Errorf("seccomp: %w", errno)
	case thread != 0:
		return fmt.Errorf("seccomp: thread %d has another filter", thread)
	}
	return nil
}

// filter is the program for the kernel's classic BPF.
func filter(machine, self uint32, needed []uint32) []unix.SockFilter {
	const (
		load   = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS
		equal  = unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K
		masked = unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K
		give   = unix.BPF_RET | unix.BPF_K
		refuse = unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)
		// C takes the older call then, whose flags can be seen from here.
		missing = unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)
	)
	// only allows a call whose argument passes; the argument takes the place of the call's number.
	only := func(call, argument uint32, test uint16, value uint32) []unix.SockFilter {
		return []unix.SockFilter{
			{Code: equal, Jf: 4, K: call},
			{Code: load, K: argument},
			{Code: test, Jf: 1, K: value},
			{Code: give, K: unix.SECCOMP_RET_ALLOW},
			{Code: give, K: refuse},
		}
	}
	p := []unix.SockFilter{
		{Code: load, K: offsetMachine}, {Code: equal, Jt: 1, K: machine}, {Code: give, K: refuse}, {Code: load, K: offsetCall},
	}
	p = append(p, only(unix.SYS_CLONE, offsetFirst, masked, unix.CLONE_THREAD)...)
	p = append(p, only(unix.SYS_TGKILL, offsetFirst, equal, self)...)
	// To ask for a file's flags is all: a file can also be told to send signals to others.
	p = append(p, only(unix.SYS_FCNTL, offsetSecond, equal, unix.F_GETFL)...)
	p = append(p, unix.SockFilter{Code: equal, Jf: 1, K: unix.SYS_CLONE3}, unix.SockFilter{Code: give, K: missing})
	for _, call := range needed {
		p = append(p, unix.SockFilter{Code: equal, Jf: 1, K: call}, unix.SockFilter{Code: give, K: unix.SECCOMP_RET_ALLOW})
	}
	return append(p, unix.SockFilter{Code: give, K: refuse})
}
