package pregate

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/plan"
	"github.com/firstlight/firstlight/internal/pregate/playbook"
	"github.com/firstlight/firstlight/internal/probe/ansible"
	"github.com/firstlight/firstlight/internal/probe/ssh"
	"github.com/firstlight/firstlight/internal/site"
)

// rollout applies a playbook to the nodes of the site, in waves.
type rollout struct {
	spec  site.Ansible
	hosts []string
	// timeout is for each run of ansible-playbook.
	timeout    time.Duration
	kubeconfig Kubeconfig
	nodes      *NodeCheck
}

var _ plan.ObservingPrepare = (*rollout)(nil)

// Name is the command line for all nodes.
func (r *rollout) Name() string { return ssh.Quote(r.argv()) }

// argv are the arguments of ansible-playbook, before those of one run.
func (r *rollout) argv(more ...string) []string {
	argv := []string{"ansible-playbook"}
	if r.spec.Inventory != "" {
		argv = append(argv, "-i", r.spec.Inventory)
	}
	argv = append(argv, r.spec.Args...)
	return append(append(argv, more...), r.spec.Playbook)
}

// Run is Observe without a check of the nodes; out gets a line for each finding.
func (r *rollout) Run(ctx context.Context, out io.Writer, _ func(string)) (int, error) {
	rec := &memory{}
	alone := *r
	alone.nodes = nil
	if _, err := alone.Observe(ctx, rec, nil); err != nil {
		return -1, err
	}
	j, once, _ := playbook.Judge(rec.obs, playbook.Expected{Once: []bool{r.spec.Once()}})
	for _, f := range j.Findings {
		fmt.Fprintf(out, "%s: %s\n", f.Suspect, f.Message)
	}
	fmt.Fprintln(out, j.Reason)
	for _, p := range once {
		fmt.Fprintln(out, playbook.NoSecondRun(p))
	}
	if j.Verdict != check.Passed {
		return 1, nil
	}
	return 0, nil
}

type memory struct{ obs []check.Observation }

func (m *memory) Record(o check.Observation) (check.Observation, error) {
	m.obs = append(m.obs, o)
	return o, nil
}

func (m *memory) Progress(string, ...any) {}

// Observe implements plan.ObservingPrepare: it lists the hosts of the playbook, then applies it to one
// wave after the other. A wave with a finding is the last one.
func (r *rollout) Observe(ctx context.Context, rec check.Recorder, leftOut []string) (proceed bool, err error) {
	hosts := slices.DeleteFunc(slices.Clone(r.hosts), func(h string) bool { return slices.Contains(leftOut, h) })
	waves, err := r.spec.WavesOf(hosts)
	if err != nil {
		return false, fmt.Errorf("prepare %s: %w", r.spec.Playbook, err)
	}
	cluster, remove, err := r.kubeconfig.environment(ctx)
	if err != nil {
		return false, fmt.Errorf("find the cluster for %s: %w", r.Name(), err)
	}
	defer remove()
	env := append(environment(), cluster...)
	observer := check.Observer{Recorder: rec, Clock: clock.RealClock{}}
	begin := playbook.Rollout{Playbook: r.spec.Playbook, Hosts: hosts, Waves: waves, Once: r.spec.Once(), Plays: []ansible.Play{}}
	argv := r.argv("--list-hosts")
	attempt := observer.Begin(playbook.KindRollout, "inventory", ssh.Quote(argv))
	ran, err := r.run(ctx, env, argv)
	if err != nil {
		return false, err
	}
	if begin.ListErr = ran.failure(); begin.ListErr == "" {
		if begin.Plays, err = ansible.ParseHosts(ran.stdout); err != nil {
			begin.ListErr = err.Error()
		}
	}
	o, err := attempt.Exit(ran.exit).Raw(ran.log()).Store(begin, nil)
	if err != nil {
		return false, err
	}
	b := &check.Builder{}
	playbook.JudgeBegin(b, o.ID, begin)
	for i, wave := range waves {
		if !b.Clean() {
			return false, nil
		}
		rec.Progress("wave %d of %d: %s", i+1, len(waves), strings.Join(wave, ", "))
		if err := r.wave(ctx, env, observer, b, begin, fmt.Sprintf("wave %d of %d", i+1, len(waves)), wave); err != nil {
			return false, err
		}
	}
	return b.Clean(), nil
}

// wave applies the playbook to hosts, runs it again unless the site switches that off, and has the hosts
// observed.
func (r *rollout) wave(ctx context.Context, env []string, observer check.Observer, b *check.Builder, begin playbook.Rollout, name string, hosts []string) error {
	argv := r.argv("--limit", strings.Join(hosts, ","))
	attempt := observer.Begin(playbook.KindWave, name, ssh.Quote(argv))
	w := playbook.Wave{Hosts: hosts}
	var log []byte
	apply := func() (run playbook.Run, err error) {
		ran, err := r.run(ctx, env, argv)
		if err != nil {
			return run, err
		}
		log = append(log, ran.log()...)
		return ran.result(), nil
	}
	var err error
	if w.Applied, err = apply(); err != nil {
		return err
	}
	done := w.Applied.Done(hosts)
	if done && !begin.Once {
		again, err := apply()
		if err != nil {
			return err
		}
		w.Again, done = &again, again.Done(hosts)
	}
	seen := &nodeRecorder{Recorder: observer.Recorder}
	var judge playbook.JudgeNodes
	if r.nodes != nil {
		judge = r.nodes.Judge
		if done {
			if w.NodesErr, err = r.nodes.Observe(ctx, seen, hosts); err != nil {
				return err
			}
		}
	}
	o, err := attempt.Exit(w.Applied.Exit).Raw(log).Store(w, nil)
	if err != nil {
		return err
	}
	playbook.JudgeWave(b, o.ID, begin, w, judge, seen.obs)
	return nil
}

// nodeRecorder stores observations of nodes as those of a preparation: they are not the gate's own.
type nodeRecorder struct {
	check.Recorder
	mu  sync.Mutex
	obs []check.Observation
}

// Record implements check.Recorder; it also keeps what is stored.
func (r *nodeRecorder) Record(o check.Observation) (check.Observation, error) {
	kind := o.Kind
	o.Kind = playbook.NodePrefix + kind
	stored, err := r.Recorder.Record(o)
	stored.Kind = kind
	if err == nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.obs = append(r.obs, stored)
	}
	return stored, err
}
