package slurm

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/gate/onhost"
	"github.com/firstlight/firstlight/internal/gate/slurmjob"
	"github.com/firstlight/firstlight/internal/probe/ssh"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
)

// Deps are the dependencies of Observe. They are zero for a gate that only judges.
type Deps struct {
	onhost.Deps
	// RunID is part of the names of jobs.
	RunID string
}

// base is what both gates have.
type base struct {
	site    *site.Site
	profile *profile.Profile
	deps    Deps
}

func newBase(s *site.Site, p *profile.Profile, deps Deps) base {
	deps.Deps = deps.WithDefaults()
	return base{site: s, profile: p, deps: deps}
}

func (g *base) host() string { return g.site.Slurm.Host() }
func (g *base) gpus() int    { return int(g.profile.Node.GPUs.Value) }

// Claims is the number of GPUs that the gate uses: its job has all of them.
func (g *base) Claims() int { return len(g.site.Inventory.Nodes) * g.gpus() }

func (g *base) runner() slurmjob.Runner {
	return slurmjob.Runner{Deps: g.deps.Deps, Site: g.site, RunID: g.deps.RunID}
}

func (g *base) observer(rec check.Recorder) check.Observer {
	return check.Observer{Recorder: rec, Clock: g.deps.Clock}
}

// ready is an error for a gate that only judges.
func (g *base) ready() error {
	if g.deps.Hosts == nil {
		return errors.New("observe Slurm: hosts must be set")
	}
	return nil
}

// run runs a command on the login host and records its figures. An exit code other than 0 is an error.
func (g *base) run(ctx context.Context, rec check.Recorder, kind string, argv []string, parse onhost.Parser) (any, error) {
	return g.deps.Run(ctx, rec, kind, g.host(), argv, func(out ssh.Output) (any, error) {
		if out.Exit != 0 {
			return nil, exitError(argv, out)
		}
		return parse(out)
	})
}

func exitError(argv []string, out ssh.Output) error {
	return fmt.Errorf("%s exited with code %d: %s", argv[0], out.Exit, slurmjob.FirstLines(out))
}

// interval is the time between two reads of a state that changes by itself.
const interval = 2 * time.Second
