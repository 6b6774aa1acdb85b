package recommended

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/google/go-cmp/cmp"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/conformance/dra/inventory"
	"github.com/firstlight/firstlight/internal/conformance/dra/testpod"
	"github.com/firstlight/firstlight/internal/conformance/submission"
)

// sharingFixture is the input of the check.
type sharingFixture struct {
	offered []sharedOffer
	free    []inventory.NodeGPUs
	shared  *sharedClaim
	parts   *partPods
	unseen  string // of this kind only an error was recorded
}

func runningPod(name string) testpod.Status {
	return testpod.Status{Pod: "ns/" + name, UID: name, Node: "gpu-01", Phase: "Running", Containers: []testpod.ContainerStatus{{Name: "sharer", Running: true}}}
}

func unschedulablePod(name, message string) testpod.Status {
	return testpod.Status{Pod: "ns/" + name, UID: name, Phase: "Pending", Scheduled: testpod.Scheduled{Status: "False", Reason: "Unschedulable", Message: message}}
}

func gpuDevice(name string) testpod.Device {
	return testpod.Device{Driver: inventory.Driver, Pool: "gpu-01", Device: name}
}

// healthySharing has a GPU that two pods share, and MIG slices that are given out.
func healthySharing() sharingFixture {
	alone := runningPod("alone")
	alone.Claim = &testpod.ClaimStatus{Allocated: true, Devices: []testpod.Device{gpuDevice("gpu-1")}}
	return sharingFixture{
		offered: []sharedOffer{{Node: "gpu-01", Capable: true, Parts: map[string]int64{"nvidia.com/mig-1g.10gb": 7}}},
		free:    []inventory.NodeGPUs{{Node: "gpu-01", Open: true, Offered: 8}},
		shared: &sharedClaim{
			Claim: testpod.ClaimStatus{Name: claimName, Allocated: true, Devices: []testpod.Device{gpuDevice("gpu-0")}, ReservedFor: []string{"first", "second"}},
			Pods:  []testpod.Status{runningPod("first"), runningPod("second")}, Alone: alone,
		},
		parts: &partPods{Node: "gpu-01", Resource: "nvidia.com/mig-1g.10gb", Pods: []testpod.Status{runningPod("part-1"), runningPod("part-2")}},
	}
}

func (s sharingFixture) observations(t *testing.T) []check.Observation {
	t.Helper()
	var out []check.Observation
	add := func(kind string, figures any) {
		o, err := check.Observation{ID: fmt.Sprint(len(out)), Kind: kind, Target: "cluster"}.WithFigures(figures)
		if err != nil {
			t.Fatal(err)
		}
		if kind == s.unseen {
			o.Err = "forbidden"
		}
		out = append(out, o)
	}
	add(kindSharedOffer, s.offered)
	add(kindFree, s.free)
	if s.shared != nil {
		add(kindShared, s.shared)
	}
	if s.parts != nil {
		add(kindParts, s.parts)
	}
	return out
}

