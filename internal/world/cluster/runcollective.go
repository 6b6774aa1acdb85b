package cluster

import (
	"cmp"
	"fmt"
	"io"
	"regexp"
	"time"

	"github.com/firstlight/firstlight/internal/world"
	"github.com/firstlight/firstlight/internal/world/collective"
)

// launchTime is the simulated time of mpirun's start and of one repetition of the benchmark.
const launchTime = 50 * time.Millisecond

// echo matches a line of a script that prints a text as it is.
var echo = regexp.MustCompile(`(?m)^echo '([^'\n]*)'$`)

// collective simulates mpirun on rank 0 and the daemon of its ranks on the other nodes.
func (w *worker) collective(out io.Writer, gpus []int) (int, error) {
	if m := echo.FindStringSubmatch(commandOf(w.container)); m != nil {
		if _, err := fmt.Fprintln(out, m[1]); err != nil {
			return 1, fmt.Errorf("run collective: %w", err)
		}
	}
	nodes, okNodes := w.env.number("NNODES", 1)
	reps, okReps := w.env.number("REPETITIONS", 1)
	per, okPer := w.env.number("GPUS_PER_NODE", len(gpus))
	from, errFrom := collective.ParseBytes(w.env["MIN_BYTES"])
	to, errTo := collective.ParseBytes(w.env["MAX_BYTES"])
	if !okNodes || !okReps || !okPer || errFrom != nil || errTo != nil {
		return usage(out, "nccl-tests: bad environment: NNODES=%q REPETITIONS=%q GPUS_PER_NODE=%q MIN_BYTES=%q MAX_BYTES=%q",
			w.env["NNODES"], w.env["REPETITIONS"], w.env["GPUS_PER_NODE"], w.env["MIN_BYTES"], w.env["MAX_BYTES"])
	}
	if err := w.setLoad(gpus, collectiveLoad()); err != nil {
		return 1, err
	}
	g, leave := w.join(gpus[:min(per, len(gpus))])
	defer leave()
	if rankOf(w.pod) != 0 {
		return 0, ignoreDone(w, g.ended(w.ctx))
	}
	defer g.end()
	members, err := g.complete(w.ctx, nodes)
	if err != nil {
		return 0, ignoreDone(w, err)
	}
	if err := sleep(w.ctx, launchTime); err != nil {
		return 0, nil
	}
	state := w.runtime.world.Recent()
	first, _ := state.Node(w.pod.Spec.NodeName)
	program, _ := collective.ProgramIn(commandOf(w.container))
	run := collective.Run{
		Program: program, Uplinks: state.Collective.Uplinks,
		Fabric: first.Hardware.Fabric, CUDA: first.Hardware.Software.CUDA, MinBytes: from, MaxBytes: to, Repetitions: reps,
		HCASelection: w.env["NCCL_IB_HCA"], Debug: w.env["NCCL_DEBUG"] == "INFO",
		Seed: w.seed(state), Corrupt: state.Collective.DataCorruption, Truncated: state.Collective.Truncated,
	}
	for _, m := range members {
		host, ok := state.Node(m.node)
		if !ok {
			return usage(out, "ssh: Could not resolve hostname %s: Name or service not known", m.host)
		}
		run.Corrupt = run.Corrupt || host.DataCorruption
		run.Nodes = append(run.Nodes, collectiveNode(state, host, m))
	}
	exit, err := run.Write(out)
	if err != nil {
		return 1, fmt.Errorf("run collective: %w", err)
	}
	return exit, ignoreDone(w, sleep(w.ctx, time.Duration(reps)*launchTime))
}

// collectiveNode returns a host's properties for NCCL.
func collectiveNode(state world.State, host world.Node, m member) collective.Node {
	n := collective.NodeOf(state, host, m.gpus)
	n.Host, n.Address = m.host, cmp.Or(m.ip, hostIP(host))
	return n
}

// ignoreDone drops the error of a pod that was stopped.
func ignoreDone(w *worker, err error) error {
	select {
	case <-w.ctx.Done():
		return nil
	default:
		return err
	}
}
