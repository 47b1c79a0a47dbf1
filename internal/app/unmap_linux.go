package app

import (
	"bufio"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// unmapProgram has the kernel take the pages of the program's own file out of the process that the start has touched: most are for the start alone. They
// stay in the kernel's cache while it has room for them, and the process gets each back at once when it needs it.
func unmapProgram() {
	program, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return
	}
	maps, err := os.Open("/proc/self/maps")
	if err != nil {
		return
	}
	defer func() { _ = maps.Close() }()
	for lines := bufio.NewScanner(maps); lines.Scan(); {
		if fields := strings.Fields(lines.Text()); len(fields) == 6 && fields[5] == program && (fields[1] == "r-xp" || fields[1] == "r--p") {
			unmap(fields[0])
		}
	}
}

// unmap lets the pages of a range go, which nothing has written to: begin-end, in hexadecimal. It is no matter if that fails.
func unmap(between string) {
	first, last, _ := strings.Cut(between, "-")
	begin, err := strconv.ParseUint(first, 16, 64)
	if err != nil {
		return
	}
	end, err := strconv.ParseUint(last, 16, 64)
	if err != nil {
		return
	}
	_, _, _ = unix.Syscall(unix.SYS_MADVISE, uintptr(begin), uintptr(end-begin), unix.MADV_DONTNEED)
}
