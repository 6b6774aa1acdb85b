package gate

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/plan"
	"github.com/firstlight/firstlight/internal/pregate/playbook"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
)

// nodesGate has an observation for each of its nodes; its verdict is the worst word of them.
type nodesGate struct {
	site *site.Site
	fail error
}

func (g nodesGate) Name() string       { return "nodes" }
func (g nodesGate) Describe() []string { return g.site.NodeNames() }
func (g nodesGate) Nodes() []string    { return g.site.NodeNames() }
func (g nodesGate) Claims() int        { return 8 }
func (g nodesGate) Excluding(nodes []string) check.Check {
	return nodesGate{site: g.site.Without(nodes)}
}

func (g nodesGate) Observe(_ context.Context, rec check.Recorder) error {
	for _, name := range g.site.NodeNames() {
		rec.Progress("%s", name)
		if _, err := rec.Record(check.Observation{Target: name}); err != nil {
			return err
		}
	}
	return g.fail
}

func (g nodesGate) Judge(obs []check.Observation) check.Judgement {
	out := check.Judgement{Verdict: check.Passed, Reason: "well", Figures: []check.Figure{{Name: "nodes", Value: float64(len(obs))}}}
	for _, name := range g.site.NodeNames() {
		i := slices.IndexFunc(obs, func(o check.Observation) bool { return o.Target == name })
		switch {
		case i < 0:
			return check.NotObserved(name + " was not observed")
		case obs[i].Err != "":
			return check.Judgement{Verdict: check.Verdict(obs[i].Err), Reason: name, Findings: []check.Finding{{Suspect: name, Message: "bad", Remedy: "mend it"}}}
		}
	}
	return out
}

type recorded struct {
	obs  []check.Observation
	said []string
}

func (r *recorded) Record(o check.Observation) (check.Observation, error) {
	r.obs = append(r.obs, o)
	return o, nil
}

func (r *recorded) Progress(_ string, args ...any) { r.said = append(r.said, args[0].(string)) }

func twoGroups(t *testing.T, fail error) (gate, *site.Site) {
	t.Helper()
	s, err := site.Parse("s.yaml", site.Example())
	if err != nil {
		t.Fatal(err)
	}
	p, err := profile.Load(s.Profile)
	if err != nil {
		t.Fatal(err)
	}
	s.Groups = []site.Group{{Name: "new", Profile: p.Name, Figures: p, Nodes: []string{"gpu-03", "gpu-04"}}}
	return inGroups(s, p, func(s *site.Site, _ *profile.Profile) gate { return nodesGate{site: s, fail: fail} }), s
}

func TestGroupsAreObservedAndJudgedAlone(t *testing.T) {
	t.Parallel()
	g, s := twoGroups(t, errors.New("no cluster"))
	var r recorded
	err := g.Observe(t.Context(), &r)
	if err == nil || strings.Count(err.Error(), "no cluster") != 2 || !strings.Contains(err.Error(), "group new: ") {
		t.Errorf("%v, want the error of each group", err)
	}
	if len(r.obs) != 4 || r.obs[0].Group != s.Profile || r.obs[3].Group != "new" || !slices.Equal(r.said, []string{s.Profile, s.Profile, "new", "new"}) {
		t.Fatalf("%+v, %v", r.obs, r.said)
	}
	with := func(change func(obs []check.Observation) []check.Observation) []check.Observation {
		return change(slices.Clone(r.obs))
	}
	set := func(node int, verdict check.Verdict) func([]check.Observation) []check.Observation {
		return func(obs []check.Observation) []check.Observation { obs[node].Err = string(verdict); return obs }
	}
	for name, tt := range map[string]struct {
		obs      []check.Observation
		verdict  check.Verdict
		reason   string
		suspects int
	}{
		"both pass":               {r.obs, check.Passed, s.Profile + ": well; new: well", 0},
		"the first fails":         {with(set(1, check.Failed)), check.Failed, s.Profile + ": gpu-02", 1},
		"the second fails":        {with(set(2, check.Failed)), check.Failed, "new: gpu-03", 1},
		"one failed, one unknown": {set(2, check.Failed)(with(set(0, check.Unobserved))), check.Failed, "new: gpu-03", 2},
		"one is unknown":          {with(set(3, check.Unobserved)), check.Unobserved, "new: gpu-04", 1},
		"another verdict":         {with(set(3, check.NotApplicable)), check.Unobserved, "new: gpu-04", 1},
		"a group not observed":    {r.obs[:2], check.Unobserved, "new: nothing was observed", 0},
		"nothing observed":        {nil, check.Unobserved, "nothing was observed", 0},
		"an unknown group":        {with(func(o []check.Observation) []check.Observation { o[2].Group = "old"; return o }), check.Unobserved, `of group "old"`, 0},
		"no group":                {with(func(o []check.Observation) []check.Observation { o[2].Group = ""; return o }), check.Unobserved, `of group ""`, 0},
		"of the other group":      {with(func(o []check.Observation) []check.Observation { o[2].Group = s.Profile; return o }), check.Unobserved, "new: gpu-03 was not observed", 0},
	} {
		j := g.Judge(tt.obs)
		if j.Verdict != tt.verdict || !strings.Contains(j.Reason, tt.reason) || len(j.Findings) != tt.suspects {
			t.Errorf("%s: %s, %q, %d findings; want %s, %q, %d", name, j.Verdict, j.Reason, len(j.Findings), tt.verdict, tt.reason, tt.suspects)
		}
	}
	if j := g.Judge(r.obs); len(j.Figures) != 2 || j.Figures[1].Name != "new: nodes" {
		t.Errorf("figures %+v", j.Figures)
	}
}

