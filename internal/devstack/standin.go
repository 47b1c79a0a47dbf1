package devstack

import (
	"context"
	"sync"
	"syscall"
	"time"

	"github.com/alicebob/miniredis/v2"
)

// standIn is a Redis inside this process, for machines that have none.
type standIn struct {
	server *miniredis.Miniredis
	cancel context.CancelFunc
	clock  sync.WaitGroup
}

func startStandIn(port int, password string) (*standIn, error) {
	s := &standIn{server: miniredis.NewMiniRedis()}
	s.server.RequireAuth(password)
	if err := s.server.StartAddr(loopback(port)); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	s.cancel = cancel
	s.clock.Go(func() { s.tick(ctx) })
	return s, nil
}

// tick lets time pass: the stand-in has no clock, and would let nothing expire.
func (s *standIn) tick(ctx context.Context) {
	second := time.NewTicker(time.Second)
	defer second.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-second.C:
			s.server.FastForward(time.Second)
		}
	}
}

func (s *standIn) running() bool { return true }

func (s *standIn) stop(context.Context, syscall.Signal, syscall.Signal) bool {
	s.cancel()
	s.clock.Wait()
	s.server.Close()
	return true
}
