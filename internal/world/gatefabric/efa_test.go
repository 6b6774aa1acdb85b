package gatefabric

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	testingclock "k8s.io/utils/clock/testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/checktest"
	"github.com/firstlight/firstlight/internal/gate/fabric/efa"
	"github.com/firstlight/firstlight/internal/gate/onhost"
	"github.com/firstlight/firstlight/internal/plan"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
	"github.com/firstlight/firstlight/internal/suite"
	"github.com/firstlight/firstlight/internal/world"
)

// newEFABench is a world of p5en.48xlarge.
func newEFABench(t *testing.T, nodes int) *bench {
	t.Helper()
	const hardware = "h200-sxm-efa-p5en"
	spec, err := world.SpecOf(hardware, nodes)
	if err != nil {
		t.Fatal(err)
	}
	clock := testingclock.NewFakePassiveClock(time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC))
	w, err := world.New(spec, world.WithClock(clock.Now))
	if err != nil {
		t.Fatal(err)
	}
	p, err := profile.Load(hardware)
	if err != nil {
		t.Fatal(err)
	}
	s := &site.Site{Reach: site.Reach{SSH: site.SSH{Concurrency: 4}}, Fabric: site.Fabric{Soak: site.Duration(soak)}}
	for _, n := range spec.GPUNodes {
		s.Inventory.Nodes = append(s.Inventory.Nodes, site.Node{Name: n.Name})
	}
	return &bench{w, clock, s, p}
}

// observeEFA returns the observations of the gate in one order.
func observeEFA(t *testing.T, b *bench) []check.Observation {
	t.Helper()
	var rec book
	g := efa.New(b.site, b.profile, onhost.Deps{Hosts: b, Clock: b.clock, Wait: func(ctx context.Context, d time.Duration) error {
		b.clock.SetTime(b.clock.Now().Add(d))
		return ctx.Err()
	}})
	if err := g.Observe(t.Context(), &rec); err != nil {
		t.Fatal(err)
	}
	return ordered(rec.obs)
}

func judgeEFA(b *bench) func([]check.Observation) check.Judgement {
	return func(obs []check.Observation) check.Judgement {
		return plan.Judge(efa.New(b.site, b.profile, onhost.Deps{}), obs)
	}
}

func TestHealthyEFAPasses(t *testing.T) {
	t.Parallel()
	b := newEFABench(t, 3)
	j := judgeEFA(b)(observeEFA(t, b))
	const want = "48 EFA adapters active, each with an endpoint of FI_PROTO_EFA, one driver and one libfabric, counters within their limits over 10m0s"
	if j.Verdict != check.Passed || len(j.Findings) > 0 || j.Reason != want {
		t.Fatalf("%s: %s %+v", j.Verdict, j.Reason, j.Findings)
	}
	for _, c := range efa.New(b.site, b.profile, onhost.Deps{}).HostCommands() {
		out, err := b.Run(t.Context(), "gpu-01", c.Tried()...)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Read(out); err != nil {
			t.Errorf("preflight of %v: %v", c.Programs(), err)
		}
	}
}

// TestEveryEFAFault: each fault of EFA fails the gate, and a finding names the suspect.
func TestEveryEFAFault(t *testing.T) {
	t.Parallel()
	for _, k := range world.Catalogue() {
		if k.Fabric != world.EFA {
			continue
		}
		t.Run(k.Kind, func(t *testing.T) {
			t.Parallel()
			suite.RequireFault(t, "internal/world/gatefabric TestEveryEFAFault", k.Kind)
			b := newEFABench(t, 3)
			f, err := b.AddFault(world.Fault{Kind: k.Kind})
			if err != nil {
				t.Fatal(err)
			}
			suspect, err := b.SuspectPattern(f)
			if err != nil {
				t.Fatal(err)
			}
			j := judgeEFA(b)(observeEFA(t, b))
			if j.Verdict != check.Failed || !slices.ContainsFunc(j.Findings, func(f check.Finding) bool { return suspect.MatchString(f.Suspect) }) {
				t.Errorf("%s: %s %+v; want a suspect like %s", j.Verdict, j.Reason, j.Findings, suspect)
			}
		})
	}
}

