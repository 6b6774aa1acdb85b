package collective

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"k8s.io/utils/clock"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/evidence/chart"
	"github.com/firstlight/firstlight/internal/gate/gangjob"
	"github.com/firstlight/firstlight/internal/probe/ssh"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
)

// KindProcesses is the kind of the observation of other programs on the GPUs.
const KindProcesses = "nvidia-smi-compute-apps"

// Hosts runs commands on the site's hosts.
type Hosts interface {
	Run(ctx context.Context, host string, argv ...string) (ssh.Output, error)
}

// errNoHosts is the error for a gate that only judges.
var errNoHosts = errors.New("hosts must be set")

// Local is gate 6 of a single node: nccl-tests over its GPUs, without pods. The GPUs of
// other programs are left alone.
type Local struct {
	gate  *Gate
	hosts Hosts
}

// NewLocal returns the gate; hosts may be nil for a gate that only judges.
func NewLocal(s *site.Site, p *profile.Profile, hosts Hosts) *Local {
	return &Local{gate: New(s, p, Deps{}), hosts: hosts}
}

// Name implements check.Check.
func (l *Local) Name() string { return Name }

// Claims is the number of GPUs that the gate uses.
func (l *Local) Claims() int { return l.gate.Claims() }

// Lowered implements plan.Lowers.
func (l *Local) Lowered() []string { return l.gate.Lowered() }

// Charts draws the bandwidth.
func (l *Local) Charts(obs []check.Observation) []chart.Chart { return l.gate.Charts(obs) }

// Describe lists the commands of Observe.
func (l *Local) Describe() []string {
	out := []string{
		ssh.Quote(processQuery()),
	}
	for _, t := range l.gate.suite() {
		out = append(out, fmt.Sprintf("%s, %d times", ssh.Quote(l.argv(t)), l.gate.repetitions()))
	}
	return append(out, "read the transports in NCCL's log (NCCL_DEBUG=INFO)")
}

// processQuery lists programs with a CUDA context: nvidia-smi --help-query-compute-apps.
func processQuery() []string {
	return []string{"nvidia-smi", "--query-compute-apps=pid,process_name,used_memory", "--format=csv,noheader"}
}

// argv is one repetition: one process with all GPUs.
func (l *Local) argv(t test) []string {
	least, most := l.gate.sizes()
	return []string{"env", "NCCL_DEBUG=INFO", t.program, "-b", least, "-e", most, "-f", "2", "-g", strconv.Itoa(l.gate.gpus())}
}

// processes are the programs on the GPUs: a line of nvidia-smi each.
type processes struct {
	Running []string `json:"running"`
}

// Observe implements check.Check.
func (l *Local) Observe(ctx context.Context, rec check.Recorder) error {
	if l.hosts == nil {
		return fmt.Errorf("observe the collective: %w", errNoHosts)
	}
	for _, node := range l.gate.nodes() {
		free, err := l.observeProcesses(ctx, rec, node)
		if err != nil || !free {
			return err
		}
		for _, t := range l.gate.suite() {
			if good, err := l.observeRun(ctx, rec, node, t); err != nil || !good {
				return err
			}
		}
	}
	return nil
}

// observeProcesses reports whether no other program uses a GPU.
func (l *Local) observeProcesses(ctx context.Context, rec check.Recorder, node string) (free bool, err error) {
	attempt := l.observer(rec).Begin(KindProcesses, node, ssh.Quote(processQuery()))
	out, err := l.hosts.Run(ctx, node, processQuery()...)
	attempt = attempt.Raw(out.Stdout).From(out.Origin)
	if err == nil && out.Exit != 0 {
		err = fmt.Errorf("nvidia-smi exited %d: %.200q", out.Exit, append(out.Stderr, out.Stdout...))
	}
	if err != nil {
		return false, attempt.Record(nil, err)
	}
	found := processes{}
	for line := range strings.Lines(string(out.Stdout)) {
		if line = strings.TrimSpace(line); line != "" {
			found.Running = append(found.Running, line)
		}
	}
	return len(found.Running) == 0, attempt.Exit(out.Exit).Record(found, nil)
}

