package network

import (
	"strings"
	"testing"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/conformance/dra/trial"
	"github.com/firstlight/firstlight/internal/conformance/giving"
	"github.com/firstlight/firstlight/internal/conformance/standing"
	"github.com/firstlight/firstlight/internal/conformance/submission"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
)

const dranet = "dra.net"

func nodes(of ...nodeOffer) offered {
	for i := range of {
		of[i].Node = []string{"gpu-01", "gpu-02"}[i]
	}
	return offered{Nodes: of}
}

func withDRA() nodeOffer {
	return nodeOffer{Devices: map[string]int{dranet: 8}, Attributes: map[string][]string{dranet: {"dra.net/ifName", "dra.net/rdma"}}}
}

func withResource() nodeOffer { return nodeOffer{Resources: map[string]int64{"rdma/ib": 8}} }

func classed(o offered) offered {
	o.Classes = map[string]string{dranet: "rdma"}
	return o
}

func claimed(driver string) trial.Seen {
	return trial.Seen{
		Pod: "ns/claimant", Node: "gpu-01", Phase: "Running", Containers: []trial.Started{{Running: true}},
		Claim: &trial.ClaimState{Allocated: true, Devices: []trial.Device{{Driver: driver, Device: "net-0"}}},
	}
}

func given() *giving.Tried {
	return &giving.Tried{
		Resource: "rdma/ib", More: 9, One: trial.Seen{Node: "gpu-01", Phase: "Running", Containers: []trial.Started{{Running: true}}},
		TooMany: trial.Seen{Phase: "Pending", Scheduled: trial.Scheduled{Status: "False", Reason: "Unschedulable", Message: "Insufficient rdma/ib"}},
	}
}

func TestJudge(t *testing.T) {
	t.Parallel()
	waiting := claimed(dranet)
	waiting.Phase = "Failed"
	for name, tt := range map[string]struct {
		have  offered
		claim *trial.Seen
		tried *giving.Tried
		want  submission.Status
		says  string
	}{
		"through DRA":                   {classed(nodes(withDRA(), withDRA())), new(claimed(dranet)), nil, submission.Implemented, "dra.net publishes the devices of all 2 nodes with 2 attributes (dra.net/ifName, dra.net/rdma)"},
		"through DRA on one node":       {classed(nodes(withDRA(), nodeOffer{})), new(claimed(dranet)), nil, submission.PartiallyImplemented, "of 1 of 2 nodes: gpu-01"},
		"a claim that does not run":     {classed(nodes(withDRA(), withDRA())), &waiting, nil, submission.PartiallyImplemented, "does not run with one"},
		"a claim of another's device":   {classed(nodes(withDRA(), withDRA())), new(claimed("gpu.nvidia.com")), nil, submission.PartiallyImplemented, "does not run with one"},
		"a claim that was not tried":    {classed(nodes(withDRA(), withDRA())), nil, nil, "", "observed 0 times"},
		"no class":                      {nodes(withDRA(), withDRA()), nil, nil, submission.PartiallyImplemented, "none selects devices of dra.net"},
		"as a resource":                 {nodes(withResource(), withResource()), nil, given(), submission.PartiallyImplemented, "DRA: no driver of network devices publishes any"},
		"as a resource on one node":     {nodes(withResource(), nodeOffer{}), nil, given(), submission.PartiallyImplemented, "1 of 2 have rdma/ib: gpu-01"},
		"a resource nobody gives out":   {nodes(withResource(), withResource()), nil, &giving.Tried{Resource: "rdma/ib", One: trial.Seen{Phase: "Failed"}}, submission.NotImplemented, "DRA: no driver"},
		"a resource that was not tried": {nodes(withResource(), withResource()), nil, nil, "", "observed 0 times"},
		"none":                          {nodes(nodeOffer{}, nodeOffer{}), nil, nil, submission.NotImplemented, "none of 2 nodes offers any"},
		"no nodes":                      {offered{}, nil, nil, "", "none of the inventory's"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			obs := []check.Observation{observation(t, kindOffer, tt.have)}
			if tt.claim != nil {
				obs = append(obs, observation(t, kindClaimed, tt.claim))
			}
			if tt.tried != nil {
				obs = append(obs, observation(t, giving.Kind, tt.tried))
			}
			j := (&Check{nodes: []string{"gpu-01", "gpu-02"}}).Judge(obs)
			status, _ := submission.ShownBy(j.Verdict, j.Reason).Status()
			if status != tt.want || !strings.Contains(j.Reason, tt.says) {
				t.Errorf("%q: %s", status, j.Reason)
			}
		})
	}
	for _, j := range []check.Judgement{(&Check{nodes: []string{"gpu-01"}}).Judge(nil), (&Check{}).Judge([]check.Observation{observation(t, kindOffer, nodes(withDRA()))})} {
		if j.Verdict != check.Unobserved {
			t.Errorf("%s: %s", j.Verdict, j.Reason)
		}
	}
}

func observation(t *testing.T, kind string, figures any) check.Observation {
	t.Helper()
	o, err := check.Observation{ID: kind, Kind: kind, Target: "cluster"}.WithFigures(figures)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// What needs no fast network does not have to offer one.
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
		if got := New(tt.s, tt.p, standing.Deps{}).Exempt(); (got == "") != (tt.says == "") || !strings.Contains(got, tt.says) {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestKnown(t *testing.T) {
	t.Parallel()
	k, err := load()
	if err != nil {
		t.Fatal(err)
	}
	c := &Check{declared: "example.com/nic"}
	for resource, want := range map[string]bool{
		"rdma/ib": true, "vpc.amazonaws.com/efa": true, "networking.gke.io.networks/rdma-0": true, "example.com/nic": true,
		"networking.gke.io.networks/rdma-0.IP": false, "nvidia.com/gpu": false, "cpu": false,
	} {
		if got := c.resource(k, resource); got != want {
			t.Errorf("%s: %t", resource, got)
		}
	}
	for _, n := range append(k.Drivers, k.Resources...) {
		if n.Name == "" || n.What == "" || !strings.HasPrefix(n.Source, "https://") {
			t.Errorf("%+v", n)
		}
	}
	n := nodeOffer{Node: "gpu-01", Devices: map[string]int{}, Attributes: map[string][]string{}}
	for _, driver := range []string{dranet, "gpu.nvidia.com"} {
		n.add(k, &resourcev1.ResourceSlice{Spec: resourcev1.ResourceSliceSpec{Driver: driver, NodeName: new("gpu-01"), Devices: []resourcev1.Device{
			{Attributes: map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{"b": {}, "a": {}}}, {},
		}}})
	}
	if n.Devices[dranet] != 2 || len(n.Devices) != 1 || strings.Join(n.Attributes[dranet], " ") != "a b" {
		t.Errorf("%+v", n)
	}
}
