package slurm

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/gate/collective"
	"github.com/firstlight/firstlight/internal/plan"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
	"github.com/firstlight/firstlight/internal/suite"
	"github.com/firstlight/firstlight/internal/world"
)

// domainFaults is the name of TestNVLinkDomainFaults in the manifest.
const domainFaults = "internal/world/slurm TestNVLinkDomainFaults"

// walkDomains runs gate collective by NVLink domain in a world of two racks of GB200 NVL72 with four trays each.
func walkDomains(t *testing.T, byDomain bool, faults ...world.Fault) (check.Judgement, *world.World, []check.Observation) {
	t.Helper()
	const hardware = "gb200-nvl72-ndr400"
	spec, err := world.SpecOf(hardware, 8)
	if err != nil {
		t.Fatal(err)
	}
	s, err := site.Parse("slurm.yaml", []byte(siteText(t)))
	if err != nil {
		t.Fatal(err)
	}
	s.Inventory.Nodes, s.Fabric.HCAs = nil, spec.HCAs
	for i := range spec.GPUNodes {
		n := &spec.GPUNodes[i]
		n.Rack = fmt.Sprintf("r%d", i/4+1)
		s.Inventory.Nodes = append(s.Inventory.Nodes, site.Node{Name: n.Name, Rack: n.Rack})
	}
	s.Workloads.Collective.Suite, s.Workloads.Collective.ByNVLinkDomain = profile.CollectiveNames(), byDomain
	w, err := world.New(spec)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range faults {
		if _, err := w.AddFault(f); err != nil {
			t.Fatal(err)
		}
	}
	p, err := profile.Load(hardware)
	if err != nil {
		t.Fatal(err)
	}
	g := collective.NewSrun(s, p, &srun{world: w}, "t1")
	var b book
	if err := g.Observe(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	return plan.Judge(g, b.obs), w, b.obs
}

// Two healthy racks pass with a figure of each collective on each.
func TestNVLinkDomains(t *testing.T) {
	t.Parallel()
	j, w, obs := walkDomains(t, true)
	if j.Verdict != check.Passed || len(obs) != 5+2*5 {
		t.Fatalf("%s: %s, %d observations: %+v", j.Verdict, j.Reason, len(obs), j.Findings)
	}
	for _, node := range []string{"gpu-01", "gpu-05"} {
		host, _ := w.State().Node(node)
		for _, of := range profile.CollectiveNames() {
			name := "busbw of " + of + " of NVLink domain " + host.NVLinkCluster + ".32766" // as nvidia-smi -q prints it
			i := slices.IndexFunc(j.Figures, func(f check.Figure) bool { return f.Name == name })
			if i < 0 || j.Figures[i].Value < j.Figures[i].Limit || j.Figures[i].Limit <= 0 || j.Figures[i].Source == "" {
				t.Errorf("no figure %q with a limit: %+v", name, j.Figures)
			}
		}
	}
}

// A domain that falls back to the network fails the gate as the first suspect, with its nodes and the setting. Without
// the key of the site the run over all nodes is slow, and names the cluster.
func TestNVLinkDomainFaults(t *testing.T) {
	t.Parallel()
	const kind = "nvlink-domain-fallback"
	suite.RequireFault(t, domainFaults, kind)
	for _, target := range []string{"gpu-03", "gpu-08"} {
		fault := world.Fault{Kind: kind, Target: target}
		j, w, obs := walkDomains(t, true, fault)
		suspect, err := w.SuspectPattern(fault)
		if err != nil {
			t.Fatal(err)
		}
		if f := j.Findings; j.Verdict != check.Failed || !suspect.MatchString(f[0].Suspect) || f[0].Remedy == "" || !strings.Contains(f[0].Message, target) ||
			!strings.Contains(f[0].Message, "fell back to the network") || !strings.Contains(f[0].Message, "NCCL's settings are NCCL_MNNVL_ENABLE=0") {
			t.Errorf("%s: %s: %s: %+v", target, j.Verdict, j.Reason, f)
		}
		if ran := len(obs); ran != 1+1+5 { // the collectives of the whole domain, and no pairs
			t.Errorf("%s: %d observations", target, ran)
		}
		j, _, _ = walkDomains(t, false, fault)
		if j.Verdict != check.Failed || slices.ContainsFunc(j.Findings, func(f check.Finding) bool { return suspect.MatchString(f.Suspect) }) {
			t.Errorf("%s, without the key: %s: %s", target, j.Verdict, j.Reason)
		}
	}
}
