package capacity

import (
	"bytes"
	"context"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/firstlight/firstlight/internal/accept"
	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/drift"
	"github.com/firstlight/firstlight/internal/evidence"
	"github.com/firstlight/firstlight/internal/evidence/evidencetest"
	"github.com/firstlight/firstlight/internal/gate/node"
	"github.com/firstlight/firstlight/internal/plan"
	"github.com/firstlight/firstlight/internal/probe/infiniband"
	"github.com/firstlight/firstlight/internal/probe/nvidia"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
)

// theCluster is the failed part of a step that leaves no node out.
const theCluster = "the cluster"

// step is a gate that observes hosts and has a verdict.
type step struct {
	name, failed string
	nodes        []string
	driver       string
	// drivers of some nodes; unseen is a node that is not observed.
	drivers map[string]string
	unseen  string
}

func (s step) Name() string    { return s.name }
func (s step) Nodes() []string { return s.nodes }
func (s step) Excluding(nodes []string) check.Check {
	s.nodes = slices.DeleteFunc(slices.Clone(s.nodes), func(n string) bool { return slices.Contains(nodes, n) })
	return s
}

func (s step) Observe(_ context.Context, rec check.Recorder) error {
	for _, n := range s.nodes {
		driver, ok := s.drivers[n]
		if !ok {
			driver = s.driver
		}
		for kind, figures := range map[string]map[string]any{
			"nvidia-smi": {"log": nvidia.SMILog{Driver: driver}}, "ibstat": {"hcas": []infiniband.HCA{{Name: "mlx5_0", Type: "MT4129", Firmware: "28.40"}}},
		} {
			o, err := check.Observation{Kind: kind, Target: n, Command: kind}.WithFigures(figures)
			if err != nil {
				return err
			}
			if n == s.unseen {
				continue
			}
			if _, err := rec.Record(o); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s step) Judge([]check.Observation) check.Judgement {
	if s.failed == theCluster {
		return check.Fail("the cluster fails")
	}
	if slices.Contains(s.nodes, s.failed) {
		return check.Fail(s.failed+" fails", check.NewFinding("", s.failed, "repair it", "it fails"))
	}
	return check.Pass("it passes")
}

// fixture is the site of the lab and its profile.
func fixture(t *testing.T) (*site.Site, *profile.Profile) {
	t.Helper()
	s, err := site.Parse("site.yaml", site.Example())
	if err != nil {
		t.Fatal(err)
	}
	p, err := profile.Load(s.Profile)
	if err != nil {
		t.Fatal(err)
	}
	return s, p
}

// accepted is a finished run of gate node on the example's site.
func accepted(t *testing.T, failed string, change func(*evidence.Start)) *evidence.Bundle {
	t.Helper()
	return runIn(t, t.TempDir(), evidencetest.Clock(), failed, change)
}

// acceptedBy is that run with another step.
func acceptedBy(t *testing.T, of step) *evidence.Bundle {
	t.Helper()
	return runOf(t, t.TempDir(), evidencetest.Clock(), of, nil)
}

// runIn is that run in a directory of runs.
func runIn(t *testing.T, dir string, clock func() time.Time, failed string, change func(*evidence.Start)) *evidence.Bundle {
	t.Helper()
	s, _ := fixture(t)
	return runOf(t, dir, clock, step{name: node.Name, failed: failed, nodes: s.NodeNames(), driver: "580.105.08"}, change)
}

func runOf(t *testing.T, dir string, clock func() time.Time, of step, change func(*evidence.Start)) *evidence.Bundle {
	t.Helper()
	s, _ := fixture(t)
	p := plan.Plan{Name: "playbook", AllowFailed: 1, Steps: []plan.Step{{Check: of}}}
	start := evidencetest.Start(p)
	start.Header.Command, start.Header.Site, start.Header.Profile = []string{"firstlight", "accept"}, s.Name, s.Profile
	start.Site, start.Recipe = site.Example(), nil
	var err error
	if start.Profile, err = profile.Raw(s.Profile); err != nil {
		t.Fatal(err)
	}
	if change != nil {
		change(&start)
	}
	run, err := evidence.Create(dir, start, evidence.Options{Clock: clock})
	if err != nil {
		t.Fatal(err)
	}
	executor := plan.Executor{Plan: p, Store: run, Clock: clock, Only: start.Header.Only}
	out, err := executor.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := run.Finish(out, nil); err != nil {
		t.Fatal(err)
	}
	b, err := evidence.Load(run.Dir())
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func base(t *testing.T, failed string) Base {
	t.Helper()
	b, err := BaseOf(accepted(t, failed, nil))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func file(t *testing.T, text string) File {
	t.Helper()
	f, err := ParseFile("nodes.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

const newNode = "nodes:\n  - {name: new-01, address: \"10.9.9.9:22\"}\n"

func TestBaseOfARun(t *testing.T) {
	t.Parallel()
	s, _ := fixture(t)
	whole := base(t, "")
	if diff := cmp.Diff(s.NodeNames(), whole.Nodes); diff != "" || len(whole.LeftOut) > 0 || whole.Driver != "580.105.08" || whole.Manifest == "" || whole.Cluster != evidencetest.Cluster {
		t.Errorf("%+v\n%s", whole, diff)
	}
	first := s.NodeNames()[0]
	part := base(t, first)
	if slices.Contains(part.Nodes, first) || !slices.Equal(part.LeftOut, []string{first}) || len(part.Nodes) != len(whole.Nodes)-1 {
		t.Errorf("%+v", part)
	}
	for name, b := range map[string]*evidence.Bundle{
		"only one gate": accepted(t, "", func(s *evidence.Start) { s.Header.Only = node.Name }),
		"drift":         accepted(t, "", func(s *evidence.Start) { s.Header.Command[1] = "drift" }),
		"failed":        accepted(t, "no such node", nil),
	} {
		if name == "failed" {
			b.Finished = false
		}
		if _, err := BaseOf(b); err == nil || !strings.Contains(err.Error(), "is not an accepted run") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The nodes of a run that added nodes are the earlier ones and those that it added.
func TestBaseOfAnAddition(t *testing.T) {
	t.Parallel()
	s, p := fixture(t)
	a, err := base(t, s.NodeNames()[0]).Add(s, p, file(t, newNode))
	if err != nil {
		t.Fatal(err)
	}
	var o accept.Options
	if err := a.Into(&o); err != nil || o.AddedTo != a.To.Run {
		t.Fatal(o.AddedTo, err)
	}
	later := evidencetest.Clock()
	for range 100 {
		later()
	}
	run := runIn(t, t.TempDir(), later, "", func(s *evidence.Start) { s.Header.AddedTo, s.Inputs = o.AddedTo, o.Inputs })
	b, err := BaseOf(run)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(append(s.NodeNames()[1:], "new-01"), b.Nodes); diff != "" {
		t.Error(diff)
	}
	if !b.Accepted.Equal(a.To.Accepted) {
		t.Errorf("accepted at %s, the whole cluster at %s", b.Accepted, a.To.Accepted)
	}
	if !slices.ContainsFunc(run.NarrowedBy(), func(reason string) bool { return strings.HasPrefix(reason, "adds nodes to the accepted run "+a.To.Run) }) {
		t.Errorf("%v", run.NarrowedBy())
	}
	if _, err := drift.Of(run); err == nil || !strings.Contains(err.Error(), "is not an accepted run") {
		t.Errorf("a baseline: %v", err)
	}
	if _, err := b.Add(s, p, file(t, newNode)); err == nil || !strings.Contains(err.Error(), "new-01 is an accepted node") {
		t.Error(err)
	}
}

// Additions do not change which nodes an acceptance left out, until such a node is added itself.
func TestAdditionsToAPartOfTheSite(t *testing.T) {
	t.Parallel()
	s, p := fixture(t)
	left, data := s.NodeNames()[0], site.Example()
	b := base(t, left)
	for _, tt := range []struct {
		node string
		left []string
	}{{"new-01", []string{left}}, {"new-02", []string{left}}, {left, nil}} {
		s, err := site.Parse("site.yaml", data)
		if err != nil {
			t.Fatal(err)
		}
		a, err := b.Add(s, p, file(t, "nodes: [{name: "+tt.node+"}]\n"))
		if err != nil {
			t.Fatalf("%s: %v", tt.node, err)
		}
		var o accept.Options
		if err := a.Into(&o); err != nil {
			t.Fatal(err)
		}
		gate := step{name: node.Name, nodes: []string{tt.node}, driver: "580.105.08"}
		run := runOf(t, t.TempDir(), evidencetest.Clock(), gate, func(s *evidence.Start) { s.Header.AddedTo, s.Inputs, s.Site = o.AddedTo, o.Inputs, data })
		if b, err = BaseOf(run); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tt.left, b.LeftOut, cmpopts.EquateEmpty()); diff != "" || !slices.Contains(b.Nodes, tt.node) {
			t.Errorf("%s: %v, %s", tt.node, b.Nodes, diff)
		}
		data = bytes.Replace(data, []byte("  nodes:\n"), []byte("  nodes:\n    - {name: "+tt.node+"}\n"), 1)
	}
}

func TestRefusedAdditions(t *testing.T) {
	t.Parallel()
	s, p := fixture(t)
	b := base(t, "")
	nodes := s.NodeNames()
	address := s.Inventory.Nodes[0].Address
	if address == "" {
		address = "10.0.0.1:22"
		s.Inventory.Nodes[0].Address = address
	}
	one := *s
	one.Spine = site.SpineSingleNode
	slurm := *s
	slurm.Spine = site.SpineSlurm
	grouped := *s
	grouped.Groups = []site.Group{{Name: "g"}}
	renamed := *s
	renamed.Name = "other"
	other := *p
	other.Collective.Repetitions.Value++
	for name, tt := range map[string]struct {
		site *site.Site
		prof *profile.Profile
		file string
		want []string
	}{
		"accepted":              {s, p, "nodes:\n  - {name: " + nodes[1] + "}\n  - {name: x, address: \"" + address + "\"}\n", []string{"nodes.yaml:2:12: error: " + nodes[1] + " is an accepted node", "nodes.yaml:3:", "x has the address of " + nodes[0]}},
		"a system node":         {s, p, "nodes: [{name: " + s.Inventory.SystemNodes[0].Name + "}]\n", []string{"is the system node"}},
		"one machine":           {&one, p, newNode, []string{"has no cluster to add nodes to"}},
		"slurm":                 {&slurm, p, newNode, []string{"with spine slurm"}},
		"groups":                {&grouped, p, newNode, []string{"groups of nodes"}},
		"another site":          {&renamed, p, newNode, []string{"this is site other"}},
		"other figures":         {s, &other, newNode, []string{"other figures of profile"}},
		"not accepted":          {s.With([]site.Node{{Name: "y"}}), p, newNode, []string{"y in inventory.nodes of the site, not accepted by run"}},
		"no longer in the site": {s.Without(nodes[:1]), p, newNode, []string{"accepted " + nodes[0] + ", missing in inventory.nodes"}},
		"all at once":           {s.Without(nodes[:1]), &other, "nodes: [{name: " + nodes[1] + "}]\n", []string{"missing in inventory", "other figures", "is an accepted node"}},
	} {
		_, err := b.Add(tt.site, tt.prof, file(t, tt.file))
		for _, want := range tt.want {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %q", name, err, want)
			}
		}
	}
}

func TestTheBaseIsOfThisClusterAndRecent(t *testing.T) {
	t.Parallel()
	b := base(t, "")
	if err := b.RequireCluster(evidencetest.Cluster, evidence.HardwareSimulated); err != nil {
		t.Error(err)
	}
	for name, err := range map[string]error{
		"another cluster": b.RequireCluster("other", evidence.HardwareSimulated), "no cluster": Base{}.RequireCluster("", evidence.HardwareUnknown),
		"real": b.RequireCluster(evidencetest.Cluster, evidence.HardwareReal), "unknown": b.RequireCluster(evidencetest.Cluster, evidence.HardwareUnknown),
		"old": b.Fresh(b.Accepted.Add(25*time.Hour), 24*time.Hour), "of the future": b.Fresh(b.Accepted.Add(-time.Hour), 24*time.Hour),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if err := b.Fresh(b.Accepted.Add(24*time.Hour), 24*time.Hour); err != nil {
		t.Error(err)
	}
}

// An addition is read back from the inputs of a run, and differs from the header of another run.
func TestStoredAddition(t *testing.T) {
	t.Parallel()
	s, p := fixture(t)
	a, err := base(t, s.NodeNames()[0]).Add(s, p, file(t, newNode))
	if err != nil {
		t.Fatal(err)
	}
	var o accept.Options
	if err := a.Into(&o); err != nil {
		t.Fatal(err)
	}
	read, err := Parse(o.Inputs[InputFile])
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(a, read, cmpopts.IgnoreUnexported(Base{})); diff != "" {
		t.Error(diff)
	}
	of := evidence.Header{AddedTo: a.To.Run, Site: a.To.Site, Profile: a.To.Profile, Cluster: a.To.Cluster, Simulated: a.To.Simulated}
	if d := a.Differs(of, s); len(d) > 0 {
		t.Error(d)
	}
	for name, change := range map[string]func(*evidence.Header){
		"run": func(h *evidence.Header) { h.AddedTo = "" }, "site": func(h *evidence.Header) { h.Site = "x" }, "profile": func(h *evidence.Header) { h.Profile = "x" },
		"cluster": func(h *evidence.Header) { h.Cluster = "x" }, "simulated": func(h *evidence.Header) { h.Simulated = evidence.HardwareReal },
	} {
		h := of
		change(&h)
		if d := a.Differs(h, s); len(d) != 1 {
			t.Errorf("%s: %v", name, d)
		}
	}
	if d := a.Differs(of, s.Without(a.To.Nodes[:1])); len(d) != 1 {
		t.Errorf("an accepted node that the site does not have: %v", d)
	}
	text := string(o.Inputs[InputFile])
	for name, edited := range map[string]string{
		"empty": "", "version": strings.Replace(text, `"format": 1`, `"format": 2`, 1),
		"an accepted node": strings.Replace(text, `"new-01"`, `"`+a.To.Nodes[0]+`"`, 1), "a name": strings.Replace(text, `"new-01"`, `"New"`, 1),
		"no cluster": strings.Replace(text, a.To.Cluster, "", 1), "no driver": strings.Replace(text, `"driver": "580.105.08"`, `"driver": ""`, 1),
		"no components": regexp.MustCompile(`(?s)"components": \{.*?\}`).ReplaceAllString(text, `"components": {}`),
	} {
		if _, err := Parse([]byte(edited)); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
