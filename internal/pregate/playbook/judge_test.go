package playbook

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/probe/ansible"
)

func fine(hosts ...string) Run {
	r := ansible.Result{Plays: 1, Tasks: 1, Hosts: map[string]ansible.Host{}}
	for _, h := range hosts {
		r.Hosts[h] = ansible.Host{Stats: ansible.Stats{OK: 1}, Done: 1}
	}
	return Run{Result: &r}
}

// nodeFigures is what is observed on a node.
type nodeFigures struct {
	Lost string `json:"lost,omitempty"`
}

// judgeFake is a JudgeNodes: a node without an observation, or with a lost GPU, has a finding.
func judgeFake(nodes []string, obs []check.Observation) (failed, unobserved []check.Finding) {
	for _, n := range nodes {
		f, err := check.Decode[nodeFigures](check.Observation{Err: "no answer"})
		for _, o := range obs {
			if o.Kind == "nvidia-smi" && o.Target == n {
				f, err = check.Decode[nodeFigures](o)
			}
		}
		switch {
		case err != nil:
			unobserved = append(unobserved, check.Finding{Suspect: n, Message: "no answer"})
		case f.Lost != "":
			failed = append(failed, check.Finding{Suspect: n + "/" + f.Lost, Message: "is missing"})
		}
	}
	return failed, unobserved
}

// applied is the rollout of a playbook to gpu-01 and gpu-02 in two waves, without a finding.
func applied() (Rollout, []Wave) {
	all := []string{"gpu-01", "gpu-02"}
	plays := []ansible.Play{{Name: "play #1 (all): P", Hosts: all}}
	r := Rollout{Playbook: "p.yaml", Hosts: all, Plays: plays, Waves: [][]string{{"gpu-01"}, {"gpu-02"}}}
	var waves []Wave
	for _, h := range all {
		first, again := fine(h), fine(h)
		first.Result.Hosts[h] = ansible.Host{Stats: ansible.Stats{OK: 1, Changed: 1}, Done: 1}
		first.Result.Events = []ansible.Event{{Play: "P", Task: "T", Host: h, State: ansible.Changed}}
		waves = append(waves, Wave{Hosts: []string{h}, Applied: first, Again: &again})
	}
	return r, waves
}

