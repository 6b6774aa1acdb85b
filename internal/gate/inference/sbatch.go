package inference

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/conformance/dra/allocation"
	"github.com/firstlight/firstlight/internal/evidence/chart"
	"github.com/firstlight/firstlight/internal/gate/onhost"
	"github.com/firstlight/firstlight/internal/gate/slurmjob"
	probe "github.com/firstlight/firstlight/internal/probe/slurm"
	"github.com/firstlight/firstlight/internal/probe/ssh"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
)

// Dial opens a TCP connection from a host to an address.
type Dial func(ctx context.Context, host, address string) (net.Conn, error)

// Sbatch is gate 8 of a Slurm cluster: the same server in a job of one node, submitted by sbatch. Its port is
// reached through the SSH connection to the node, as that of a pod is through the API server.
type Sbatch struct {
	gate   *Gate
	runner slurmjob.Runner
	dial   Dial
}

// NewSbatch returns the gate; deps and dial may be zero for a gate that only judges.
func NewSbatch(s *site.Site, p *profile.Profile, deps onhost.Deps, dial Dial, runID string) *Sbatch {
	b := &Sbatch{gate: New(s, p, Deps{Clock: deps.Clock, RunID: runID}), runner: slurmjob.Runner{Deps: deps.WithDefaults(), Site: s, RunID: runID}, dial: dial}
	b.gate.start, b.gate.dial = b.start, b.connect
	if s.Slurm != nil {
		b.gate.queue = s.Slurm.JobTimeout.D()
	}
	return b
}

// Name implements check.Check.
func (b *Sbatch) Name() string { return Name }

// Claims is the number of GPUs that the gate uses.
func (b *Sbatch) Claims() int { return b.gate.Claims() }

// Lowered implements plan.Lowers.
func (b *Sbatch) Lowered() []string { return b.gate.Lowered() }

// Charts draws the load.
func (b *Sbatch) Charts(obs []check.Observation) []chart.Chart { return b.gate.Charts(obs) }

// Excluding implements plan.Excluding.
func (b *Sbatch) Excluding(nodes []string) check.Check {
	return NewSbatch(b.gate.site.Without(nodes), b.gate.profile, b.runner.Deps, b.dial, b.runner.RunID)
}

// Describe lists the commands of Observe.
func (b *Sbatch) Describe() []string {
	out := append(b.runner.DescribeSubmit(b.job(), b.gate.serve()), fmt.Sprintf("connect to port %d of the node through SSH", b.gate.site.Slurm.ServerPort))
	out = append(out, b.gate.Describe()[1:]...)
	return append(out, strings.Join(probe.JobCommand("JOB"), " ")+"; read the job's output on the login host or its node, cancel the job and delete its file")
}

// portInUse ends the line of requireFreePort.
const portInUse = "of the node is in use"

// requireFreePort ends a job whose port another program has.
const requireFreePort = `if (exec 3<>"/dev/tcp/127.0.0.1/$PORT") 2>/dev/null; then echo "port $PORT ` + portInUse + `"; exit 1; fi
`

// job is the server's pod as a job of Slurm. Its time limit is not reached before the gate's. Gate training, which
// may run at the same time, takes the first nodes, and jobs do not share nodes: the server runs on the last one. Only
// the node itself can connect to it.
func (b *Sbatch) job() slurmjob.Job {
	s, spec := b.gate.site, b.gate.spec()
	j := slurmjob.Job{Gate: Name, Nodes: spec.Nodes[max(0, len(spec.Nodes)-1):], GPUs: spec.GPUs, Env: spec.Env}
	j.Script = requireFreePort + `SERVER_NAME="` + serverName("$SLURM_JOB_ID") + `"` + "\n" + spec.Script
	j.Timeout = s.Workloads.Inference.Timeout.D() + healthWithin + b.gate.endsWithin()
	j.Env["LISTEN"], j.Env["PORT"] = "127.0.0.1", strconv.Itoa(s.Slurm.ServerPort)
	if s.Slurm.Containers == site.ContainersPyxis {
		j.Image = spec.Image
	}
	return j
}

// Observe implements check.Check.
func (b *Sbatch) Observe(ctx context.Context, rec check.Recorder) error {
	if b.runner.Deps.Hosts == nil || b.dial == nil {
		return errors.New("observe the inference: hosts must be set")
	}
	return b.gate.Observe(ctx, rec)
}

// Judge implements check.Check.
func (b *Sbatch) Judge(obs []check.Observation) check.Judgement { return b.gate.Judge(obs) }

func (b *Sbatch) start(ctx context.Context) (server, error) {
	j := b.job()
	s, err := b.runner.Start(ctx, j)
	if err != nil {
		return nil, err
	}
	return &batch{Server: s, gate: b, node: j.Nodes[0]}, nil
}

// connect opens a connection to NODE:PORT: from the node to its own port. That nothing listens there is an answer of
// the node.
func (b *Sbatch) connect(ctx context.Context, _, address string) (net.Conn, error) {
	node, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("connect to the server: %w", err)
	}
	conn, err := b.dial(ctx, node, net.JoinHostPort("127.0.0.1", port))
	if err != nil && !errors.Is(err, ssh.ErrNotConnected) {
		return nil, fmt.Errorf("%w: %w", errUnreached, err)
	}
	return conn, err
}

// batch is a server in a job.
type batch struct {
	*slurmjob.Server
	gate *Sbatch
	node string
}

func (b *batch) where() place                { return place{job: b.ID, node: b.node} }
func (b *batch) claims() *allocation.Figures { return nil }
func (b *batch) service() string             { return "" }
func (b *batch) served() string              { return serverName(b.ID) }

// forward requires that the node can be reached: each connection is forwarded by itself, and a request over one that
// could not be opened in time would not say so.
func (b *batch) forward(ctx context.Context) (addr string, stop func(), err error) {
	addr = net.JoinHostPort(b.node, strconv.Itoa(b.gate.gate.site.Slurm.ServerPort))
	conn, err := b.gate.connect(ctx, "tcp", addr)
	switch {
	case err == nil:
		_ = conn.Close() // nothing was sent
	case !errors.Is(err, ssh.ErrNotConnected): // the requests ask whether the server listens
		return "", nil, err
	}
	return addr, func() {}, nil
}

func (b *batch) ended(ctx context.Context) (crashed bool, reason error) {
	err := b.Wait(ctx)
	return errors.Is(err, slurmjob.ErrEnded), err
}

func (b *batch) log(ctx context.Context) ([]byte, error) { return b.Log(ctx) }

func (b *batch) state(ctx context.Context) (restarts int, job string, err error) {
	now, err := b.Now(ctx)
	return now.Restarts, now.State, err
}

func (b *batch) remove(ctx context.Context) error { return b.Remove(ctx) }
