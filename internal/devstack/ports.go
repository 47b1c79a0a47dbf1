package devstack

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// errPortTaken says that somebody else took the port between our look and the server's.
var errPortTaken = errors.New("the port was taken")

const (
	// portTries is how often a start is tried on another port.
	portTries = 3
	// portPatience is how long a remembered port is waited for: what ended last may hold it a moment longer.
	portPatience = 3 * time.Second
	// lowestPort and ports are where servers listen: below the ports that systems give to clients (from 32768 on in Linux, 49152 elsewhere), so that
	// no connection of anybody has one by chance, also while a server is away for a moment.
	lowestPort = 20000
	ports      = 10000
	// portLooks is how many are looked at before none is said to be free.
	portLooks = 100
)

// onPort runs start on the port that the folder remembers, where that is free or soon is, or else on another, which it remembers.
func onPort(ctx context.Context, dir string, start func(port int) error) error {
	file := filepath.Join(dir, "port")
	port := rememberedPort(file)
	if port != 0 && !portFreed(ctx, port) {
		port = 0
	}
	var err error
	for range portTries {
		if port == 0 {
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
		port = 0
	}
	return err
}

// portFreed waits until nobody listens on the port, and tells whether that came.
func portFreed(ctx context.Context, port int) bool {
	ctx, cancel := context.WithTimeout(ctx, portPatience)
	defer cancel()
	return poll(ctx, func() bool { return portFree(port) })
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
	l, err := listenFree()
	if err != nil {
		return 0, err
	}
	return l.Addr().(*net.TCPAddr).Port, l.Close()
}

// listenFree listens on a port that nobody has. It is drawn: of two processes that look at once each finds another.
func listenFree() (l net.Listener, err error) {
	for range portLooks {
		if l, err = net.Listen("tcp4", loopback(lowestPort+rand.IntN(ports))); err == nil {
			return l, nil
		}
	}
	return nil, fmt.Errorf("find a free port: %w", err)
}

// FreeAddress is one on loopback that nobody listens on.
func FreeAddress() (string, error) {
	port, err := freePort()
	return loopback(port), err
}

// FreeAddresses are several, each another: they are asked for while those before are still taken.
func FreeAddresses(n int) (list []string, err error) {
	for range n {
		l, err := listenFree()
		if err != nil {
			return nil, err
		}
		defer func() { _ = l.Close() }()
		list = append(list, l.Addr().String())
	}
	return list, nil
}

func loopback(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }
