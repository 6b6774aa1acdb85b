package watch

import (
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/drift"
	"github.com/firstlight/firstlight/internal/gate/node"
)

func machine() node.Machine {
	return node.Machine{
		Host: "gpu-01", Driver: "580.105.08",
		GPUs: []node.Card{{BusID: "1b", Product: "H100", UUID: "GPU-1", VBIOS: "96.00"}, {BusID: "1c", Product: "H100", UUID: "GPU-2", VBIOS: "96.00"}},
		HCAs: []node.Adapter{{Name: "mlx5_0", Type: "MT4129", GUID: "0x1", Firmware: "28.39.1002"}},
	}
}

// A version that differs from the accepted run is changed; without a version the check is unobserved.
func TestVersions(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		change func(m *node.Machine)
		want   State
		says   string
	}{
		"as accepted":          {func(*node.Machine) {}, OK, ""},
		"driver":               {func(m *node.Machine) { m.Driver = "590.44.01" }, Changed, "driver is 590.44.01, expected 580.105.08, as in run R"},
		"VBIOS of one GPU":     {func(m *node.Machine) { m.GPUs[1].VBIOS = "97.00" }, Changed, "VBIOS of H100 is 96.00 and 97.00, expected 96.00"},
		"firmware":             {func(m *node.Machine) { m.HCAs[0].Firmware = "28.43.2026" }, Changed, "firmware of MT4129 is 28.43.2026"},
		"another adapter":      {func(m *node.Machine) { m.HCAs[0].Type = "MT4131" }, Changed, "has no firmware of MT4129"},
		"a replaced GPU":       {func(m *node.Machine) { m.GPUs[1].UUID = "GPU-3" }, Changed, "GPU at 1c is GPU-3, expected GPU-2"},
		"a replaced adapter":   {func(m *node.Machine) { m.HCAs[0].GUID = "0x2" }, Changed, "adapter mlx5_0 is 0x2, expected 0x1"},
		"adapter, no GUID":     {func(m *node.Machine) { m.HCAs[0].GUID = "" }, OK, ""},
		"a GPU is missing":     {func(m *node.Machine) { m.GPUs = m.GPUs[:1] }, OK, ""}, // the gate fails
		"nothing was read":     {func(m *node.Machine) { *m = node.Machine{} }, Unobserved, "not observed"},
		"ibstat was not read":  {func(m *node.Machine) { m.HCAs = nil }, Unobserved, "not observed"},
		"driver, and no HCAs":  {func(m *node.Machine) { m.Driver, m.HCAs = "590.44.01", nil }, Changed, "driver is 590.44.01"},
		"driver without cards": {func(m *node.Machine) { m.GPUs = nil }, Unobserved, "not observed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			is := machine()
			tt.change(&is)
			r := compareMachine("R", machine(), is, []string{"gpu-01/nvidia-smi"})
			if r.State != tt.want || r.Node != "gpu-01" || r.Lasting != (tt.want == Changed) {
				t.Fatalf("%+v", r)
			}
			if tt.want != OK && (len(r.Findings) != 1 || !strings.Contains(r.Findings[0].Message, tt.says)) {
				t.Errorf("%+v", r.Findings)
			}
		})
	}
}

func TestDeclared(t *testing.T) {
	t.Parallel()
	then := func() drift.Stack {
		return drift.Stack{drift.Profile: {"p sha256:aa"}, "image of collective": {"r/nccl@sha256:aa"}, "image of training": {"r/train:1"}}
	}
	for name, tt := range map[string]struct {
		change  func(s drift.Stack)
		changed bool
	}{
		"as accepted":   {func(drift.Stack) {}, false},
		"another image": {func(s drift.Stack) { s["image of collective"] = []string{"r/nccl@sha256:bb"} }, true},
		"no image":      {func(s drift.Stack) { delete(s, "image of training") }, true},
		"profile":       {func(s drift.Stack) { s[drift.Profile] = []string{"p sha256:bb"} }, true},
		"both":          {func(s drift.Stack) { s[drift.Profile], s["image of training"] = nil, nil }, true},
	} {
		now := then()
		tt.change(now)
		tracker := NewTracker(Rules{Confirm: 2, FlapFailures: 3, FlapWindow: 12})
		got := tracker.Observe(noon, []Reading{compareDeclared("R", then(), now)})
		if (len(got) == 1) != tt.changed || len(got) == 1 && (got[0].To != Changed || got[0].Node != Cluster) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// A check of a host that did not answer has one reason, and no check of it is ok.
func TestReadings(t *testing.T) {
	t.Parallel()
	kinds := []string{"nvidia-smi", "ibstat", "dmesg"}
	finding := func(n, kind, message string, v check.Verdict) node.HostFinding {
		return node.HostFinding{Node: n, Kind: kind, Verdict: v, Finding: check.Finding{Suspect: n, Message: message}}
	}
	notRun := func(kind string) node.HostFinding {
		return finding("gpu-01", kind, "was not observed: "+kind+" was not run", check.Unobserved)
	}
	for name, tt := range map[string]struct {
		findings []node.HostFinding
		missed   map[string]string
		want     string
	}{
		"healthy":              {nil, nil, "ok ok ok ok"},
		"unreachable":          {[]node.HostFinding{finding("gpu-01", "nvidia-smi", "no route", check.Unobserved), notRun("ibstat"), notRun("dmesg")}, nil, "unobserved(no route) unobserved() unobserved() ok"},
		"hanging in ibstat":    {[]node.HostFinding{finding("gpu-01", "ibstat", "deadline", check.Unobserved), notRun("dmesg")}, map[string]string{"gpu-01": "late"}, "ok unobserved(deadline) unobserved(was not observed: late) ok"},
		"hanging in the login": {[]node.HostFinding{notRun("nvidia-smi"), notRun("ibstat"), notRun("dmesg")}, map[string]string{"gpu-01": "late"}, "unobserved(was not observed: late) unobserved(was not observed: late) unobserved(was not observed: late) ok"},
		"not run, no reason":   {[]node.HostFinding{notRun("dmesg")}, nil, "ok ok unobserved(was not observed: dmesg was not run) ok"},
		"failed and unknown":   {[]node.HostFinding{finding("gpu-01", "dmesg", "unknown", check.Unobserved), finding("gpu-01", "dmesg", "xid", check.Failed), finding("gpu-01", "dmesg", "unknown", check.Unobserved)}, nil, "ok ok failed(xid) ok"},
		"of no node":           {[]node.HostFinding{finding("leaf-1", "dmesg", "odd", check.Failed)}, nil, "ok ok ok failed(odd)"},
	} {
		var got []string
		for _, r := range readings([]string{"gpu-01"}, kinds, tt.findings, tt.missed) {
			text := string(r.State)
			if r.State != OK {
				var messages []string
				for _, f := range r.Findings {
					messages = append(messages, f.Message)
				}
				text += "(" + strings.Join(messages, ", ") + ")"
			}
			got = append(got, text)
		}
		if text := strings.Join(got, " "); text != tt.want {
			t.Errorf("%s: %s, want %s", name, text, tt.want)
		}
	}
}
