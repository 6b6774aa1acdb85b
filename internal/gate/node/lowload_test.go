package node_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/gate/node"
	"github.com/firstlight/firstlight/internal/probe/nvidia"
	"github.com/firstlight/firstlight/internal/probe/ssh"
)

// lowLoadKinds are the kinds of a low-load watch.
var lowLoadKinds = []string{"nvidia-smi", "nvidia-smi-nvlink", "ibstat", "host", "nvidia-fabricmanager", "nvidia-smi-nvlink-errors", "dmesg"}

func lowLoadOnly(obs []check.Observation) []check.Observation {
	return slices.DeleteFunc(obs, func(o check.Observation) bool { return !slices.Contains(lowLoadKinds, o.Kind) })
}

// A watch judges what the gate judges, without its diagnostic, and names the kind that shows it.
func TestLowLoad(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		spoil func(h *hostSeen)
		want  []string
	}{
		"healthy":              {func(*hostSeen) {}, nil},
		"the diagnostic fails": {func(h *hostSeen) { h.result("pcie", 4, nvidia.DiagFail) }, nil},
		"a GPU is hot":         {func(h *hostSeen) { h.gpu(2, func(g *nvidia.GPU) { g.TemperatureC = new(95.0) }) }, []string{"gpu-02 nvidia-smi failed"}},
		"ECC errors":           {func(h *hostSeen) { h.gpu(2, func(g *nvidia.GPU) { g.Volatile.DRAMUncorrectable = new(int64(1)) }) }, []string{"gpu-02 nvidia-smi failed lasting"}},
		"a GPU is missing":     {func(h *hostSeen) { h.lose(3) }, []string{"gpu-02 nvidia-smi failed lasting"}},
		"a port is down":       {func(h *hostSeen) { h.HCAs.HCAs[1].Ports[0].State = "Down" }, []string{"gpu-02 ibstat failed"}},
		"an Xid": {func(h *hostSeen) {
			h.Kernel.Events = []nvidia.XidEvent{{Kind: nvidia.KindXid, Code: 79, PCI: strings.TrimSuffix(bus(1), ".0"), Count: 1, Text: "GPU has fallen off the bus."}}
		}, []string{"gpu-02 dmesg failed lasting"}},
		"an uncorrected error of a DIMM": {func(h *hostSeen) {
			h.Kernel.Hardware = []nvidia.XidEvent{{Kind: nvidia.KindMemory, Fatal: true, Count: 1, Text: "EDAC MC3: 1 UE"}}
		}, []string{"gpu-02 dmesg failed lasting"}},
		"another driver":                        {func(h *hostSeen) { h.Before.Log.Driver, h.Manager.Version = "570.1", "570.1" }, []string{"gpu-02 nvidia-smi failed"}},
		"clocks limited since the round before": {func(h *hostSeen) { h.Before.Log.GPUs[5].ClockCountersUS["hw_therm_slowdown"] += 1000 }, []string{"gpu-02 nvidia-smi failed"}},
		"packets repeated since the round before": {func(h *hostSeen) { h.CountedBefore.GPUs[2].Links[4].Counters["Replay Errors"] = 4 },
			[]string{"gpu-02 nvidia-smi-nvlink-errors failed"}},
		"counters were reset":     {func(h *hostSeen) { h.Before.Log.GPUs[5].ClockCountersUS["hw_therm_slowdown"] = 0 }, []string{"gpu-02 nvidia-smi unobserved"}},
		"ibstat cannot be read":   {func(h *hostSeen) { h.Broken["ibstat"] = true }, []string{"gpu-02 ibstat unobserved"}},
		"dmesg was not run":       {func(h *hostSeen) { h.Gone["dmesg"] = true }, []string{"gpu-02 dmesg unobserved not run"}},
		"nvidia-smi says nothing": {func(h *hostSeen) { h.Before.Log = nil }, []string{"gpu-02 nvidia-smi unobserved"}},
		"NVML fails": {func(h *hostSeen) {
			h.Before = smiSeen{Trouble: nvidia.SMIErrors{NVML: "Driver/library version mismatch"}}
			h.Broken["nvidia-smi-nvlink"], h.Broken["nvidia-smi-nvlink-errors"] = true, true
		}, []string{"gpu-02 nvidia-smi failed", "gpu-02 nvidia-smi-nvlink unobserved", "gpu-02 nvidia-smi-nvlink-errors unobserved"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := node.NewLowLoad(testSite(3), testProfile(t), node.Deps{})
			before := lowLoadOnly(observations(t, healthy(t, 3)))
			previous := l.Keep(nil, before)
			hosts := healthy(t, 3)
			tt.spoil(hosts[1])
			now := lowLoadOnly(observations(t, hosts))
			var got []string
			for _, f := range l.Judge(previous, now) {
				line := fmt.Sprintf("%s %s %s", f.Node, f.Kind, f.Verdict)
				if f.Lasting {
					line += " lasting"
				}
				if f.NotRun() {
					line += " not run"
				}
				if !slices.Contains(got, line) {
					got = append(got, line)
				}
				if f.Remedy == "" || f.Message == "" {
					t.Errorf("incomplete finding: %+v", f)
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff, l.Judge(previous, now))
			}
			if kept := l.Keep(previous, now); len(kept) != 9 {
				t.Errorf("%d observations kept, want three of each host", len(kept))
			}
		})
	}
}

