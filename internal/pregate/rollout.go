package pregate

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
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
	nodes      CheckNodes
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
func (r *rollout) Run(ctx context.Context, out io.Writer) (int, error) {
	rec := &memory{}
	alone := *r
	alone.nodes = nil
	if _, err := alone.Observe(ctx, rec, nil); err != nil {
		return -1, err
	}
	j, _ := playbook.Judge(rec.obs)
	for _, f := range j.Findings {
		fmt.Fprintf(out, "%s: %s\n", f.Suspect, f.Message)
	}
	fmt.Fprintln(out, j.Reason)
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
	env, err := r.environment(ctx)
	if err != nil {
		return false, fmt.Errorf("find the cluster for %s: %w", r.Name(), err)
	}
	observer := check.Observer{Recorder: rec, Clock: clock.RealClock{}}
	begin := playbook.Rollout{Playbook: r.spec.Playbook, Hosts: hosts, Waves: waves, Listed: []string{}}
	argv := r.argv("--list-hosts")
	attempt := observer.Begin(playbook.KindRollout, "inventory", ssh.Quote(argv))
	ran, err := r.run(ctx, env, argv)
	if err != nil {
		return false, err
	}
	if begin.ListErr = ran.failure(); begin.ListErr == "" {
		if begin.Listed, err = ansible.ParseHosts(ran.stdout); err != nil {
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
		if err := r.wave(ctx, env, observer, b, fmt.Sprintf("wave %d of %d", i+1, len(waves)), wave); err != nil {
			return false, err
		}
	}
	return b.Clean(), nil
}

// wave applies the playbook to hosts, runs it again, and has the hosts checked.
func (r *rollout) wave(ctx context.Context, env []string, observer check.Observer, b *check.Builder, name string, hosts []string) error {
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
	if w.Applied.Done(hosts) {
		again, err := apply()
		if err != nil {
			return err
		}
		w.Again = &again
	}
	if w.Again != nil && w.Again.Done(hosts) && r.nodes != nil {
		n, err := r.nodes(ctx, preparedRecorder{observer.Recorder}, hosts)
		if err != nil {
			return err
		}
		w.Nodes = &n
	}
	o, err := attempt.Exit(w.Applied.Exit).Raw(log).Store(w, nil)
	if err != nil {
		return err
	}
	playbook.JudgeWave(b, o.ID, r.spec.Playbook, w)
	return nil
}

// preparedRecorder stores observations of a gate as those of a preparation: they are not the gate's own.
type preparedRecorder struct{ check.Recorder }

// Record implements check.Recorder.
func (r preparedRecorder) Record(o check.Observation) (check.Observation, error) {
	kind := o.Kind
	o.Kind = plan.PreparedPrefix + kind
	stored, err := r.Recorder.Record(o)
	stored.Kind = kind
	return stored, err
}