// TestEFARules covers the requirements on EFA, one field at a time.
func TestEFARules(t *testing.T) {
	t.Parallel()
	b := newEFABench(t, 3)
	obs := observeEFA(t, b)
	const devices, driver, endpoints = "rdma devices@gpu-01", "efa driver@gpu-01", "fi_info@gpu-01"
	const first = "gpu-01/rdmap154s0" // in the order of names
	checktest.Rules(t, judgeEFA(b), obs, []checktest.Rule{
		checktest.When("an adapter too many", checktest.Set(devices, `[0]`, checktest.Twice)).Fails("gpu-01", "17 EFA adapters, the instance type has 16"),
		checktest.When("an adapter is down", checktest.Set(devices, `[0].state`, "DOWN")).Fails(first, "is DOWN"),
		checktest.When("an adapter shows its state", checktest.Set(devices, `[0].state`, "")).Unobserved(first, "shows no state"),
		checktest.When("an adapter is missing", checktest.Set(devices, `[last]`, checktest.LeftOut)).Fails("gpu-01", "15 EFA adapters, the instance type has 16"),
		checktest.When("no adapter is active", checktest.Set("rdma devices", `[*].state`, "INIT")).Fails("gpu-03/rdmap80s0", "is INIT, want ACTIVE"),
		checktest.When("all hosts have a libfabric of their own", checktest.Set(endpoints, `[*].version`, "119.0"), checktest.Set("fi_info@gpu-02", `[*].version`, "120.0")).Fails("fabric", "no value has a majority"),
		checktest.When("two libfabrics on a host", checktest.Set(endpoints, `[0].version`, "119.0")).Fails("gpu-01", "in version 119.0, "),
		checktest.When("endpoints of another provider do not count", checktest.Set(endpoints, `[last].provider`, "tcp")).Passes(),
		checktest.When("one driver", checktest.Set(driver, `.version`, "1.0")).Fails("gpu-01", "EFA driver 1.0"),
		checktest.When("libfabric finds each adapter", checktest.Set(endpoints, `[*].domain`, "rdmap155s0-rdm")).Fails(first, "no endpoint"),
		checktest.When("the provider is efa", checktest.Set(endpoints, `[*].provider`, "tcp")).Fails(first, "no endpoint"),
		checktest.When("the protocol is EFA's own", checktest.Set(endpoints, `[*].protocol`, "FI_PROTO_RXD")).Fails(first, "no endpoint"),
		checktest.When("datagrams are reliable", checktest.Set(endpoints, `[*].type`, "FI_EP_DGRAM")).Fails(first, "no endpoint"),
		checktest.When("one libfabric", checktest.Set(endpoints, `[*].version`, "119.0")).Fails("gpu-01", "in version 119.0"),
	})
	for name, tt := range map[string]struct {
		counter string
		by      uint64
		verdict check.Verdict
	}{
		"drops up to a limit": {"rx_drops", 100, check.Passed}, "drops": {"rx_drops", 101, check.Failed}, "failed reads": {"rdma_read_wr_err", 1, check.Failed},
		"failed writes": {"rdma_write_wr_err", 1, check.Failed}, "timeouts up to a limit": {"retrans_timeout_events", 100, check.Passed}, "timeouts": {"retrans_timeout_events", 101, check.Failed},
		"an unresponsive remote": {"unresponsive_remote_events", 1, check.Failed}, "an impaired connection": {"impaired_remote_conn_events", 1, check.Failed},
		"packets sent again": {"retrans_pkts", 5799, check.Passed}, "bytes": {"tx_bytes", 1 << 40, check.Passed},
	} {
		changed := slices.Clone(obs)
		last := slices.IndexFunc(obs, func(o check.Observation) bool { return o.Kind == "counters" && o.Target == "gpu-01" }) + 1
		figures := decoded[map[string]map[string]uint64](t, obs[last])
		figures["rdmap154s0"][tt.counter] += tt.by
		var err error
		if changed[last], err = obs[last].WithFigures(figures); err != nil {
			t.Fatal(err)
		}
		if j := judgeEFA(b)(changed); j.Verdict != tt.verdict || tt.verdict == check.Failed && j.Findings[0].Suspect != first {
			t.Errorf("%s: %s %+v", name, j.Verdict, j.Findings)
		}
	}
	for name, change := range map[string]func([]check.Observation) []check.Observation{
		"nothing": func([]check.Observation) []check.Observation { return nil },
		"a host less": func(obs []check.Observation) []check.Observation {
			return slices.DeleteFunc(obs, func(o check.Observation) bool { return o.Target == "gpu-02" })
		},
		"counters once": func(obs []check.Observation) []check.Observation { return slices.Delete(obs, 0, 1) },
		"no driver": func(obs []check.Observation) []check.Observation {
			return slices.DeleteFunc(obs, func(o check.Observation) bool { return o.Kind == "efa driver" })
		},
		"no fi_info": func(obs []check.Observation) []check.Observation {
			return slices.DeleteFunc(obs, func(o check.Observation) bool { return o.Kind == "fi_info" })
		},
		"a counter missing": func(obs []check.Observation) []check.Observation {
			obs[1].Figures = []byte(strings.ReplaceAll(string(obs[1].Figures), `"rx_drops"`, `"x"`))
			return obs
		},
		"a counter reset": func(obs []check.Observation) []check.Observation {
			obs[1].Figures = []byte(strings.ReplaceAll(string(obs[1].Figures), `"rx_drops":2`, `"rx_drops":1`))
			return obs
		},
		"a soak cut short": func(obs []check.Observation) []check.Observation {
			obs[1].At = obs[1].At.Add(-1)
			return obs
		},
	} {
		if j := judgeEFA(b)(change(slices.Clone(obs))); j.Verdict != check.Unobserved {
			t.Errorf("%s: %s %+v", name, j.Verdict, j.Findings)
		}
	}
}
