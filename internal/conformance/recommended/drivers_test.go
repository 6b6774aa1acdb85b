package recommended

import (
	"fmt"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/conformance/submission"
)

// driversFixture is the input of the check.
type driversFixture struct {
	devices []driverDevice
	nodes   []driverNode
	sets    []daemonSet
	// without are kinds that were not recorded, unreadable those of which only an error was.
	without, unreadable string
}

func healthyDrivers() driversFixture {
	s := driversFixture{sets: []daemonSet{{Name: "gpu-operator/nvidia-driver-daemonset", App: "nvidia-driver-daemonset", Does: "installs", Desired: 2, Ready: 2}}}
	for _, name := range []string{"gpu-01", "gpu-02"} {
		for i := range 2 {
			s.devices = append(s.devices, driverDevice{Node: name, Device: fmt.Sprintf("%s/gpu-%d", name, i), Driver: "580.105.8", CUDA: "13.0.0"})
		}
		s.nodes = append(s.nodes, driverNode{Node: name, Driver: "580.105.08", CUDA: "13.0"})
	}
	return s
}

func (s driversFixture) observations(t *testing.T) []check.Observation {
	t.Helper()
	var out []check.Observation
	for i, one := range []struct {
		kind    string
		figures any
	}{{kindDriverDevices, s.devices}, {kindDriverNodes, s.nodes}, {kindDriverOperands, s.sets}} {
		if one.kind == s.without {
			continue
		}
		o, err := check.Observation{ID: fmt.Sprint(i), Kind: one.kind, Target: "cluster"}.WithFigures(one.figures)
		if err != nil {
			t.Fatal(err)
		}
		if one.kind == s.unreadable {
			o.Err = "forbidden"
		}
		out = append(out, o)
	}
	return out
}

func TestJudgeDrivers(t *testing.T) {
	t.Parallel()
	c := &Drivers{nodes: []string{"gpu-01", "gpu-02"}}
	for name, tt := range map[string]struct {
		change func(*driversFixture)
		want   submission.Status
		says   string
	}{
		"all of it":                  {func(*driversFixture) {}, submission.Implemented, "driver 580.105.8 with CUDA 13.0.0 is an attribute of all 4 devices of 2 nodes"},
		"a device without a version": {func(s *driversFixture) { s.devices[3].Driver = "" }, submission.PartiallyImplemented, "gpu-02: a device has no attribute"},
		"a device without CUDA's":    {func(s *driversFixture) { s.devices[0].CUDA = "" }, submission.PartiallyImplemented, "gpu-01: a device has no attribute"},
		"a node without devices":     {func(s *driversFixture) { s.devices = s.devices[:2] }, submission.PartiallyImplemented, "gpu-02: driver gpu.nvidia.com publishes no device"},
		"two versions on a node":     {func(s *driversFixture) { s.devices[1].Driver = "570.1.1" }, submission.PartiallyImplemented, "gpu-01: its devices have several"},
		"two versions on two nodes": {func(s *driversFixture) {
			s.devices[2].Driver, s.devices[3].Driver, s.nodes[1].Driver = "570.1.1", "570.1.1", "570.1.1"
		}, submission.PartiallyImplemented, "they run different drivers"},
		"the label says another":                   {func(s *driversFixture) { s.nodes[1].Driver = "580.95.05" }, submission.PartiallyImplemented, "its driver is 580.105.8 by DRA and 580.95.05 by its label"},
		"no label":                                 {func(s *driversFixture) { s.nodes[0].Driver = "" }, submission.PartiallyImplemented, "gpu-01: it has no label"},
		"a node is missing":                        {func(s *driversFixture) { s.nodes = s.nodes[:1] }, submission.PartiallyImplemented, "gpu-02: node not found"},
		"nothing maintains it":                     {func(s *driversFixture) { s.sets = nil }, submission.PartiallyImplemented, "maintenance: no known DaemonSet"},
		"the maintaining program is not ready":     {func(s *driversFixture) { s.sets[0].Ready = 1 }, submission.PartiallyImplemented, "1 of 2 of its pods are ready"},
		"the maintaining program has no pod":       {func(s *driversFixture) { s.sets[0].Desired, s.sets[0].Ready = 0, 0 }, submission.PartiallyImplemented, "0 of 0 of its pods"},
		"labels alone":                             {func(s *driversFixture) { s.devices, s.sets = nil, nil }, submission.PartiallyImplemented, "give the driver of all 2 nodes"},
		"nothing of it":                            {func(s *driversFixture) { s.devices, s.sets, s.nodes[0].Driver, s.nodes[1].Driver = nil, nil, "", "" }, submission.NotImplemented, "publishes no device"},
		"slices were not driversFixture":           {func(s *driversFixture) { s.without = kindDriverDevices }, "", "was not observed"},
		"nodes were not driversFixture":            {func(s *driversFixture) { s.unreadable = kindDriverNodes }, "", "forbidden"},
		"the maintaining program was not observed": {func(s *driversFixture) { s.unreadable = kindDriverOperands }, "", "forbidden"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := healthyDrivers()
			tt.change(&s)
			j := c.Judge(s.observations(t))
			status, _ := submission.ShownBy(j.Verdict, j.Reason).Status()
			if status != tt.want || !strings.Contains(j.Reason, tt.says) {
				t.Errorf("%q: %s", status, j.Reason)
			}
		})
	}
	for _, j := range []check.Judgement{c.Judge(nil), (&Drivers{}).Judge(healthyDrivers().observations(t))} {
		if j.Verdict != check.Unobserved {
			t.Errorf("%s: %s", j.Verdict, j.Reason)
		}
	}
}

func TestNormalVersion(t *testing.T) {
	t.Parallel()
	for version, want := range map[string]string{"580.105.08": "580.105.8", "580.105.8": "580.105.8", "13.0": "13", "13.0.0": "13", "0": "0", "": "0"} {
		if got := normalVersion(version); got != want {
			t.Errorf("%s is %s, want %s", version, got, want)
		}
	}
}

func TestOperands(t *testing.T) {
	t.Parallel()
	known, err := operands()
	if err != nil || len(known) == 0 {
		t.Fatalf("%v, %v", known, err)
	}
	for _, o := range known {
		if o.App == "" || o.Does == "" || !strings.HasPrefix(o.Source, "https://") {
			t.Errorf("%+v", o)
		}
	}
}
