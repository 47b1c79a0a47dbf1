package devstack

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
)

// StartStandby copies a running server into dir, and runs the copy as its streaming standby, with the
// same settings and the same password. It is a Postgres like any other, which takes no writes until
// it is promoted.
func (p *Postgres) StartStandby(ctx context.Context, dir string) (*Postgres, error) {
	o := p.options
	o.Dir = dir
	return begin(ctx, &Postgres{options: o, primary: p, log: p.log})
}

// Promote makes a standby take writes. It returns when it does.
func (p *Postgres) Promote(ctx context.Context) error {
	if err := ping(ctx, p.URL(), "SELECT pg_promote()"); err != nil {
		return fmt.Errorf("promote the private PostgreSQL: %w", err)
	}
	return nil
}

// copyPrimary makes the standby's cluster.
func (p *Postgres) copyPrimary(ctx context.Context) error {
	if err := p.passwordOf(p.primary); err != nil {
		return err
	}
	if err := os.Mkdir(p.data(), 0o700); err != nil {
		return err
	}
	if err := p.account.give(p.data()); err != nil {
		return err
	}
	_, err := command(ctx, p.account, p.place, p.binaries.basebackup(),
		"--pgdata", p.data(), "--dbname", p.primary.URL(), "--write-recovery-conf", "--checkpoint=fast", "--no-sync")
	if err != nil {
		return fmt.Errorf("copy the primary: %w", err)
	}
	return nil
}

// passwordOf keeps the password of the server whose data this one has.
func (p *Postgres) passwordOf(other *Postgres) error {
	p.password = other.password
	return os.WriteFile(filepath.Join(p.options.Dir, "password"), []byte(p.password+"\n"), 0o600)
}
