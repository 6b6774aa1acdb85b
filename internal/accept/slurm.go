package accept

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/evidence"
	"github.com/firstlight/firstlight/internal/probe/slurm"
	"github.com/firstlight/firstlight/internal/probe/ssh"
)

// slurmKind is the kind of the observation that identifies a Slurm cluster.
const slurmKind = "slurm"

// ofSlurm is the identity of a Slurm cluster: its name and the host of its first slurmctld, as Slurm
// has no ID of a cluster. Nothing shows whether its hardware is simulated.
func ofSlurm(raw []byte) (identity, error) {
	c, err := slurm.ParseConfig(raw)
	if err != nil {
		return identity{}, fmt.Errorf("identify the Slurm cluster: %w", err)
	}
	host, _, _ := strings.Cut(c.Controllers[0], "(") // with its address in parentheses
	return identity{uid: evidence.SlurmPrefix + c.Cluster + "@" + host}, nil
}

// thisSlurm identifies the Slurm cluster of the site.
func (x *execution) thisSlurm(ctx context.Context) (identity, ssh.Output, error) {
	out, err := x.opts.Slurm(ctx, slurm.ConfigCommand()...)
	if err != nil {
		return identity{}, out, fmt.Errorf("identify the Slurm cluster: %w", err)
	}
	id, err := ofSlurm(out.Stdout)
	return id, out, err
}

// identifySlurm records the identity of the Slurm cluster.
func (x *execution) identifySlurm(ctx context.Context) {
	if err := x.recordSlurm(ctx); err != nil {
		x.note("%v", err)
	}
}

func (x *execution) recordSlurm(ctx context.Context) error {
	id, out, err := x.thisSlurm(ctx)
	if err != nil {
		return err
	}
	if _, err := x.run.Record(0, slurmObservation(id, out, x.now())); err != nil {
		return err
	}
	return x.run.Amend(func(h *evidence.Header) { h.Cluster = id.uid })
}

func slurmObservation(id identity, out ssh.Output, at time.Time) check.Observation {
	return check.Observation{
		Check: IdentityCheck, Kind: slurmKind, Target: id.uid, Command: strings.Join(slurm.ConfigCommand(), " "), At: at, Raw: out.Stdout, Origin: out.Origin,
	}
}
