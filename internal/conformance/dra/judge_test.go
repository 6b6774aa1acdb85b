package dra

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/conformance/dra/inventory"
	"github.com/firstlight/firstlight/internal/conformance/dra/testpod"
)

// fixture is what the check observes.
type fixture struct {
	served     served
	class      class
	slices     []inventory.Slice
	free       freeNodes
	can        testpod.Status
	cannot     testpod.Status
	after      testpod.Status
	without    []string // kinds, or targets of trials, that were not recorded
	unreadable []string // of which only an error was
}

var at = time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)

func sliceOf(node, driver string, gpus int) inventory.Slice {
	s := inventory.Slice{Name: node + "-" + driver, Driver: driver, Pool: node, Node: node, Generation: 1, PoolSlices: 1, Devices: []inventory.Device{}}
	for i := range gpus {
		s.Devices = append(s.Devices, inventory.Device{Name: "gpu-" + string(rune('0'+i)), Type: "gpu", Product: "NVIDIA H100 80GB HBM3", UUID: "GPU-" + node + "-" + string(rune('0'+i))})
	}
	return s
}

// healthy is a cluster of two nodes with two GPUs each.
func healthy() *fixture {
	s := &fixture{
		served: served{Versions: []string{"v1", "v1beta2"}, Resources: []string{"deviceclasses", "resourceclaims", "resourceclaims/status", "resourceclaimtemplates", "resourceslices"}},
		class:  class{Name: inventory.Driver, Found: true},
		slices: []inventory.Slice{sliceOf("gpu-01", inventory.Driver, 2), sliceOf("gpu-02", inventory.Driver, 2)},
		free:   freeNodes{GPUs: []inventory.NodeGPUs{{Node: "gpu-01", Open: true, Offered: 2}, {Node: "gpu-02", Open: true, Offered: 2}}, Nodes: []string{"gpu-01", "gpu-02"}},
		can: testpod.Status{
			At: at.Add(time.Second), Pod: "ns/allocatable", UID: "p1", Node: "gpu-02", Phase: "Running", Scheduled: testpod.Scheduled{Status: "True"},
			Containers: []testpod.ContainerStatus{{Name: "claimant", Running: true, Since: at}},
			Claim:      &testpod.ClaimStatus{Name: "c1", UID: "c1", Allocated: true, Devices: []testpod.Device{{Driver: inventory.Driver, Pool: "gpu-02", Device: "gpu-1"}}, ReservedFor: []string{"p1"}},
		},
		cannot: testpod.Status{
			At: at.Add(2 * time.Second), Pod: "ns/impossible", UID: "p2", Phase: "Pending",
			Scheduled: testpod.Scheduled{Status: "False", Reason: "Unschedulable", Message: "0/4 nodes are available: 2 cannot allocate all claims, 2 node(s) didn't match Pod's node affinity/selector."},
			Claim:     &testpod.ClaimStatus{Name: "c2", UID: "c2"},
		},
	}
	s.after = s.can
	s.after.At = at.Add(3 * time.Second)
	return s
}

func (s *fixture) observations(t *testing.T) []check.Observation {
	t.Helper()
	var out []check.Observation
	for _, one := range []struct {
		kind, target string
		figures      any
	}{
		{kindServed, "cluster", s.served}, {kindClass, inventory.Driver, s.class}, {kindSlices, "cluster", s.slices}, {kindFree, "cluster", s.free},
		{kindPod, allocatable, s.can}, {kindPod, impossible, s.cannot}, {kindPod, allocatableAgain, s.after},
	} {
		if slices.Contains(s.without, one.kind) || slices.Contains(s.without, one.target) {
			continue
		}
		o := check.Observation{ID: one.kind + "-" + one.target, Kind: one.kind, Target: one.target}
		if slices.Contains(s.unreadable, one.kind) || slices.Contains(s.unreadable, one.target) {
			o.Err = "the server could not be reached"
		} else {
			var err error
			if o, err = o.WithFigures(one.figures); err != nil {
				t.Fatal(err)
			}
		}
		out = append(out, o)
	}
	return out
}

