package gpustack

import (
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/plan"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
)

const migResource = "nvidia.com/mig-1g.10gb"

// partitioned is the gate of a site whose nodes are partitioned, and its healthy observations.
func partitioned(t *testing.T, m site.MIG) (*Gate, facts) {
	t.Helper()
	p, err := profile.Load("h100-sxm-ndr400")
	if err != nil {
		t.Fatal(err)
	}
	whole := gate(t)
	s := &site.Site{GPUStack: whole.stack}
	s.GPUStack.MIG = &m
	for _, n := range whole.nodes {
		s.Inventory.Nodes = append(s.Inventory.Nodes, site.Node{Name: n})
	}
	g := New(s, p, Deps{})
	f := healthy(g)
	for i := range f.nodes {
		n := &f.nodes[i]
		n.MIGConfig, n.MIGState, n.MIGStrategy = "all-1g.10gb", "success", m.Strategy
		n.Resources = map[string]resourceFigures{kube.GPUResource: {}}
		for name, count := range m.Resources() {
			n.Resources[name] = resourceFigures{count, count}
		}
		f.usage.Nodes[n.Name] = kube.Usage{Allocatable: m.Resources()[m.Largest()]}
	}
	f.tooLarge.GPUsPerPod, f.fits.GPUsPerPod = m.Resources()[m.Largest()], m.Resources()[m.Largest()]
	return g, f
}

// A site with MIG devices passes with exactly these, by both strategies of the device plugin.
func TestMIG(t *testing.T) {
	t.Parallel()
	single := site.MIG{Strategy: site.MIGSingle, Devices: map[string]int{"1g.10gb": 56}}
	mixed := site.MIG{Strategy: site.MIGMixed, Devices: map[string]int{"1g.10gb": 28, "3g.40gb": 8}}
	for name, tt := range map[string]struct {
		mig     site.MIG
		change  func(*facts)
		verdict check.Verdict
		suspect string
		message string
	}{
		"single":                    {single, func(*facts) {}, check.Passed, "", ""},
		"mixed":                     {mixed, func(*facts) {}, check.Passed, "", ""},
		"mixed, with whole GPUs":    {site.MIG{Strategy: site.MIGMixed, Devices: map[string]int{"1g.10gb": 28}, WholeGPUs: 4}, func(*facts) {}, check.Passed, "", ""},
		"single, GPUs are whole":    {single, func(f *facts) { f.nodes[1].Resources[kube.GPUResource] = resourceFigures{8, 8} }, check.Failed, "gpu-02/nvidia.com/gpu", "56 are expected"},
		"mixed, a profile is short": {mixed, func(f *facts) { f.nodes[2].Resources[migResource] = resourceFigures{28, 21} }, check.Failed, "gpu-03/" + migResource, "21 of " + migResource},
		"mixed, none of a profile":  {mixed, func(f *facts) { delete(f.nodes[2].Resources, "nvidia.com/mig-3g.40gb") }, check.Failed, "gpu-03/nvidia.com/mig-3g.40gb", "8 are expected"},
		"mixed, another profile too": {mixed, func(f *facts) {
			f.nodes[0].Resources["nvidia.com/mig-2g.20gb"] = resourceFigures{1, 1}
		}, check.Failed, "gpu-01/nvidia.com/mig-2g.20gb", "does not declare"},
		"mixed, a GPU is whole": {mixed, func(f *facts) { f.nodes[0].Resources[kube.GPUResource] = resourceFigures{1, 1} }, check.Failed, "gpu-01/nvidia.com/gpu", "0 are expected"},
		"the other strategy":    {mixed, func(f *facts) { f.nodes[3].MIGStrategy = site.MIGSingle }, check.Failed, "gpu-04", "strategy single, want mixed"},
		"no strategy":           {mixed, func(f *facts) { f.nodes[3].MIGStrategy = "" }, check.Unobserved, "gpu-04", "was not observed"},
		"half applied":          {single, func(f *facts) { f.nodes[1].MIGState = "failed" }, check.Failed, "gpu-02", "all-1g.10gb is failed"},
		"a node beyond inventory": {mixed, func(f *facts) {
			f.nodes = append(f.nodes, nodeFigures{Name: "gpu-09", Resources: map[string]resourceFigures{migResource: {7, 7}}})
		}, check.Failed, "gpu-09", "has 7 GPUs"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g, f := partitioned(t, tt.mig)
			tt.change(&f)
			j := plan.Judge(g, f.observations(t))
			if j.Verdict != tt.verdict {
				t.Fatalf("%s: %s %+v", j.Verdict, j.Reason, j.Findings)
			}
			named := tt.suspect == ""
			for _, finding := range j.Findings {
				named = named || finding.Suspect == tt.suspect && strings.Contains(finding.Message, tt.message)
			}
			if !named {
				t.Errorf("no finding %q %q in %+v", tt.suspect, tt.message, j.Findings)
			}
		})
	}
}

// The probe gangs of a partitioned site request the devices that it offers.
func TestGangsRequestMIGDevices(t *testing.T) {
	t.Parallel()
	g, _ := partitioned(t, site.MIG{Strategy: site.MIGMixed, Devices: map[string]int{"1g.10gb": 56}})
	specs, err := g.Workloads()
	if err != nil || len(specs) != 1 || specs[0].GPUResource != migResource || specs[0].GPUs != 56 {
		t.Errorf("%+v, %v", specs, err)
	}
}
