package devstack

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"
)

// ready waits until the server answers on the port.
func (r *Redis) ready(ctx context.Context, proc *process, port int) error {
	var last error
	answered := poll(ctx, func() bool {
		if !proc.running() {
			return true
		}
		last = askRedis(ctx, port, r.password)
		return last == nil
	})
	switch {
	case !proc.running() && strings.Contains(tail(r.logPath()), "Address already in use"):
		return errPortTaken
	case !proc.running():
		return fmt.Errorf("Redis did not start: %s (log: %s)", tail(r.logPath()), r.logPath())
	case !answered:
		return fmt.Errorf("Redis did not answer in time: %w", errors.Join(ctx.Err(), last))
	}
	return nil
}

// askRedis says its password and nothing more. A server of somebody else would not take it.
func askRedis(ctx context.Context, port int, password string) error {
	d := net.Dialer{Timeout: time.Second}
	c, err := d.DialContext(ctx, "tcp4", loopback(port))
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }()
	if err := c.SetDeadline(time.Now().Add(time.Second)); err != nil {
		return err
	}
	if _, err := fmt.Fprintf(c, "AUTH %s\r\n", password); err != nil {
		return err
	}
	line, err := bufio.NewReader(c).ReadString('\n')
	if err == nil && !strings.HasPrefix(line, "+OK") {
		err = fmt.Errorf("answered %q", strings.TrimSpace(line))
	}
	return err
}
