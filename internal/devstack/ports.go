package devstack

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// errPortTaken says that somebody else took the port between our look and the server's.
var errPortTaken = errors.New("the port was taken")

// portTries is how often a start is tried on another port.
const portTries = 3

// onPort runs start on the port that the folder remembers, where that is free, or else on another,
// which it remembers.
func onPort(dir string, start func(port int) error) error {
	file := filepath.Join(dir, "port")
	var err error
	for range portTries {
		port := rememberedPort(file)
		if port == 0 || !portFree(port) {
			if port, err = freePort(); err != nil {
				return err
			}
			if err = os.WriteFile(file, []byte(strconv.Itoa(port)+"\n"), 0o600); err != nil {
				return err
			}
		}
		if err = start(port); !errors.Is(err, errPortTaken) {
			return err
		}
	}
	return err
}

func rememberedPort(file string) int {
	text, err := os.ReadFile(file)
	if err != nil {
		return 0
	}
	port, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || port < 1024 || port > 65535 {
		return 0
	}
	return port
}

func portFree(port int) bool {
	l, err := net.Listen("tcp4", loopback(port))
	if err != nil {
		return false
	}
	return l.Close() == nil
}

func freePort() (int, error) {
	l, err := net.Listen("tcp4", loopback(0))
	if err != nil {
		return 0, fmt.Errorf("find a free port: %w", err)
	}
	return l.Addr().(*net.TCPAddr).Port, l.Close()
}

// FreeAddress is one on loopback that nobody listens on.
func FreeAddress() (string, error) {
	port, err := freePort()
	return loopback(port), err
}

// FreeAddresses are several, each another: they are asked for while those before are still taken.
func FreeAddresses(n int) (list []string, err error) {
	for range n {
		l, err := net.Listen("tcp4", loopback(0))
		if err != nil {
			return nil, fmt.Errorf("find a free port: %w", err)
		}
		defer func() { _ = l.Close() }()
		list = append(list, l.Addr().String())
	}
	return list, nil
}

func loopback(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }
