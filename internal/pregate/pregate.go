package pregate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"time"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/plan"
	"github.com/firstlight/firstlight/internal/pregate/playbook"
	"github.com/firstlight/firstlight/internal/proctree"
	"github.com/firstlight/firstlight/internal/site"
)

// killGrace is the time between SIGTERM and SIGKILL.
const killGrace = 10 * time.Second

// NodeCheck is the check of nodes after a wave of a playbook.
type NodeCheck struct {
	// Observe observes nodes without putting a load on them; why is why it could not. Its error is the
	// recorder's or the context's.
	Observe func(ctx context.Context, rec check.Recorder, nodes []string) (why string, err error)
	Judge   playbook.JudgeNodes
}

// For returns the hooks that s declares for a gate, in order. nodes follows each wave of a playbook; nil:
// nothing does.
func For(s *site.Site, gate string, kubeconfig Kubeconfig, nodes *NodeCheck) []plan.Prepare {
	var out []plan.Prepare
	for _, p := range s.Prepare {
		if p.Gate != gate {
			continue
		}
		switch {
		case p.Helm != nil:
			out = append(out, &release{spec: *p.Helm, mirror: s.Reach.Charts[p.Helm.Reference()], timeout: p.Timeout.D(), kubeconfig: kubeconfig})
		case p.Rollout() != nil:
			out = append(out, &rollout{spec: *p.Rollout(), hosts: s.NodeNames(), timeout: p.Timeout.D(), kubeconfig: kubeconfig, nodes: nodes})
		default:
			out = append(out, &command{argv: p.Command, timeout: p.Timeout.D(), kubeconfig: kubeconfig})
		}
	}
	return out
}

// command runs a program and kills its whole process tree at the end.
type command struct {
	argv       []string
	timeout    time.Duration
	grace      time.Duration // between SIGTERM and SIGKILL; 0: killGrace
	kubeconfig Kubeconfig
}

var _ plan.Prepare = (*command)(nil)

// Name is the command line.
func (c *command) Name() string { return strings.Join(c.argv, " ") }

// Run runs the command with KUBECONFIG set to the site's cluster.
func (c *command) Run(ctx context.Context, out io.Writer, _ func(string)) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	cmd := exec.Command(c.argv[0], c.argv[1:]...) //nolint:noctx // proctree.Run has the context
	cmd.Stdout, cmd.Stderr = out, out
	env, remove, err := c.kubeconfig.environment(ctx)
	if err != nil {
		return -1, fmt.Errorf("find the cluster for %s: %w", c.Name(), err)
	}
	defer remove()
	cmd.Env = append(cmd.Environ(), env...)
	err = proctree.Run(ctx, cmd, cmp.Or(c.grace, killGrace))
	if exited, ok := errors.AsType[*exec.ExitError](err); ok {
		return exited.ExitCode(), nil
	}
	if err != nil {
		return -1, fmt.Errorf("run %s: %w", c.Name(), err)
	}
	return 0, nil
}
