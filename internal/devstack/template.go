package devstack

import (
	"context"
	"errors"
	"fmt"
	"os"
)

// StartCopy runs another server on a copy of the data of this one, which Stop has ended, with the same
// password. It is a cluster on its own from then on, but for PostgreSQL's system identifier, which stays.
func (p *Postgres) StartCopy(ctx context.Context, o PostgresOptions) (*Postgres, error) {
	p.mu.Lock()
	stopped := p.lock == nil
	p.mu.Unlock()
	if !stopped {
		return nil, errors.New("the private PostgreSQL to copy still runs")
	}
	return begin(ctx, &Postgres{options: o, template: p, log: orDiscard(o.Log)})
}

// copyTemplate makes the cluster of a copy, which is not synced.
func (p *Postgres) copyTemplate(ctx context.Context) error {
	if err := p.passwordOf(p.template); err != nil {
		return err
	}
	unfinished, err := unfinishedCluster(p.place, p.account)
	if err != nil {
		return err
	}
	if _, err := command(ctx, p.account, p.place, "cp", "-Rp", p.template.data()+"/.", unfinished); err != nil {
		return fmt.Errorf("copy a PostgreSQL cluster: %w", err)
	}
	return os.Rename(unfinished, p.data())
}
