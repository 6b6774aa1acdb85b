package inference

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/conformance/dra/allocation"
	"github.com/firstlight/firstlight/internal/evidence/chart"
	"github.com/firstlight/firstlight/internal/gate/onhost"
	"github.com/firstlight/firstlight/internal/gate/slurmjob"
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
	w := b.gate.site.Workloads.Inference
	commands := b.runner.Describe(b.job(), fmt.Sprintf("vllm serve %s --max-model-len %d --tensor-parallel-size %d", w.Model, w.MaxModelLen, w.GPUs))
	const submitAndStep = 2
	out := append(commands[:submitAndStep:submitAndStep], fmt.Sprintf("connect to port %d of the node through SSH", b.gate.site.Slurm.ServerPort))
	return append(append(out, b.gate.Describe()[1:]...), "read the job's output on its node, cancel the job and delete its file")
}

// ownPort ends a job whose port another program has: its answers would be taken for those of the server.
const ownPort = `if (exec 3<>"/dev/tcp/127.0.0.1/$PORT") 2>/dev/null; then echo "OSError: port $PORT of the node is in use"; exit 1; fi
`

// job is the server's pod as a job of Slurm. Its time limit is not reached before the gate's. Gate training, which
// may run at the same time, takes the first nodes, and jobs do not share nodes: the server runs on the last one.
func (b *Sbatch) job() slurmjob.Job {
	s, spec := b.gate.site, b.gate.spec()
	j := slurmjob.Job{Gate: Name, Nodes: spec.Nodes[max(0, len(spec.Nodes)-1):], GPUs: spec.GPUs, Script: ownPort + spec.Script, Env: spec.Env}
	j.Timeout = b.gate.queue + s.Workloads.Inference.Timeout.D() + healthWithin + endedWithin
	j.Env["PORT"] = strconv.Itoa(s.Slurm.ServerPort)
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
	return &batch{Server: s, node: j.Nodes[0], port: strconv.Itoa(b.gate.site.Slurm.ServerPort)}, nil
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
	node, port string
}

func (b *batch) where() place                { return place{job: b.ID, node: b.node} }
func (b *batch) claims() *allocation.Figures { return nil }
func (b *batch) service() string             { return "" }

// forward has nothing to open: each connection is forwarded by itself.
func (b *batch) forward(context.Context) (addr string, stop func(), err error) {
	return net.JoinHostPort(b.node, b.port), func() {}, nil
}

func (b *batch) ended(ctx context.Context) (crashed bool, reason error) {
	err := b.Wait(ctx)
	return errors.Is(err, slurmjob.ErrEnded), err
}

func (b *batch) log(ctx context.Context) ([]byte, error)    { return b.Log(ctx) }
func (b *batch) restarted(ctx context.Context) (int, error) { return b.Restarts(ctx) }
func (b *batch) remove(ctx context.Context) error           { return b.Remove(ctx) }
