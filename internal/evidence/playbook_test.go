package evidence

import (
	"bytes"
	"context"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/plan"
	"github.com/firstlight/firstlight/internal/pregate/playbook"
	"github.com/firstlight/firstlight/internal/probe/ansible"
)

// playbookOnOne is a playbook that was applied to gpu-01, whose GPUs were counted after the wave.
type playbookOnOne struct{ once bool }

func (playbookOnOne) Name() string { return "ansible-playbook p.yaml" }

func (playbookOnOne) Run(context.Context, io.Writer, func(string)) (int, error) { return 0, nil }

func (p playbookOnOne) Observe(_ context.Context, rec check.Recorder, _ []string) (bool, error) {
	host := []string{"gpu-01"}
	run := playbook.Run{Result: &ansible.Result{Hosts: map[string]ansible.Host{"gpu-01": {Stats: ansible.Stats{OK: 1}, Done: 1}}}}
	wave := playbook.Wave{Hosts: host, Applied: run, Again: &run}
	if p.once {
		wave.Again = nil
	}
	for _, s := range []struct {
		kind    string
		figures any
	}{
		{playbook.KindRollout, playbook.Rollout{Playbook: "p.yaml", Hosts: host, Plays: []ansible.Play{{Name: "play #1", Hosts: host}}, Waves: [][]string{host}, Once: p.once}},
		{playbook.NodePrefix + "reading", reading{8}},
		{playbook.KindWave, wave},
	} {
		o, err := check.Observation{Kind: s.kind, Target: "gpu-01"}.WithFigures(s.figures)
		if err != nil {
			return false, err
		}
		if _, err := rec.Record(o); err != nil {
			return false, err
		}
	}
	return true, nil
}

// eightGPUs is a JudgeNodes.
func eightGPUs(_ []string, obs []check.Observation) (failed, unobserved []check.Finding) {
	r, err := check.Decode[reading](obs[0])
	if err != nil {
		return nil, []check.Finding{{Suspect: "gpu-01", Message: err.Error()}}
	}
	if r.Value != 8 {
		failed = append(failed, check.Finding{Suspect: "gpu-01", Message: "has lost a GPU"})
	}
	return failed, nil
}

// A replay judges what was observed on the nodes of a wave again. Each edit of a stored figure, with a
// manifest that agrees, changes the verdict.
func TestAReplayJudgesTheNodesOfAWaveAgain(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		kind, old, new string
		want           string
		once           bool
	}{
		"nothing":                        {},
		"nothing, without a second run":  {once: true},
		"a figure of a node":             {kind: playbook.NodePrefix + "reading", old: `"value": 8`, new: `"value": 7`, want: "has lost a GPU"},
		"the target of a node":           {kind: playbook.NodePrefix + "reading", old: `"target": "gpu-01"`, new: `"target": "gpu-02"`, want: "was observed after the wave of gpu-01"},
		"the kind of a node":             {kind: playbook.NodePrefix + "reading", old: `"kind": "` + playbook.NodePrefix, new: `"kind": "prepare-other-`, want: "were not observed after the wave"},
		"the second run":                 {kind: playbook.KindWave, old: `"again"`, new: `"other"`, want: "was not run a second time"},
		"that the playbook began":        {kind: playbook.KindRollout, old: `"kind": "` + playbook.KindRollout, new: `"kind": "prepare-other`, want: "its beginning was not observed"},
		"that a second run was required": {kind: playbook.KindRollout, old: `"playbook": "p.yaml"`, new: `"playbook": "p.yaml", "once": true`, want: "the site requires one"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := passingPlan()
			expected := playbook.Expected{Once: []bool{tt.once}, Hosts: []string{"gpu-01"}, Nodes: eightGPUs}
			p.Steps[0].Prepare, p.Steps[0].Playbooks = []plan.Prepare{playbookOnOne{tt.once}}, expected
			dir := finished(t, p)
			if tt.want != "" {
				files, err := filepath.Glob(filepath.Join(dir, observationsDir, "*-a-"+tt.kind+"-gpu-01.json"))
				if err != nil || len(files) != 1 {
					t.Fatal(files, err)
				}
				edit(t, files[0], func(data []byte) []byte {
					out := bytes.Replace(data, []byte(tt.old), []byte(tt.new), 1)
					if bytes.Equal(out, data) {
						t.Fatalf("no %s in %s", tt.old, data)
					}
					return out
				})
				if err := writeManifest(dir, filepath.Base(dir)); err != nil {
					t.Fatal(err)
				}
			}
			checks := func(b *Bundle) (Derived, error) {
				d, err := testChecks(b)
				d.Playbooks = map[string]playbook.Expected{"a": expected}
				return d, err
			}
			again, err := Replay(dir, checks)
			if err != nil || again.Identical() != (tt.want == "") || !strings.Contains(again.Steps[0].Difference, tt.want) {
				t.Errorf("%+v, %v", again, err)
			}
			if j := again.Steps[0].Stored; tt.once != strings.Contains(j.Reason, "no second run was made") || tt.once != (len(j.Lowered) == 1) {
				t.Errorf("%+v", j)
			}
		})
	}
}
