package devstack

// Running tells whether the server runs, by itself or since it was started anew.
func (p *Postgres) Running() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.lock != nil && p.proc.running()
}

// PID is the number of its first process.
func (p *Postgres) PID() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.proc.pid()
}

// Running tells whether the server runs, by itself or since it was started anew.
func (r *Redis) Running() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.server != nil && r.server.running()
}

// PID is the number of its process; 0 for the stand-in.
func (r *Redis) PID() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	proc, _ := r.server.(*process)
	return proc.pid()
}

// Running tells whether the pooler runs.
func (b *PgBouncer) Running() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.proc.running()
}

// PID is the number of its process.
func (b *PgBouncer) PID() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.proc.pid()
}

func (p *process) pid() int {
	if p == nil {
		return 0
	}
	return p.cmd.Process.Pid
}
