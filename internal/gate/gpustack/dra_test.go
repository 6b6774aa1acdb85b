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

// refuse has the scheduler place a part of the gang that fits, and refuse its other claims.
func refuse(f *facts, bound, fitsAfter int) {
	p := &f.fits.Placement
	p.Bound, p.Refused, p.Messages = bound, p.Wanted-bound, []string{"0/5 nodes are available: 4 cannot allocate all claims"}
	f.fits.FitsAfter, f.fits.Undecided = fitsAfter, "deadline"
}

// A cluster that offers its GPUs through DRA alone failed the gate: its nodes have no nvidia.com/gpu.
func TestDRA(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		change  func(*facts, *[]sliceFigures)
		verdict check.Verdict
		suspect string
		message string
	}{
		"healthy":           {func(*facts, *[]sliceFigures) {}, check.Passed, "", ""},
		"seven GPUs":        {func(_ *facts, s *[]sliceFigures) { (*s)[1].GPUs = 7 }, check.Failed, "gpu-02", "offers 7 GPUs in 1 ResourceSlices of gpu.nvidia.com, 8 are expected"},
		"no slice":          {func(_ *facts, s *[]sliceFigures) { (*s)[1].GPUs, (*s)[1].Slices = 0, 0 }, check.Failed, "gpu-02", "offers 0 GPUs in 0 ResourceSlices"},
		"a tainted device":  {func(_ *facts, s *[]sliceFigures) { (*s)[2].Problems = []string{"device gpu-03/gpu-1 is tainted"} }, check.Failed, "gpu-03", "tainted"},
		"a node not listed": {func(_ *facts, s *[]sliceFigures) { *s = (*s)[1:] }, check.Unobserved, "gpu-01", "were not observed"},
		"no slices read":    {func(_ *facts, s *[]sliceFigures) { *s = nil }, check.Unobserved, "the ResourceSlices", ""},
		"another node":      {func(_ *facts, s *[]sliceFigures) { *s = append(*s, sliceFigures{Node: "gpu-09", GPUs: 8, Slices: 1}) }, check.Failed, "gpu-09", "not in the inventory"},
		"no class":          {func(f *facts, _ *[]sliceFigures) { f.class = &classFigures{} }, check.Failed, "DeviceClass gpu.nvidia.com", "does not exist"},
		"class not read":    {func(f *facts, _ *[]sliceFigures) { f.class = nil }, check.Unobserved, "DeviceClass gpu.nvidia.com", ""},
		"mapped":            {func(f *facts, _ *[]sliceFigures) { f.class.ExtendedResource = kube.GPUResource }, check.Passed, "DeviceClass gpu.nvidia.com", "pods that request it without a claim get GPUs, too"},
		"not mapped":        {func(f *facts, _ *[]sliceFigures) { f.class.ExtendedResource = "" }, check.Passed, "DeviceClass gpu.nvidia.com", "maps no extended resource: pods that request nvidia.com/gpu without a claim stay Pending"},
		"another is mapped": {func(f *facts, _ *[]sliceFigures) { f.class.ExtendedResource = "example.com/gpu" }, check.Passed, "DeviceClass gpu.nvidia.com",
			"maps the extended resource example.com/gpu, and not nvidia.com/gpu"},
		"the class selects other devices": {func(f *facts, _ *[]sliceFigures) { refuse(f, 0, 4) }, check.Failed, "DeviceClass gpu.nvidia.com",
			"no claim of it was allocated, though ResourceSlices offer free GPUs for 4 pods: 0/5 nodes are available: 4 cannot allocate all claims; its selectors: device.driver == 'gpu.nvidia.com'"},
		"a taint refuses, and the claims of one node": {func(f *facts, _ *[]sliceFigures) {
			refuse(f, 0, 4)
			f.fits.Placement.Messages = []string{"0/5 nodes are available: 1 cannot allocate all claims, 3 node(s) had untolerated taint(s), 1 node(s) were unschedulable."}
		}, check.Failed, "gang scheduler native", "3 node(s) had untolerated taint(s)"},
		"a part of the gang is refused": {func(f *facts, _ *[]sliceFigures) { refuse(f, 2, 4) }, check.Failed, "gang scheduler native", "placed 2 of 4 pods"},
		"others took the GPUs":          {func(f *facts, _ *[]sliceFigures) { refuse(f, 0, 3) }, check.Unobserved, "gang scheduler native", "other pods took the GPUs"},
		"offered twice": {func(f *facts, _ *[]sliceFigures) { f.nodes[3].Resources[kube.GPUResource] = resourceFigures{8, 8} }, check.Failed,
			"gpu-04/nvidia.com/gpu", "8 of nvidia.com/gpu"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, err := profile.Load("h100-sxm-ndr400")
			if err != nil {
				t.Fatal(err)
			}
			whole := gate(t)
			s := &site.Site{GPUStack: whole.stack}
			s.GPUStack.DeviceClass = site.DRADeviceClass
			for _, n := range whole.nodes {
				s.Inventory.Nodes = append(s.Inventory.Nodes, site.Node{Name: n})
			}
			g := New(s, p, Deps{})
			f := healthy(g)
			f.class = &classFigures{Found: true, Selectors: []string{"device.driver == 'gpu.nvidia.com'"}}
			var found []sliceFigures
			for i, n := range g.nodes {
				f.nodes[i].Resources = map[string]resourceFigures{kube.GPUResource: {}}
				found = append(found, sliceFigures{Node: n, GPUs: 8, Slices: 1})
			}
			tt.change(&f, &found)
			obs := f.observations(t)
			if found != nil {
				o, err := check.Observation{ID: "id-slices", Kind: kindSlices, Target: "cluster"}.WithFigures(found)
				if err != nil {
					t.Fatal(err)
				}
				obs = append(obs, o)
			}
			j := plan.Judge(g, obs)
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
			specs, err := g.Workloads()
			if err != nil || specs[0].DeviceClass != site.DRADeviceClass || specs[0].GPUs != 8 || specs[0].GPUResource != "" {
				t.Errorf("%+v, %v", specs, err)
			}
		})
	}
}