func observe(t *testing.T, id, kind string, figures any) check.Observation {
	t.Helper()
	o, err := check.Observation{ID: id, Kind: kind}.WithFigures(figures)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func TestJudge(t *testing.T) {
	t.Parallel()
	same := func(_ *Rollout, w []Wave) []Wave { return w }
	once := func(r *Rollout, w []Wave) []Wave {
		r.Once, w[0].Again, w[1].Again = true, nil, nil
		return w
	}
	const rest = "wave 1 of 2 failed: the playbook was not applied to gpu-02"
	host := func(w *Wave, run *Run, h ansible.Host, events ...ansible.Event) {
		run.Result.Hosts[w.Hosts[0]], run.Result.Events = h, events
	}
	for name, c := range map[string]struct {
		spoil   func(r *Rollout, waves []Wave) []Wave
		verdict check.Verdict
		want    []string // suspect: message of each finding
		// node changes the observation of a node; false: it is not stored.
		node     func(o *check.Observation, f *nodeFigures) bool
		expected *Expected // nil: judgeFake, and a second run
	}{
		"applied": {spoil: same, verdict: check.Passed, want: nil},
		"a host is not in the inventory": {spoil: func(r *Rollout, _ []Wave) []Wave {
			r.Plays[0].Hosts = []string{"gpu-01", "login"}
			return nil
		}, verdict: check.Failed, want: []string{"gpu-02: is a node of the site, and no play of p.yaml has it: nothing was changed"}},
		"the inventory is not known": {spoil: func(r *Rollout, _ []Wave) []Wave {
			r.ListErr = "exit status 1"
			return nil
		}, verdict: check.Unobserved, want: []string{"playbook p.yaml: cannot list its hosts: exit status 1"}},
		"no node": {spoil: func(r *Rollout, _ []Wave) []Wave {
			r.Hosts, r.Waves = nil, nil
			return nil
		}, verdict: check.Unobserved, want: []string{"playbook p.yaml: the site has no node for it"}},
		"a node is in no wave": {spoil: func(r *Rollout, w []Wave) []Wave {
			r.Waves = r.Waves[:1]
			return w[:1]
		}, verdict: check.Unobserved, want: []string{"playbook p.yaml: its waves have the hosts gpu-01, want gpu-01, gpu-02"}},
		"a wave was not run": {spoil: func(_ *Rollout, w []Wave) []Wave { return w[:1] }, verdict: check.Unobserved, want: []string{"playbook p.yaml: wave 2 of 2 was not run: gpu-02"}},
		"another wave":       {spoil: func(_ *Rollout, w []Wave) []Wave { return []Wave{w[0], w[0]} }, verdict: check.Unobserved, want: []string{"playbook p.yaml: wave 2 of 2 has the hosts gpu-01, want gpu-02"}},
		"a task failed": {spoil: func(_ *Rollout, w []Wave) []Wave {
			host(&w[0], &w[0].Applied, ansible.Host{Stats: ansible.Stats{Failures: 1, Ignored: 1}, Done: 1},
				ansible.Event{Play: "P", Task: "ignored", Host: "gpu-01", State: ansible.Failed}, ansible.Event{Play: "P", Task: "T", Host: "gpu-01", State: ansible.Failed, Message: "no driver"})
			return w[:1]
		}, verdict: check.Failed, want: []string{`gpu-01: p.yaml failed, at task "T" of play "P": no driver`, "playbook p.yaml: " + rest}},
		"a failed task is not in the result": {spoil: func(_ *Rollout, w []Wave) []Wave {
			host(&w[1], &w[1].Applied, ansible.Host{Stats: ansible.Stats{Failures: 1}})
			return w
		}, verdict: check.Failed, want: []string{"gpu-02: p.yaml failed, at a task that the result does not name"}},
		"unreachable": {spoil: func(_ *Rollout, w []Wave) []Wave {
			host(&w[1], &w[1].Applied, ansible.Host{Stats: ansible.Stats{Unreachable: 1, OK: 3}, Done: 3}, ansible.Event{Play: "P", Task: "T", Host: "gpu-02", State: ansible.Unreachable, Message: "refused"})
			return w
		}, verdict: check.Failed, want: []string{`gpu-02: unreachable for p.yaml, at task "T" of play "P": refused`}},
		"every task skipped": {spoil: func(_ *Rollout, w []Wave) []Wave {
			host(&w[1], &w[1].Applied, ansible.Host{Stats: ansible.Stats{OK: 1, Skipped: 4}})
			return w
		}, verdict: check.Failed, want: []string{"gpu-02: no task of p.yaml was carried out on it (4 skipped, 0 failed and ignored, 0 failed and rescued)"}},
		"a task failed and was ignored": {spoil: func(_ *Rollout, w []Wave) []Wave {
			host(&w[1], &w[1].Applied, ansible.Host{Stats: ansible.Stats{OK: 2, Ignored: 1}, Done: 1}, ansible.Event{Play: "P", Task: "T", Host: "gpu-02", State: ansible.Failed})
			return w
		}, verdict: check.Passed, want: []string{`playbook p.yaml: task "T" failed on gpu-02, and the playbook ignores or rescues that`}},
		"nothing but a task that failed and was rescued": {spoil: func(_ *Rollout, w []Wave) []Wave {
			host(&w[1], &w[1].Applied, ansible.Host{Stats: ansible.Stats{OK: 2, Rescued: 1}})
			return w
		}, verdict: check.Failed, want: []string{"gpu-02: no task of p.yaml was carried out on it (0 skipped, 0 failed and ignored, 1 failed and rescued)"}},
		"a play has a part of the nodes, another none": {spoil: func(r *Rollout, w []Wave) []Wave {
			r.Plays = append(r.Plays, ansible.Play{Name: "play #2 (gpu-01): Q", Hosts: []string{"gpu-01"}}, ansible.Play{Name: "play #3 (localhost): R", Hosts: []string{"localhost"}})
			return w
		}, verdict: check.Passed, want: []string{"playbook p.yaml: play #2 (gpu-01): Q does not have gpu-02", "playbook p.yaml: play #3 (localhost): R has no node of the site: it is not run"}},
		"not in the play": {spoil: func(_ *Rollout, w []Wave) []Wave {
			w[1].Applied.Result.Hosts = map[string]ansible.Host{}
			return w
		}, verdict: check.Failed, want: []string{"gpu-02: is a host of the wave, and no play of p.yaml had it"}},
		"another host": {spoil: func(_ *Rollout, w []Wave) []Wave {
			w[1].Applied.Result.Hosts["gpu-09"] = ansible.Host{Stats: ansible.Stats{OK: 1}, Done: 1}
			return w
		}, verdict: check.Failed, want: []string{"playbook p.yaml: it ran on gpu-09, which is not in the wave"}},
		"an exit status alone": {spoil: func(_ *Rollout, w []Wave) []Wave {
			w[1].Applied.Exit, w[1].Applied.Messages = 250, []string{"ERROR! Unexpected Exception"}
			return w
		}, verdict: check.Failed, want: []string{"playbook p.yaml: exit status 250, and no host failed: ERROR! Unexpected Exception"}},
		"cut short": {spoil: func(_ *Rollout, w []Wave) []Wave {
			w[0].Applied = Run{Exit: -1, Err: "it did not end within 30m0s"}
			return w[:1]
		}, verdict: check.Unobserved, want: []string{"playbook p.yaml: no result on gpu-01: it did not end within 30m0s"}},
		"no second run": {spoil: func(_ *Rollout, w []Wave) []Wave {
			w[1].Again = nil
			return w
		}, verdict: check.Unobserved, want: []string{"playbook p.yaml: was not run a second time on gpu-02"}},
		"the second run failed": {spoil: func(_ *Rollout, w []Wave) []Wave {
			host(&w[1], w[1].Again, ansible.Host{Stats: ansible.Stats{Failures: 1}}, ansible.Event{Play: "P", Task: "T", Host: "gpu-02", State: ansible.Failed})
			return w
		}, verdict: check.Failed, want: []string{`gpu-02: in the second run: p.yaml failed, at task "T" of play "P": no message`}},
		"changed again": {spoil: func(_ *Rollout, w []Wave) []Wave {
			host(&w[0], w[0].Again, ansible.Host{Stats: ansible.Stats{OK: 2, Changed: 1}, Done: 2}, ansible.Event{Play: "P", Task: "Append", Host: "gpu-01", State: ansible.Changed})
			return w[:1]
		}, verdict: check.Failed, want: []string{`gpu-01: p.yaml is not idempotent: its second run changed the host again, 1 tasks: "Append"`, "playbook p.yaml: " + rest}},
		"another wave than planned": {spoil: func(_ *Rollout, w []Wave) []Wave { return append(w, w[1]) }, verdict: check.Unobserved, want: []string{"playbook p.yaml: has 1 waves and 0 observations of nodes more than its 2 waves"}},
		"a node is not well": {spoil: same, node: func(o *check.Observation, f *nodeFigures) bool {
			if o.Target == "gpu-01" {
				f.Lost = "gpu3"
			}
			return true
		}, verdict: check.Failed, want: []string{"gpu-01/gpu3: is missing", "playbook p.yaml: " + rest}},
		"a node was not observed": {spoil: same, node: func(o *check.Observation, _ *nodeFigures) bool {
			if o.Target == "gpu-02" {
				o.Kind = NodePrefix + "other"
			}
			return true
		}, verdict: check.Unobserved, want: []string{"gpu-02: no answer"}},
		"another node was observed": {spoil: same, node: func(o *check.Observation, _ *nodeFigures) bool {
			o.Target = "gpu-01"
			return true
		}, verdict: check.Unobserved, want: []string{"playbook p.yaml: gpu-01 was observed after the wave of gpu-02", "gpu-02: no answer"}},
		"no node was observed": {spoil: same, node: func(o *check.Observation, _ *nodeFigures) bool { return o.Target == "gpu-01" },
			verdict: check.Unobserved, want: []string{"playbook p.yaml: gpu-02 were not observed after the wave"}},
		"no access": {spoil: func(_ *Rollout, w []Wave) []Wave {
			w[1].NodesErr = "there is no access to the hosts"
			return w
		}, verdict: check.Unobserved, want: []string{"playbook p.yaml: gpu-02 were not observed after the wave: there is no access to the hosts"}},
		"nodes are observed without rules": {spoil: same, expected: &Expected{}, verdict: check.Unobserved, want: []string{"playbook p.yaml: gpu-01 were observed after the wave, and the gate has no rules for them"}},
		"nodes are not checked":            {spoil: same, expected: &Expected{}, node: func(*check.Observation, *nodeFigures) bool { return false }, verdict: check.Passed},
		"the second run is switched off":   {spoil: once, expected: &Expected{Once: []bool{true}, Nodes: judgeFake}, verdict: check.Passed},
		"without a second run, a node is not well": {spoil: once, expected: &Expected{Once: []bool{true}, Nodes: judgeFake}, node: func(_ *check.Observation, f *nodeFigures) bool {
			f.Lost = "gpu3"
			return true
		}, verdict: check.Failed, want: []string{"gpu-01/gpu3: is missing", "playbook p.yaml: " + rest}},
		"the site has another node": {spoil: same, expected: &Expected{Hosts: []string{"gpu-01", "gpu-02", "gpu-03"}, Nodes: judgeFake}, verdict: check.Unobserved,
			want: []string{"playbook p.yaml: is for the hosts gpu-01, gpu-02, the site has gpu-01, gpu-02, gpu-03"}},
		"the site has another playbook": {spoil: same, expected: &Expected{Once: []bool{false, false}, Nodes: judgeFake}, verdict: check.Unobserved,
			want: []string{"preparations: 1 of 2 playbooks were applied"}},
		"the site requires a second run": {spoil: once, verdict: check.Unobserved, want: []string{"playbook p.yaml: has no second run, and the site requires one"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, waves := applied()
			waves = c.spoil(&r, waves)
			obs := []check.Observation{{Kind: "other"}, observe(t, "1", KindRollout, r)}
			for i, w := range waves {
				var f nodeFigures
				seen := check.Observation{Kind: NodePrefix + "nvidia-smi", Target: w.Hosts[0], ID: "3"}
				if i < 2 && (c.node == nil || c.node(&seen, &f)) {
					seen, err := seen.WithFigures(f)
					if err != nil {
						t.Fatal(err)
					}
					obs = append(obs, seen)
				}
				obs = append(obs, observe(t, "2", KindWave, w))
			}
			want := Expected{Nodes: judgeFake}
			if c.expected != nil {
				want = *c.expected
			}
			j, names, ok := Judge(obs, want)
			if r.Once != (len(names) == 1) {
				t.Errorf("without a second run: %q", names)
			}
			var got []string
			for _, f := range j.Findings {
				got = append(got, f.Suspect+": "+f.Message)
			}
			if !ok || j.Verdict != c.verdict || slices.IndexFunc(c.want, func(w string) bool { return !slices.Contains(got, w) }) >= 0 {
				t.Errorf("%v %s\n%s\nwant %s\n%s", ok, j.Verdict, strings.Join(got, "\n"), c.verdict, strings.Join(c.want, "\n"))
			}
		})
	}
}

// Figures that are missing or of another type are unobserved.
func TestJudgeWithoutFigures(t *testing.T) {
	t.Parallel()
	r, waves := applied()
	for name, obs := range map[string][]check.Observation{
		"no figures of the rollout": {{ID: "1", Kind: KindRollout}, observe(t, "2", KindWave, waves[0])},
		"no beginning":              {{Kind: "prepare"}, observe(t, "2", KindWave, waves[0])},
		"no beginning, a node":      {{Kind: NodePrefix + "nvidia-smi", ID: "2"}},
		"no figures of a wave":      {observe(t, "1", KindRollout, r), {ID: "2", Kind: KindWave, Figures: json.RawMessage("null")}},
	} {
		if j, _, ok := Judge(obs, Expected{}); !ok || j.Verdict != check.Unobserved || len(j.Findings) == 0 {
			t.Errorf("%s: %v, %+v", name, ok, j)
		}
	}
	if _, _, ok := Judge([]check.Observation{{Kind: "prepare"}, {Kind: "nvidia-smi"}}, Expected{}); ok {
		t.Error("a playbook without an observation")
	}
}