// A failed node of a group is left out as one of a site without groups is; a group is not left out
// as a whole.
func TestNodesOfGroupsAreLeftOut(t *testing.T) {
	t.Parallel()
	g, _ := twoGroups(t, nil)
	var r recorded
	if err := g.Observe(t.Context(), &r); err != nil {
		t.Fatal(err)
	}
	r.obs[2].Err = string(check.Failed)
	if j := plan.JudgePart(g, playbook.Expected{}, r.obs, nil, 2); j.Verdict != check.Partial || !slices.Equal(j.LeftOut, []string{"gpu-03"}) || j.Nodes != 3 {
		t.Errorf("%+v", j)
	}
	r.obs[3].Err = string(check.Failed)
	if j := plan.JudgePart(g, playbook.Expected{}, r.obs, nil, 2); j.Verdict != check.Failed {
		t.Errorf("a group without nodes is %s: %+v", j.Verdict, j)
	}
}

func TestWithoutGroups(t *testing.T) {
	t.Parallel()
	s, err := site.Parse("s.yaml", site.Example())
	if err != nil {
		t.Fatal(err)
	}
	g := inGroups(s, &profile.Profile{}, func(s *site.Site, _ *profile.Profile) gate { return nodesGate{site: s} })
	if _, plain := g.(nodesGate); !plain {
		t.Errorf("%T", g)
	}
}

// Of 32 GPUs, a gate that takes half of a group's 16 claims half of all.
func TestClaimsOfGroups(t *testing.T) {
	t.Parallel()
	g, s := twoGroups(t, nil)
	if n := g.(interface{ Claims() int }).Claims(); n != 16 {
		t.Errorf("%d GPUs", n)
	}
	s.Groups[0].Nodes = []string{"gpu-04"}
	g = inGroups(s, s.Groups[0].Figures, func(s *site.Site, _ *profile.Profile) gate { return nodesGate{site: s} })
	if n := g.(interface{ Claims() int }).Claims(); n != 32 {
		t.Errorf("%d GPUs, and the group of one node is full", n)
	}
}

// unclaiming is a gate that takes no GPUs.
type unclaiming struct{ gate }

// A gate without claims, and a group without nodes, do not count; a group of one GPU does.
func TestClaimsOfOtherGroups(t *testing.T) {
	t.Parallel()
	claims := func(c check.Check) int { return c.(interface{ Claims() int }).Claims() }
	g, s := twoGroups(t, nil)
	if n := claims(g.(plan.Excluding).Excluding([]string{"gpu-03", "gpu-04"})); n != 8 {
		t.Errorf("a group without nodes: %d GPUs, want 8 of 16", n)
	}
	p := s.Groups[0].Figures
	if n := claims(inGroups(s, p, func(s *site.Site, _ *profile.Profile) gate { return unclaiming{nodesGate{site: s}} })); n != 0 {
		t.Errorf("a gate without claims: %d GPUs", n)
	}
	single := *p
	single.Node.GPUs.Value = 1
	s.Groups[0].Nodes, s.Groups[0].Figures = []string{"gpu-04"}, &single
	if n := claims(inGroups(s, p, func(s *site.Site, _ *profile.Profile) gate { return nodesGate{site: s} })); n != 25 {
		t.Errorf("a group of one GPU, which is claimed: %d GPUs, want all 25", n)
	}
}
