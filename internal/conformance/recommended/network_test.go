package recommended

import (
	"strings"
	"testing"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/conformance"
	"github.com/firstlight/firstlight/internal/conformance/dra/testpod"
	"github.com/firstlight/firstlight/internal/conformance/submission"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
)

const dranet = "dra.net"

func offersOf(of ...networkOffer) networkOffers {
	for i := range of {
		of[i].Node = []string{"gpu-01", "gpu-02"}[i]
	}
	return networkOffers{Nodes: of}
}

func withDRA() networkOffer {
	return networkOffer{Devices: map[string]int{dranet: 8}, Attributes: map[string][]string{dranet: {"dra.net/ifName", "dra.net/rdma"}}}
}

func withResource() networkOffer { return networkOffer{Resources: map[string]int64{"rdma/ib": 8}} }

func withClass(o networkOffers) networkOffers {
	o.Classes = map[string]string{dranet: "rdma"}
	return o
}

func claimedDevice(driver string) testpod.Status {
	return testpod.Status{
		Pod: "ns/claimant", Node: "gpu-01", Phase: "Running", Containers: []testpod.ContainerStatus{{Running: true}},
		Claim: &testpod.ClaimStatus{Allocated: true, Devices: []testpod.Device{{Driver: driver, Device: "net-0"}}},
	}
}

func allocatedRDMA() *allocation {
	return &allocation{
		Resource: "rdma/ib", More: 9, One: testpod.Status{Node: "gpu-01", Phase: "Running", Containers: []testpod.ContainerStatus{{Running: true}}},
		TooMany: testpod.Status{Phase: "Pending", Scheduled: testpod.Scheduled{Status: "False", Reason: "Unschedulable", Message: "Insufficient rdma/ib"}},
	}
}

func TestJudgeNetwork(t *testing.T) {
	t.Parallel()
	waiting := claimedDevice(dranet)
	waiting.Phase = "Failed"
	for name, tt := range map[string]struct {
		have  networkOffers
		claim *testpod.Status
		tried *allocation
		want  submission.Status
		says  string
	}{
		"through DRA":                        {withClass(offersOf(withDRA(), withDRA())), new(claimedDevice(dranet)), nil, submission.Implemented, "dra.net publishes the devices of all 2 nodes with 2 attributes (dra.net/ifName, dra.net/rdma)"},
		"through DRA on one node":            {withClass(offersOf(withDRA(), networkOffer{})), new(claimedDevice(dranet)), nil, submission.PartiallyImplemented, "of 1 of 2 nodes: gpu-01"},
		"a claim that does not run":          {withClass(offersOf(withDRA(), withDRA())), &waiting, nil, submission.PartiallyImplemented, "does not run with one"},
		"a claim of another's device":        {withClass(offersOf(withDRA(), withDRA())), new(claimedDevice("gpu.nvidia.com")), nil, submission.PartiallyImplemented, "does not run with one"},
		"a claim that was not tried":         {withClass(offersOf(withDRA(), withDRA())), nil, nil, "", "was not observed"},
		"no class":                           {offersOf(withDRA(), withDRA()), nil, nil, submission.PartiallyImplemented, "none selects devices of dra.net"},
		"as a resource":                      {offersOf(withResource(), withResource()), nil, allocatedRDMA(), submission.PartiallyImplemented, "DRA: no driver publishes network devices"},
		"as a resource on one node":          {offersOf(withResource(), networkOffer{}), nil, allocatedRDMA(), submission.PartiallyImplemented, "1 of 2 have rdma/ib: gpu-01"},
		"a resource that is never allocated": {offersOf(withResource(), withResource()), nil, &allocation{Resource: "rdma/ib", One: testpod.Status{Phase: "Failed"}}, submission.NotImplemented, "DRA: no driver"},
		"a resource that was not tried":      {offersOf(withResource(), withResource()), nil, nil, "", "was not observed"},
		"none":                               {offersOf(networkOffer{}, networkOffer{}), nil, nil, submission.NotImplemented, "none of 2 nodes offers any"},
		"no nodes":                           {networkOffers{}, nil, nil, "", "no node of the inventory"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			obs := []check.Observation{observation(t, kindNetworkOffer, tt.have)}
			if tt.claim != nil {
				obs = append(obs, observation(t, kindNetworkClaim, tt.claim))
			}
			if tt.tried != nil {
				obs = append(obs, observation(t, kindAllocation, tt.tried))
			}
			j := (&Network{nodes: []string{"gpu-01", "gpu-02"}}).Judge(obs)
			status, _ := submission.ShownBy(j.Verdict, j.Reason).Status()
			if status != tt.want || !strings.Contains(j.Reason, tt.says) {
				t.Errorf("%q: %s", status, j.Reason)
			}
		})
	}
	for _, j := range []check.Judgement{(&Network{nodes: []string{"gpu-01"}}).Judge(nil), (&Network{}).Judge([]check.Observation{observation(t, kindNetworkOffer, offersOf(withDRA()))})} {
		if j.Verdict != check.Unobserved {
			t.Errorf("%s: %s", j.Verdict, j.Reason)
		}
	}
}

// A site without a fast network does not need network devices.
func TestExempt(t *testing.T) {
	t.Parallel()
	rails := &profile.Profile{Name: "rails"}
	rails.Node.HCAs.Value = 8
	two := &site.Site{Inventory: site.Inventory{Nodes: []site.Node{{Name: "a"}, {Name: "b"}}}}
	one := &site.Site{Inventory: site.Inventory{Nodes: two.Inventory.Nodes[:1]}}
	for name, tt := range map[string]struct {
		s    *site.Site
		p    *profile.Profile
		says string
	}{
		"a fabric":  {two, rails, ""},
		"one node":  {one, rails, "one node"},
		"no fabric": {two, &profile.Profile{Name: "none"}, "no compute fabric"},
	} {
		if got := NewNetwork(tt.s, tt.p, conformance.Deps{}).Exempt(); (got == "") != (tt.says == "") || !strings.Contains(got, tt.says) {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestNetworkNames(t *testing.T) {
	t.Parallel()
	k, err := loadNetworkNames()
	if err != nil {
		t.Fatal(err)
	}
	c := &Network{declared: "example.com/nic"}
	for resource, want := range map[string]bool{
		"rdma/ib": true, "vpc.amazonaws.com/efa": true, "networking.gke.io.networks/rdma-0": true, "example.com/nic": true,
		"networking.gke.io.networks/rdma-0.IP": false, "nvidia.com/gpu": false, "cpu": false,
	} {
		if got := c.isNetworkResource(k, resource); got != want {
			t.Errorf("%s: %t", resource, got)
		}
	}
	for _, n := range append(k.Drivers, k.Resources...) {
		if n.Name == "" || n.What == "" || !strings.HasPrefix(n.Source, "https://") {
			t.Errorf("%+v", n)
		}
	}
	n := networkOffer{Node: "gpu-01", Devices: map[string]int{}, Attributes: map[string][]string{}}
	for _, driver := range []string{dranet, "gpu.nvidia.com"} {
		n.add(k, &resourcev1.ResourceSlice{Spec: resourcev1.ResourceSliceSpec{Driver: driver, NodeName: new("gpu-01"), Devices: []resourcev1.Device{
			{Attributes: map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{"b": {}, "a": {}}}, {},
		}}})
	}
	if n.Devices[dranet] != 2 || len(n.Devices) != 1 || strings.Join(n.Attributes[dranet], " ") != "a b" {
		t.Errorf("%+v", n)
	}
}