// observeRun runs the repetitions of a test until one fails, records them as one run, and reports whether
// nothing failed: after a failure the other collectives are not run.
func (l *Local) observeRun(ctx context.Context, rec check.Recorder, node string, t test) (good bool, err error) {
	j := job{test: t, scope: ScopeAll, nodes: []string{node}, repetitions: l.gate.repetitions()}
	rec.Progress("%s over %d GPUs, %d repetitions", t.name, l.gate.gpus(), j.repetitions)
	attempt := l.observer(rec).Begin(KindRun, j.target(), ssh.Quote(l.argv(t)))
	running, cancel := context.WithTimeout(ctx, l.gate.site.Workloads.Collective.Timeout.D())
	defer cancel()
	var log bytes.Buffer
	outcome := gangjob.Outcome{Ended: gangjob.EndedDone, Succeeded: true}
	for range j.repetitions {
		out, err := l.hosts.Run(running, node, l.argv(t)...)
		log.Write(out.Stdout)
		log.Write(out.Stderr)
		attempt = attempt.From(out.Origin).Exit(out.Exit)
		switch {
		case ctx.Err() != nil:
			return false, fmt.Errorf("observe the collective: %w", ctx.Err())
		case running.Err() != nil:
			outcome = gangjob.Outcome{Ended: gangjob.EndedTimeout, Problem: "it still ran after " + l.gate.site.Workloads.Collective.Timeout.D().String()}
		case err != nil:
			outcome = gangjob.Outcome{Ended: gangjob.EndedNotRun, Problem: err.Error()}
		case out.Exit == exitNotFound:
			outcome = gangjob.Outcome{Ended: gangjob.EndedNotRun, Problem: fmt.Sprintf("%s not found: %.200q", t.program, bytes.TrimSpace(out.Stderr))}
		case out.Exit != 0:
			outcome.Succeeded, outcome.Problem = false, fmt.Sprintf("%s exited with code %d", t.program, out.Exit)
		}
		if !outcome.Succeeded {
			break
		}
	}
	f, err := l.gate.figures(j, outcome)
	if err != nil {
		return false, err
	}
	f.read([]gangjob.Log{{Data: log.Bytes()}}, "")
	good = outcome.NotRun() == nil && !l.gate.reviewRun("", f).HasFailed()
	return good, attempt.Raw(log.Bytes()).RecordPartial(f, outcome.NotRun())
}

// exitNotFound is env's exit code for a program that it does not find.
const exitNotFound = 127

const (
	remedyProcesses = "wait for these programs to end, or stop them, then run it again with --from collective"
	remedyProgram   = "install nccl-tests and NCCL (https://github.com/NVIDIA/nccl-tests, make without MPI), with its programs in the PATH"
)

// Judge implements check.Check.
func (l *Local) Judge(obs []check.Observation) check.Judgement {
	var b check.Builder
	for _, node := range l.gate.nodes() {
		found, o, _ := check.Require[processes](&b, obs, KindProcesses, node, node, "run nvidia-smi as the user of firstlight")
		if len(found.Running) > 0 {
			b.Unobserved(o.ID, node, remedyProcesses, "its GPUs are in use, so that the collective was not run: %s", list(found.Running))
		}
	}
	for _, o := range check.OfKind(obs, KindRun) {
		if o.Failed() {
			b.Unobserved(o.ID, programOf(o), remedyProgram, "did not run: %s", o.Err)
		}
	}
	if !b.Clean() {
		return b.Judgement("")
	}
	return l.gate.Judge(obs)
}

// programOf is the program of an observation's target.
func programOf(o check.Observation) string {
	for _, t := range tests[1:] {
		if strings.HasSuffix(o.Target, ", "+t.name) {
			return t.program
		}
	}
	return tests[0].program
}

func (l *Local) observer(rec check.Recorder) check.Observer {
	return check.Observer{Recorder: rec, Clock: clock.RealClock{}}
}
