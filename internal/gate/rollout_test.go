package gate_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/gate"
	"github.com/firstlight/firstlight/internal/gate/node"
	"github.com/firstlight/firstlight/internal/probe/ssh"
	"github.com/firstlight/firstlight/internal/site"
)

// noHosts has no host that answers.
type noHosts struct{}

func (noHosts) Run(context.Context, string, ...string) (ssh.Output, error) {
	return ssh.Output{}, errors.New("no route to host")
}

type recorded struct{ obs []check.Observation }

func (r *recorded) Record(o check.Observation) (check.Observation, error) {
	r.obs = append(r.obs, o)
	return o, nil
}

func (*recorded) Progress(string, ...any) {}

// The nodes of a wave are judged by the rules of gate node from the observations alone: nodes that were
// not observed, in part or at all, and only these, have a finding. Before gate node there are no rules.
func TestNodesAfterAWaveAreJudged(t *testing.T) {
	t.Parallel()
	s, p := example(t)
	no := false
	s.Prepare = []site.Prepare{
		{Gate: "node", Ansible: &site.Ansible{Playbook: "a.yaml", Idempotent: &no}}, {Gate: "node", Command: []string{"true"}},
		{Gate: "node", Playbook: "b.yaml"}, {Gate: "gpustack", Playbook: "c.yaml"},
	}
	if before := gate.Playbooks(s, p, "fabric"); before.Nodes != nil || len(before.Once) > 0 {
		t.Errorf("%+v", before)
	}
	want := gate.Playbooks(s, p, "node")
	if !slices.Equal(want.Once, []bool{true, false}) || !slices.Equal(want.Hosts, s.NodeNames()) || want.Nodes == nil {
		t.Fatalf("%+v", want)
	}
	wave := s.NodeNames()[:2]
	suspects := func(obs []check.Observation) []string {
		failed, unobserved := want.Nodes(wave, obs)
		if len(failed) > 0 {
			t.Errorf("failed: %+v", failed)
		}
		var out []string
		for _, f := range unobserved {
			out = append(out, f.Suspect)
		}
		slices.Sort(out)
		return slices.Compact(out)
	}
	if got := suspects(nil); !slices.Equal(got, wave) {
		t.Errorf("nothing observed: %q", got)
	}
	rec := &recorded{}
	light := node.NewLowLoad(s, p, node.Deps{Hosts: noHosts{}})
	if err := light.Observe(t.Context(), rec, wave[0]); err != nil {
		t.Fatal(err)
	}
	if got := suspects(rec.obs); !slices.Equal(got, wave) {
		t.Errorf("no answer: %q", got)
	}
	plan, err := gate.Playbook(s, p, gate.Access{})
	if err != nil {
		t.Fatal(err)
	}
	if step, _ := plan.Step("node"); !slices.Equal(step.Playbooks.Once, want.Once) || step.Playbooks.Nodes == nil {
		t.Errorf("%+v", step.Playbooks)
	}
}
