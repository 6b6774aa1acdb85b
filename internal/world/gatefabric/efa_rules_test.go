package gatefabric

import (
	"slices"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/checktest"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
)

// efaCounters changes the counters of an adapter of gpu-01 in the first (0) or the last (1) reading.
func efaCounters(t *testing.T, obs []check.Observation, reading int, change func(map[string]uint64)) []check.Observation {
	t.Helper()
	out := slices.Clone(obs)
	i := slices.IndexFunc(out, func(o check.Observation) bool { return o.Kind == "counters" && o.Target == "gpu-01" }) + reading
	figures := decoded[map[string]map[string]uint64](t, out[i])
	change(figures["rdmap154s0"])
	var err error
	if out[i], err = out[i].WithFigures(figures); err != nil {
		t.Fatal(err)
	}
	return out
}

// Counters that are missing, were reset, or were watched for less than the soak are unobserved.
func TestEFACountersUnobserved(t *testing.T) {
	t.Parallel()
	b := newEFABench(t, 2)
	obs := observeEFA(t, b)
	const first, last, adapter = 0, 1, "gpu-01/rdmap154s0" // readings of gpu-01, in the order of kinds
	without := func(c map[string]uint64) { delete(c, "rx_drops") }
	for name, tt := range map[string]struct {
		change        func(obs []check.Observation) []check.Observation
		suspect, says string
	}{
		"never read": {func(obs []check.Observation) []check.Observation { return slices.Delete(obs, first, last+1) }, "gpu-01", "were read 0 times"},
		"read once":  {func(obs []check.Observation) []check.Observation { return slices.Delete(obs, first, last) }, "gpu-01", "were read 1 times"},
		"too early": {func(obs []check.Observation) []check.Observation {
			obs[last].At = obs[last].At.Add(-1)
			return obs
		}, "gpu-01", "the site requires 10m0s"},
		"the first reading is an error": {func(obs []check.Observation) []check.Observation {
			obs[first].Figures, obs[first].Err = nil, "no section"
			return obs
		}, "gpu-01", "no section"},
		"the last reading is an error": {func(obs []check.Observation) []check.Observation {
			obs[last].Figures, obs[last].Err = nil, "no section"
			return obs
		}, "gpu-01", "no section"},
		"missing before": {func(obs []check.Observation) []check.Observation { return efaCounters(t, obs, first, without) }, adapter, "does not count rx_drops"},
		"missing after":  {func(obs []check.Observation) []check.Observation { return efaCounters(t, obs, last, without) }, adapter, "does not count rx_drops"},
		"missing": {func(obs []check.Observation) []check.Observation {
			return efaCounters(t, efaCounters(t, obs, first, without), last, without)
		}, adapter, "does not count rx_drops"},
		"reset": {func(obs []check.Observation) []check.Observation {
			return efaCounters(t, obs, last, func(c map[string]uint64) { c["rx_drops"]-- })
		}, adapter, "it was reset during the soak"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j := judgeEFA(b)(tt.change(slices.Clone(obs)))
			checktest.Judged(t, j, check.Unobserved, tt.suspect, tt.says)
			if len(j.Findings) != 1 {
				t.Errorf("one cause, one finding: %+v", j.Findings)
			}
		})
	}
}

// Drivers before 2.17.0 (amzn-drivers, kernel/linux/efa/rpm/efa.spec) have no counters of the network: a
// healthy fabric passes with a note. If other adapters have a counter, a missing one is unobserved.
func TestEFADriverWithoutNetworkCounters(t *testing.T) {
	t.Parallel()
	b := newEFABench(t, 2)
	obs := observeEFA(t, b)
	older := slices.Clone(obs)
	for i, o := range older {
		if o.Kind != "counters" {
			continue
		}
		figures := decoded[map[string]map[string]uint64](t, o)
		for _, counters := range figures {
			for _, name := range []string{"retrans_bytes", "retrans_pkts", "retrans_timeout_events", "unresponsive_remote_events", "impaired_remote_conn_events"} {
				delete(counters, name)
			}
		}
		older[i] = figuresOf(t, o, figures)
	}
	j := judgeEFA(b)(older)
	const says = "no adapter counts impaired_remote_conn_events, retrans_timeout_events, unresponsive_remote_events"
	if j.Verdict != check.Passed || len(j.Findings) != 1 || !strings.Contains(j.Findings[0].Message, says) {
		t.Errorf("%s: %s %+v", j.Verdict, j.Reason, j.Findings)
	}
	checktest.Judged(t, judgeEFA(b)(efaCounters(t, older, 1, func(c map[string]uint64) { c["rx_drops"] += 101 })), check.Failed, "gpu-01/rdmap154s0", "rx_drops")
	without := func(c map[string]uint64) { delete(c, "retrans_timeout_events") }
	checktest.Judged(t, judgeEFA(b)(efaCounters(t, efaCounters(t, obs, 0, without), 1, without)), check.Unobserved, "gpu-01/rdmap154s0", "does not count retrans_timeout_events")
}