// The kernel log of a node in use wraps: it must overlap that of the previous round, and errors that it
// has dropped stay.
func TestLowLoadOfAWrappedKernelLog(t *testing.T) {
	t.Parallel()
	lost := nvidia.XidEvent{Kind: nvidia.KindXid, Code: 79, PCI: strings.TrimSuffix(bus(1), ".0"), Count: 1, Text: "GPU has fallen off the bus."}
	wrapped := func(first, last string, events ...nvidia.XidEvent) nvidia.XidLog {
		return nvidia.XidLog{Lines: 100, First: first, Last: last, Events: events}
	}
	l := node.NewLowLoad(testSite(1), testProfile(t), node.Deps{})
	for name, tt := range map[string]struct {
		rounds []nvidia.XidLog
		want   string // the verdict of each round
	}{
		"the first round":      {[]nvidia.XidLog{wrapped("500.0", "900.0")}, "-"},
		"overlapping":          {[]nvidia.XidLog{wrapped("500.0", "900.0"), wrapped("800.0", "1000.0"), wrapped("900.0", "1200.0")}, "- - -"},
		"a gap":                {[]nvidia.XidLog{wrapped("500.0", "900.0"), wrapped("901.0", "1000.0"), wrapped("950.0", "1200.0")}, "- unobserved -"},
		"without seconds":      {[]nvidia.XidLog{wrapped("500.0", "900.0"), wrapped("", "")}, "- unobserved"},
		"an error is dropped":  {[]nvidia.XidLog{wrapped("500.0", "900.0", lost), wrapped("800.0", "1000.0"), wrapped("900.0", "1200.0")}, "failed failed failed"},
		"dropped, then a boot": {[]nvidia.XidLog{wrapped("500.0", "900.0", lost), wrapped("800.0", "1000.0"), {Lines: 100, FromBoot: true, First: "0.0", Last: "30.0"}}, "failed failed -"},
	} {
		var previous []check.Observation
		var got []string
		for _, log := range tt.rounds {
			hosts := healthy(t, 1)
			hosts[0].Kernel = log
			now := lowLoadOnly(observations(t, hosts))
			shows := "-"
			for _, f := range l.Judge(previous, now) {
				shows = string(f.Verdict)
				if f.Kind != "dmesg" || f.Remedy == "" {
					t.Errorf("%s: %+v", name, f)
				}
			}
			got = append(got, shows)
			previous = l.Keep(previous, now)
		}
		if text := strings.Join(got, " "); text != tt.want {
			t.Errorf("%s: %s, want %s", name, text, tt.want)
		}
	}
}

// The first round has no round before it; without any observation, nothing is fine.
func TestLowLoadWithoutObservations(t *testing.T) {
	t.Parallel()
	l := node.NewLowLoad(testSite(2), testProfile(t), node.Deps{})
	if got := l.Judge(nil, lowLoadOnly(observations(t, healthy(t, 2)))); len(got) > 0 {
		t.Errorf("the first round: %+v", got)
	}
	if got := l.Judge(nil, nil); len(got) != 2*len(lowLoadKinds) {
		t.Errorf("%d findings without an observation", len(got))
	}
	if diff := cmp.Diff(lowLoadKinds, l.Kinds()); diff != "" {
		t.Error(diff)
	}
}

// The watch runs no diagnostic, and nothing after a failed login.
func TestLowLoadObserves(t *testing.T) {
	t.Parallel()
	answers := outputs(t)
	var lines []string
	l := node.NewLowLoad(testSite(2), testProfile(t), node.Deps{Hosts: fakeHosts{run: func(_ context.Context, host, line string) (ssh.Output, error) {
		if host == "gpu-02" {
			return ssh.Output{}, fmt.Errorf("%w: no route", ssh.ErrUnreachable)
		}
		lines = append(lines, line)
		return answers[line], nil
	}}})
	rec := &recorder{}
	for _, host := range l.Nodes() {
		if err := l.Observe(t.Context(), rec, host); err != nil {
			t.Fatal(err)
		}
	}
	if got := strings.Join(lines, "\n"); strings.Contains(got, "dcgmi") || strings.Contains(got, "--query-gpu") || len(lines) < len(lowLoadKinds) {
		t.Errorf("commands:\n%s", got)
	}
	if got := rec.kindsOf("gpu-02"); !slices.Equal(got, []string{"nvidia-smi!"}) {
		t.Errorf("of a host that is unreachable: %v", got)
	}
}