func TestJudge(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		alter   func(*fixture)
		want    check.Verdict
		suspect string
		says    string
	}{
		"healthy":                  {want: check.Passed},
		"a second, foreign driver": {alter: func(s *fixture) { s.slices = append(s.slices, sliceOf("gpu-01", "dra.net", 9)) }, want: check.Passed},
		"only v1 is served":        {alter: func(s *fixture) { s.served.Versions = []string{"v1"} }, want: check.Passed},
		"only the beta is served": {alter: func(s *fixture) {
			s.served = served{Versions: []string{"v1beta2", "v1beta1"}}
			s.without = []string{kindClass, kindSlices, kindFree, kindPod}
		}, want: check.Failed, suspect: "API resource.k8s.io/v1", says: "only as v1beta2, v1beta1"},
		"not served at all": {alter: func(s *fixture) {
			s.served = served{Versions: []string{}}
			s.without = []string{kindClass, kindSlices, kindFree, kindPod}
		}, want: check.Failed, suspect: "API resource.k8s.io/v1", says: "does not serve"},
		"served without slices":  {alter: func(s *fixture) { s.served.Resources = s.served.Resources[:4] }, want: check.Failed, says: "resourceslices"},
		"the API cannot be read": {alter: func(s *fixture) { s.unreadable = []string{kindServed} }, want: check.Unobserved},
		"nothing was recorded":   {alter: func(s *fixture) { s.without = []string{kindServed, kindClass, kindSlices, kindFree, kindPod} }, want: check.Unobserved},
		"no class":               {alter: func(s *fixture) { s.class.Found = false }, want: check.Failed, suspect: "DeviceClass gpu.nvidia.com"},
		"the class is not known": {alter: func(s *fixture) { s.unreadable = []string{kindClass} }, want: check.Unobserved},
		"no slices at all":       {alter: func(s *fixture) { s.slices = []inventory.Slice{} }, want: check.Failed, suspect: "gpu-01", says: "publishes no ResourceSlice"},
		"slices cannot be read":  {alter: func(s *fixture) { s.unreadable = []string{kindSlices} }, want: check.Unobserved},
		// aicr: 1 of N nodes is enough there.
		"one of two nodes has none": {alter: func(s *fixture) { s.slices = s.slices[:1] }, want: check.Failed, suspect: "gpu-02", says: "publishes no ResourceSlice"},
		// aicr does not check the driver of the slice.
		"one node has a foreign driver's only": {alter: func(s *fixture) { s.slices[1] = sliceOf("gpu-02", "dra.net", 2) }, want: check.Failed, suspect: "gpu-02", says: "dra.net"},
		"a GPU too few":                        {alter: func(s *fixture) { s.slices[1] = sliceOf("gpu-02", inventory.Driver, 1) }, want: check.Failed, suspect: "gpu-02", says: "offers 1 GPUs, want 2 by the profile"},
		"a GPU too many":                       {alter: func(s *fixture) { s.slices[1] = sliceOf("gpu-02", inventory.Driver, 3) }, want: check.Failed, suspect: "gpu-02"},
		"parts of GPUs are not GPUs":           {alter: func(s *fixture) { s.slices[1].Devices[1].Type = "mig" }, want: check.Failed, suspect: "gpu-02"},
		"a tainted GPU":                        {alter: func(s *fixture) { s.slices[1].Devices[1].Tainted = true }, want: check.Failed, suspect: "gpu-02", says: "tainted"},
		"an incomplete pool":                   {alter: func(s *fixture) { s.slices[1].PoolSlices = 2 }, want: check.Failed, suspect: "gpu-02", says: "1 of 2 slices"},
		"a generation of before": {alter: func(s *fixture) {
			old := sliceOf("gpu-02", inventory.Driver, 2)
			old.Generation, s.slices[1].Devices = 0, s.slices[1].Devices[:1]
			s.slices = append(s.slices, old)
		}, want: check.Failed, suspect: "gpu-02"},
		"no GPU is free": {alter: func(s *fixture) {
			s.free.Nodes, s.free.GPUs[0].Plugged, s.free.GPUs[0].Holders = nil, 2, []string{"pod team/job"}
			s.without = []string{kindPod}
		}, want: check.Unobserved, suspect: "free GPUs", says: "pod team/job"},
		"free devices are unknown": {alter: func(s *fixture) { s.unreadable = []string{kindFree} }, want: check.Unobserved},

		"no claim was made":     {alter: func(s *fixture) { s.can.Claim = nil }, want: check.Failed, says: "none was created"},
		"not allocated":         {alter: func(s *fixture) { s.can.Claim = &testpod.ClaimStatus{UID: "c1"} }, want: check.Failed, suspect: "ResourceClaim of ns/allocatable", says: "was not allocated"},
		"bound nowhere":         {alter: func(s *fixture) { s.can.Node = "" }, want: check.Failed, suspect: "pod ns/allocatable"},
		"bound to another node": {alter: func(s *fixture) { s.can.Node = "gpu-09" }, want: check.Failed, says: "gpu-09"},
		"a device of another":   {alter: func(s *fixture) { s.can.Node = "gpu-01" }, want: check.Failed, says: "gpu-02/gpu-1"},
		"a device of no slice":  {alter: func(s *fixture) { s.can.Claim.Devices[0].Device = "gpu-7" }, want: check.Failed, says: "gpu-7"},
		"a foreign device":      {alter: func(s *fixture) { s.can.Claim.Devices[0].Driver = "dra.net" }, want: check.Failed, says: "dra.net"},
		"two devices":           {alter: func(s *fixture) { s.can.Claim.Devices = append(s.can.Claim.Devices, s.can.Claim.Devices[0]) }, want: check.Failed, says: "2 devices were allocated"},
		"no device":             {alter: func(s *fixture) { s.can.Claim.Devices = nil }, want: check.Failed, says: "0 devices were allocated"},
		"not reserved":          {alter: func(s *fixture) { s.can.Claim.ReservedFor = nil }, want: check.Failed, says: "want only the pod"},
		"reserved for another":  {alter: func(s *fixture) { s.can.Claim.ReservedFor = []string{"p2"} }, want: check.Failed, says: "want only the pod"},
		"allocated, never runs": {alter: func(s *fixture) {
			s.can.Phase, s.can.Containers = "Pending", []testpod.ContainerStatus{{Waiting: "ContainerCreating"}}
		}, want: check.Failed, suspect: "pod ns/allocatable", says: "does not run"},
		"allocated, and it fails": {alter: func(s *fixture) { s.can.Phase, s.can.Reason = "Failed", "UnexpectedAdmissionError" }, want: check.Failed, says: "UnexpectedAdmissionError"},
		"its image is missing": {alter: func(s *fixture) {
			s.can.Phase, s.can.Containers = "Pending", []testpod.ContainerStatus{{Name: "claimant", Waiting: "ImagePullBackOff back-off"}}
		}, want: check.Unobserved, says: "image"},
		"the pod was not seen":           {alter: func(s *fixture) { s.unreadable = []string{allocatable} }, want: check.Unobserved},
		"the pod was not tried":          {alter: func(s *fixture) { s.without = []string{allocatable} }, want: check.Unobserved},
		"impossible claim: allocated":    {alter: func(s *fixture) { s.cannot.Claim.Allocated = true }, want: check.Failed, suspect: "ResourceClaim of ns/impossible"},
		"impossible claim: bound":        {alter: func(s *fixture) { s.cannot.Node = "gpu-01" }, want: check.Failed, suspect: "pod ns/impossible"},
		"impossible claim: runs":         {alter: func(s *fixture) { s.cannot.Phase = "Running" }, want: check.Failed, suspect: "pod ns/impossible"},
		"the scheduler is silent":        {alter: func(s *fixture) { s.cannot.Scheduled = testpod.Scheduled{} }, want: check.Unobserved, says: "not decided"},
		"the scheduler's gate":           {alter: func(s *fixture) { s.cannot.Scheduled.Reason = "SchedulingGated" }, want: check.Unobserved, says: "not decided"},
		"refused for something else":     {alter: func(s *fixture) { s.cannot.Scheduled.Message = "0/4 nodes are available: 4 Insufficient cpu." }, want: check.Unobserved, says: "Insufficient cpu"},
		"no claim that nothing meets":    {alter: func(s *fixture) { s.cannot.Claim = nil }, want: check.Unobserved},
		"the refused pod was not seen":   {alter: func(s *fixture) { s.unreadable = []string{impossible} }, want: check.Unobserved},
		"the refused pod was not tried":  {alter: func(s *fixture) { s.without = []string{impossible} }, want: check.Unobserved},
		"no second observation":          {alter: func(s *fixture) { s.without = []string{allocatableAgain} }, want: check.Unobserved},
		"the first is another by then":   {alter: func(s *fixture) { s.after.UID = "p9" }, want: check.Unobserved, says: "no longer had its claim"},
		"the first is over by then":      {alter: func(s *fixture) { s.after.Phase = "Succeeded" }, want: check.Unobserved},
		"the first's claim is given up":  {alter: func(s *fixture) { s.after.Claim = &testpod.ClaimStatus{UID: "c1"} }, want: check.Unobserved},
		"refused before the other's own": {alter: func(s *fixture) { s.cannot.At = at }, want: check.Unobserved},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := healthy()
			if tt.alter != nil {
				tt.alter(s)
			}
			c := &Check{nodes: []string{"gpu-01", "gpu-02"}, gpus: 2, products: []string{"NVIDIA H100 80GB HBM3"}}
			j := c.Judge(s.observations(t))
			if j.Verdict != tt.want {
				t.Fatalf("%s, want %s: %s", j.Verdict, tt.want, j.Reason)
			}
			if tt.want == check.Passed {
				return
			}
			var said []string
			for _, f := range j.Findings {
				said = append(said, f.Suspect+": "+f.Message)
				if f.Remedy == "" {
					t.Errorf("no remedy: %+v", f)
				}
			}
			if text := strings.Join(said, "\n"); !strings.Contains(text, tt.says) || !strings.Contains(text, tt.suspect) {
				t.Errorf("no finding with suspect %q and message %q:\n%s", tt.suspect, tt.says, text)
			}
		})
	}
}

func TestNothingIsNoPass(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]*Check{"no nodes": {gpus: 8}, "no GPUs": {nodes: []string{"gpu-01"}}} {
		if j := c.Judge(healthy().observations(t)); j.Verdict != check.Unobserved {
			t.Errorf("%s: %s", name, j.Verdict)
		}
	}
	s := healthy()
	obs := append(s.observations(t), s.observations(t)...)
	if j := (&Check{nodes: []string{"gpu-01", "gpu-02"}, gpus: 2, products: []string{"NVIDIA H100 80GB HBM3"}}).Judge(obs); j.Verdict != check.Unobserved {
		t.Errorf("all twice: %s", j.Verdict)
	}
}