// figure requires a figure of a judgement.
func figure(t *testing.T, j check.Judgement, name string, value, limit float64, relation string) {
	t.Helper()
	if !slices.ContainsFunc(j.Figures, func(f check.Figure) bool {
		return f.Name == name && f.Value == value && f.Limit == limit && f.Relation == relation
	}) {
		t.Errorf("no figure %s: %g %s %g: %+v", name, value, relation, limit, j.Figures)
	}
}

// Figures count what is healthy, and their limits are the site's and the profile's numbers.
func TestEFAFigures(t *testing.T) {
	t.Parallel()
	b := newEFABench(t, 2)
	obs := observeEFA(t, b)
	j := judgeEFA(b)(obs)
	figure(t, j, "adapters active", 32, 32, "==")
	figure(t, j, "adapters watched", 32, 32, "==")
	figure(t, j, "largest increase beyond a limit", 0, 0, "<=")
	figure(t, judgeEFA(b)(efaCounters(t, obs, 1, func(c map[string]uint64) { c["rx_drops"] += 150 })), "largest increase beyond a limit", 150, 0, "<=")
	checktest.Rules(t, func(obs []check.Observation) check.Judgement {
		j := judgeEFA(b)(obs)
		figure(t, j, "adapters active", 30, 32, "==")
		return j
	}, obs, []checktest.Rule{
		checktest.When("two adapters are down", checktest.Set("rdma devices@gpu-02", `[0].state`, "DOWN"), checktest.Set("rdma devices@gpu-02", `[last].state`, "DOWN")).Fails("gpu-02/rdmap154s0", "is DOWN"),
	})
}

// A cause that two observations show has one finding for its suspect.
func TestEFACausesHaveOneFinding(t *testing.T) {
	t.Parallel()
	b := newEFABench(t, 2)
	obs := efaCounters(t, observeEFA(t, b), 1, func(c map[string]uint64) { c["rx_drops"] += 101; c["rdma_read_wr_err"]++ })
	if j := judgeEFA(b)(obs); j.Verdict != check.Failed || len(j.Findings) != 1 {
		t.Errorf("%s: %+v", j.Verdict, j.Findings)
	}
}

// Hosts have one set of versions of libfabric's provider, in any order of its entries.
func TestEFAVersionsInAnyOrder(t *testing.T) {
	t.Parallel()
	b := newEFABench(t, 3)
	obs := observeEFA(t, b)
	checktest.Rules(t, judgeEFA(b), obs, []checktest.Rule{
		checktest.When("two versions on every host", checktest.Set("fi_info", `[0].version`, "9.0"), checktest.Set("fi_info@gpu-02", `[0].version`, obsVersion(t, obs)), checktest.Set("fi_info@gpu-02", `[last].version`, "9.0")).Passes(),
	})
	// without the devices, the endpoints of a host are not compared with them
	left := slices.DeleteFunc(slices.Clone(obs), func(o check.Observation) bool { return o.Kind == "rdma devices" && o.Target == "gpu-01" })
	j := judgeEFA(b)(left)
	checktest.Judged(t, j, check.Unobserved, "gpu-01", "was not observed")
}

func obsVersion(t *testing.T, obs []check.Observation) string {
	t.Helper()
	i := slices.IndexFunc(obs, func(o check.Observation) bool { return o.Kind == "fi_info" })
	return decoded[[]struct{ Version string }](t, obs[i])[0].Version
}

// A site or profile that demands nothing does not pass.
func TestNothingDemandedOfEFA(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*bench){
		"no hosts":    func(b *bench) { b.site.Inventory.Nodes = nil },
		"no adapters": func(b *bench) { b.profile.Node.HCAs.Value = 0 },
		"no limits":   func(b *bench) { b.profile.Fabric.CounterLimits = nil },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newEFABench(t, 2)
			obs := observeEFA(t, b)
			change(b)
			checktest.Judged(t, judgeEFA(b)(obs), check.Unobserved, "site fabric", "the site declares no hosts, or profile h200-sxm-efa-p5en no adapters or limits")
		})
	}
}

// One host with one adapter and one limit is enough to be judged.
func TestTheLeastThatIsDemandedOfEFA(t *testing.T) {
	t.Parallel()
	b := newEFABench(t, 2)
	obs := slices.DeleteFunc(observeEFA(t, b), func(o check.Observation) bool { return o.Target != "gpu-01" })
	b.site.Inventory.Nodes = []site.Node{{Name: "gpu-01"}}
	b.profile.Node.HCAs.Value = 1
	b.profile.Fabric.CounterLimits = map[string]profile.Figure{"rx_drops": b.profile.Fabric.CounterLimits["rx_drops"]}
	for i := range obs {
		switch obs[i].Kind {
		case "rdma devices":
			obs[i] = figuresOf(t, obs[i], decoded[[]map[string]any](t, obs[i])[:1])
		case "counters":
			obs[i] = figuresOf(t, obs[i], map[string]any{"rdmap154s0": decoded[map[string]any](t, obs[i])["rdmap154s0"]})
		}
	}
	checktest.Judged(t, judgeEFA(b)(obs), check.Passed, "", "")
}

func figuresOf(t *testing.T, o check.Observation, figures any) check.Observation {
	t.Helper()
	o, err := o.WithFigures(figures)
	if err != nil {
		t.Fatal(err)
	}
	return o
}