func TestJudgeSharing(t *testing.T) {
	t.Parallel()
	c := &Sharing{nodes: []string{"gpu-01"}}
	noParts := func(s *sharingFixture) { s.offered[0].Parts, s.parts = nil, nil }
	for name, tt := range map[string]struct {
		change func(*sharingFixture)
		want   submission.Status
		says   string
	}{
		"all of it":                  {func(*sharingFixture) {}, submission.Implemented, "two pods shared gpu-0 of gpu-01"},
		"nothing that can be parted": {func(s *sharingFixture) { noParts(s); s.offered[0].Capable = false }, submission.Implemented, "two pods shared"},
		"the third is refused":       {func(s *sharingFixture) { s.shared.Alone = unschedulablePod("alone", "no GPU") }, submission.Implemented, "two pods shared"},
		"capable, and no parts":      {noParts, submission.PartiallyImplemented, "partitions: GPUs of 1 nodes can be partitioned"},
		"parts through DRA alone":    {func(s *sharingFixture) { noParts(s); s.offered[0].Devices = 7 }, submission.PartiallyImplemented, "parts were not tested"},
		"a pod with a part fails":    {func(s *sharingFixture) { s.parts.Pods[1].Phase = "Failed" }, submission.PartiallyImplemented, "ns/part-2: requests a nvidia.com/mig"},
		"no part is free":            {func(s *sharingFixture) { s.parts.Pods[1] = unschedulablePod("part-2", "Insufficient") }, "", "no nvidia.com/mig-1g.10gb is free"},
		"one sharer does not run":    {func(s *sharingFixture) { s.shared.Pods[1] = unschedulablePod("second", "cannot allocate"); noParts(s) }, submission.NotImplemented, "ns/second: shares a claim but does not run"},
		"not reserved for both":      {func(s *sharingFixture) { s.shared.Claim.ReservedFor = []string{"first"} }, submission.PartiallyImplemented, "not reserved for both"},
		"two devices for one":        {func(s *sharingFixture) { s.shared.Claim.Devices = append(s.shared.Claim.Devices, gpuDevice("gpu-2")) }, submission.PartiallyImplemented, "it has 2 devices"},
		"the third has the same GPU": {func(s *sharingFixture) { s.shared.Alone.Claim.Devices = []testpod.Device{gpuDevice("gpu-0")} }, submission.PartiallyImplemented, "it got the shared GPU by a claim of its own"},
		"the third was not decided":  {func(s *sharingFixture) { s.shared.Alone = testpod.Status{Pod: "ns/alone", Phase: "Pending"} }, "", "neither placed nor unschedulable"},
		"an image that cannot be pulled": {func(s *sharingFixture) {
			s.shared.Pods[0] = testpod.Status{Phase: "Pending", Containers: []testpod.ContainerStatus{{Waiting: "ImagePullBackOff"}}}
		}, "", "cannot pull"},
		"one sharer was seen":                  {func(s *sharingFixture) { s.shared.Pods = s.shared.Pods[:1] }, "", "1 of 2 were observed"},
		"one of two pods with a part was seen": {func(s *sharingFixture) { s.parts.Pods = s.parts.Pods[:1] }, "", "1 of 2 were observed"},
		"a pod with a part was seen twice":     {func(s *sharingFixture) { s.parts.Pods[1] = s.parts.Pods[0] }, "", "1 of 2 were observed"},
		"no pod with a part was seen":          {func(s *sharingFixture) { s.parts.Pods = nil }, "", "0 of 2 were observed"},
		"one sharer was seen twice":            {func(s *sharingFixture) { s.shared.Pods[1] = s.shared.Pods[0] }, "", "1 of 2 were observed"},
		"no room":                              {func(s *sharingFixture) { s.free[0].Allocated, s.shared = 8, nil }, "", "no node of the inventory has a GPU"},
		"not tried":                            {func(s *sharingFixture) { s.shared = nil }, "", "was not observed"},
		"no nodes":                             {func(s *sharingFixture) { s.offered = nil }, "", "no node of the inventory"},
		"the offer was not seen":               {func(s *sharingFixture) { s.unseen = kindSharedOffer }, "", "forbidden"},
		"room was not seen":                    {func(s *sharingFixture) { s.unseen = kindFree }, "", "forbidden"},
		"parts were not seen":                  {func(s *sharingFixture) { s.unseen = kindParts }, "", "forbidden"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := healthySharing()
			tt.change(&s)
			j := c.Judge(s.observations(t))
			status, _ := submission.ShownBy(j.Verdict, j.Reason).Status()
			if status != tt.want || !strings.Contains(j.Reason, tt.says) {
				t.Errorf("%q: %s", status, j.Reason)
			}
		})
	}
	for _, j := range []check.Judgement{c.Judge(nil), (&Sharing{}).Judge(healthySharing().observations(t))} {
		if j.Verdict != check.Unobserved {
			t.Errorf("%s: %s", j.Verdict, j.Reason)
		}
	}
}

func TestPartsOf(t *testing.T) {
	t.Parallel()
	list := func(names ...string) corev1.ResourceList {
		out := corev1.ResourceList{"cpu": resource.MustParse("8")}
		for _, n := range names {
			out[corev1.ResourceName(n)] = resource.MustParse("4")
		}
		return out
	}
	for name, tt := range map[string]struct {
		allocatable corev1.ResourceList
		replicas    int
		want        map[string]int64
	}{
		"healthySharing GPUs": {list("nvidia.com/gpu"), 0, map[string]int64{}},
		"one replica each":    {list("nvidia.com/gpu"), 1, map[string]int64{}},
		"replicas":            {list("nvidia.com/gpu"), 4, map[string]int64{"nvidia.com/gpu": 4}},
		"renamed replicas":    {list("nvidia.com/gpu.shared"), 4, map[string]int64{"nvidia.com/gpu.shared": 4}},
		"slices":              {list("nvidia.com/mig-1g.10gb", "nvidia.com/gpu"), 0, map[string]int64{"nvidia.com/mig-1g.10gb": 4}},
		"others' resources":   {list("rdma/ib", "example.com/gpu.shared"), 0, map[string]int64{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, partsOf(tt.allocatable, tt.replicas)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
