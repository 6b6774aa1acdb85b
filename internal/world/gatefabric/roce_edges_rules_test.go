package gatefabric

import (
	"slices"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/checktest"
	"github.com/firstlight/firstlight/internal/gate/fabric/roce"
	"github.com/firstlight/firstlight/internal/gate/onhost"
	"github.com/firstlight/firstlight/internal/site"
)

// counted changes the counters of gpu-01/mlx5_0 in the first (0) or the last (1) reading.
func counted(t *testing.T, obs []check.Observation, reading int, change func(map[string]uint64)) []check.Observation {
	t.Helper()
	out := slices.Clone(obs)
	i := slices.IndexFunc(out, func(o check.Observation) bool { return o.Kind == "counters" && o.Target == "gpu-01" }) + reading
	figures := decoded[map[string]map[string]uint64](t, out[i])
	change(figures["mlx5_0"])
	out[i] = figuresOf(t, out[i], figures)
	return out
}

// Rules about a port that is not the first, and about ports of which something else is wrong: one defect, one finding.
func TestRulesOfOnePort(t *testing.T) {
	t.Parallel()
	b := newBench(t, 2)
	obs := healthy(t, b)
	const devices, verbs, qos = "rdma devices@gpu-01", "ibv_devinfo@gpu-01", "qos@gpu-01"
	checktest.Rules(t, b.judge, obs, []checktest.Rule{
		checktest.When("each port has its own RDMA MTU", checktest.Set(verbs, `[3].ports[0].activeMTU`, 1024)).Fails("gpu-01/mlx5_3", "active RDMA MTU of 1024"),
		checktest.When("an MTU of one byte is an MTU", checktest.Set(verbs, `[0].ports[0].activeMTU`, 1)).Fails("gpu-01/mlx5_0", "active RDMA MTU of 1,"),
		checktest.When("another port of the adapter says nothing", checktest.Set(verbs, `[0].ports[0].number`, 2)).Unobserved("gpu-01/mlx5_0", "no active port 1"),
		checktest.When("a port shows its physical state", checktest.Set(devices, `[0].physical`, "")).Unobserved("gpu-01/mlx5_0", "shows no state, physical state"),
		checktest.When("a rate of 1 Gb/s is a rate", checktest.Set(devices, `[0].rateGbps`, 1)).Fails("gpu-01/mlx5_0", "runs at 1 Gb/s"),
		checktest.When("a network device with an MTU of one byte has one", checktest.Set("ip addr@gpu-01", `[1].mtu`, 1)).Fails("gpu-01/mlx5_0", "has an MTU of 1,"),
		checktest.When("a VLAN in the GID table is not one of several network devices", checktest.Set(devices, `[0].netdevs`, []string{"enp24s0np0", "enp24s0np0r0"}), checktest.Set(devices, `[0].gids[3].netdev`, "vlan100")).Passes(),
		checktest.When("one network device needs no GID table to name it", checktest.Set(devices, `[0].gids[*].netdev`, "")).Passes(),
		checktest.When("the GID table names two of several", checktest.Set(devices, `[0].netdevs`, []string{"enp24s0np0", "enp24s0np0r0"}), checktest.Set(devices, `[0].gids[3].netdev`, "enp24s0np0r0")).Unobserved("gpu-01/mlx5_0", "names none or several"),
		checktest.When("whether notifications are sent is known", checktest.Set(devices, `[0].notifies`, checktest.LeftOut)).Unobserved("gpu-01/mlx5_0", "does not show whether ECN is enabled"),
		checktest.When("PFC is off", checktest.Set(qos, `.mlx5_0.pfc[*]`, false)).Fails("gpu-01/mlx5_0", "it is on no priority"),
	})
	for name, tt := range map[string]struct {
		rule     checktest.Rule
		findings int
	}{
		"a port without a network device": {checktest.When("", checktest.Set(devices, `[0].netdevs`, checktest.LeftOut)).Unobserved("gpu-01/mlx5_0", "0 network devices"), 1},
		"a port that is down": {checktest.When("", checktest.Set(devices, `[0].state`, "DOWN"), checktest.Set(devices, `[0].physical`, "Disabled"),
			checktest.Set(verbs, `[0].ports[0].state`, "PORT_DOWN")).Fails("gpu-01/mlx5_0", "DOWN / Disabled"), 1},
		"a port with two defects": {checktest.When("", checktest.Set(devices, `[0].state`, "DOWN"), checktest.Set(qos, `.mlx5_0.trust`, "pcp")).Fails("gpu-01/mlx5_0", "DOWN / LinkUp"), 1},
	} {
		checktest.Rules(t, func(obs []check.Observation) check.Judgement {
			j := b.judge(obs)
			if j.Verdict != check.Passed && (len(j.Findings) != tt.findings || strings.Contains(j.Findings[0].Message, "ibv_devinfo shows no active port") || strings.Contains(j.Findings[0].Message, "shows no MTU")) {
				t.Errorf("%s: %+v", name, j.Findings)
			}
			return j
		}, obs, []checktest.Rule{tt.rule})
	}
}

// A host without one of its observations is one finding, and its ports are not judged by it.
func TestAHostWithoutAnObservation(t *testing.T) {
	t.Parallel()
	b := newBench(t, 2)
	obs := healthy(t, b)
	for _, kind := range []string{"rdma devices", "ip addr", "ibv_devinfo", "qos", "counters"} {
		without := slices.DeleteFunc(slices.Clone(obs), func(o check.Observation) bool { return o.Kind == kind && o.Target == "gpu-01" })
		j := b.judge(without)
		checktest.Judged(t, j, check.Unobserved, "gpu-01", "")
		if len(j.Findings) != 1 {
			t.Errorf("without %s: %+v", kind, j.Findings)
		}
	}
	// A host without network devices is not asked for their QoS.
	bare := slices.DeleteFunc(slices.Clone(obs), func(o check.Observation) bool {
		return o.Target == "gpu-01" && (o.Kind == "qos" || o.Kind == "counters")
	})
	i := slices.IndexFunc(bare, func(o check.Observation) bool { return o.Kind == "rdma devices" && o.Target == "gpu-01" })
	list := decoded[[]map[string]any](t, bare[i])
	for _, d := range list {
		delete(d, "netdevs")
	}
	bare[i] = figuresOf(t, bare[i], list)
	j := b.judge(bare)
	checktest.Judged(t, j, check.Unobserved, "gpu-01/mlx5_0", "0 network devices")
	if len(j.Findings) != len(list) {
		t.Errorf("%d findings of %d ports: %+v", len(j.Findings), len(list), j.Findings)
	}
	figure(t, j, "ports with PFC on priority 3", 8, 16, "==")
	figure(t, j, "ports watched", 8, 16, "==")
}

// Each figure counts the ports that meet its rule.
func TestFiguresOfPorts(t *testing.T) {
	t.Parallel()
	b := newBench(t, 2)
	obs := healthy(t, b)
	for name, change := range map[string]checktest.Change{
		"ports with PFC on priority 3": checktest.Set("qos@gpu-01", `.mlx5_0.pfc[3]`, false),
		"ports with ECN on priority 3": checktest.Set("rdma devices@gpu-01", `[0].reacts["3"]`, false),
		"ports active at rate":         checktest.Set("rdma devices@gpu-01", `[0].rateGbps`, 200),
	} {
		figure(t, b.judge(obs), name, 16, 16, "==")
		checktest.Rules(t, func(obs []check.Observation) check.Judgement {
			j := b.judge(obs)
			if j.Verdict == check.Failed {
				figure(t, j, name, 15, 16, "==")
			}
			return j
		}, obs, []checktest.Rule{checktest.When(name, change).Fails("gpu-01/mlx5_0", "")})
	}
	unnamed := slices.Clone(obs)
	i := slices.IndexFunc(obs, func(o check.Observation) bool { return o.Kind == "rdma devices" && o.Target == "gpu-01" })
	list := decoded[[]map[string]any](t, obs[i])
	delete(list[0], "netdevs")
	unnamed[i] = figuresOf(t, obs[i], list)
	j := b.judge(unnamed)
	figure(t, j, "ports watched", 15, 16, "==")
	figure(t, j, "ports with PFC on priority 3", 15, 16, "==")
}

// Of what the site's fabric does not use, nothing is demanded; of the rest, everything is.
func TestWithoutOneMechanism(t *testing.T) {
	t.Parallel()
	grow := func(name string, by uint64) func(t *testing.T, obs []check.Observation) []check.Observation {
		return func(t *testing.T, obs []check.Observation) []check.Observation {
			t.Helper()
			return counted(t, obs, 1, func(c map[string]uint64) { c[name] += by })
		}
	}
	qos := func(change func(map[string]any)) func(t *testing.T, obs []check.Observation) []check.Observation {
		return func(t *testing.T, obs []check.Observation) []check.Observation {
			t.Helper()
			out := slices.Clone(obs)
			i := slices.IndexFunc(out, func(o check.Observation) bool { return o.Kind == "qos" && o.Target == "gpu-01" })
			ports := decoded[map[string]map[string]any](t, out[i])
			change(ports["mlx5_0"])
			out[i] = figuresOf(t, out[i], ports)
			return out
		}
	}
	for name, tt := range map[string]struct {
		site    site.RoCE
		change  func(t *testing.T, obs []check.Observation) []check.Observation
		verdict check.Verdict
		says    string
		reason  string // of a pass
	}{
		"without ECN, drops count":            {site.RoCE{Priority: new(3), DSCP: new(26), Without: []string{site.WithoutECN}}, grow("out_of_sequence", 101), check.Failed, "out_of_sequence", ""},
		"without ECN, ignored CNPs do not":    {site.RoCE{Priority: new(3), DSCP: new(26), Without: []string{site.WithoutECN}}, grow("rp_cnp_ignored", 5), check.Passed, "", "PFC on priority 3, "},
		"without PFC, the DSCP is demanded":   {site.RoCE{Priority: new(3), DSCP: new(26), Without: []string{site.WithoutPFC}}, qos(func(q map[string]any) { q["trust"] = "pcp" }), check.Failed, "from their pcp", ""},
		"without PFC, PFC may be off":         {site.RoCE{Priority: new(3), DSCP: new(26), Without: []string{site.WithoutPFC}}, qos(func(q map[string]any) { delete(q, "pfc") }), check.Passed, "", "ECN on priority 3, "},
		"without a DSCP, PFC is demanded":     {site.RoCE{Priority: new(3)}, qos(func(q map[string]any) { delete(q, "pfc") }), check.Failed, "PFC is not enabled on priority 3", ""},
		"without a DSCP, trust is not judged": {site.RoCE{Priority: new(3)}, qos(func(q map[string]any) { q["trust"] = "pcp" }), check.Passed, "", "PFC and ECN on priority 3, "},
		"without both, neither is named":      {site.RoCE{Priority: new(3), DSCP: new(26), Without: []string{site.WithoutPFC, site.WithoutECN}}, grow("rx_packets", 1), check.Passed, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, 2)
			obs := healthy(t, b)
			b.site.Fabric.RoCE = &tt.site
			suspect := ""
			if tt.says != "" {
				suspect = "gpu-01/mlx5_0"
			}
			j := b.judge(tt.change(t, obs))
			checktest.Judged(t, j, tt.verdict, suspect, tt.says)
			if tt.verdict == check.Passed && !strings.Contains(j.Reason, "4096, "+tt.reason+"counters") {
				t.Errorf("%q, want %q", j.Reason, tt.reason)
			}
		})
	}
	b := newBench(t, 2)
	obs := healthy(t, b)
	b.site.Fabric.RoCE.Priority = nil
	checktest.Judged(t, b.judge(obs), check.Unobserved, "site fabric", "no priority")
	b.site.Fabric.RoCE = nil
	if n := len(roce.New(b.site, b.profile, onhost.Deps{}).HostCommands()); n != 4 {
		t.Errorf("%d commands of a site without fabric.roce, want 4", n)
	}
}

// mlx5 counts pauses of a priority only while PFC is enabled on it, and those named global while link-level pause is
// (mlx5e_grp_per_prio_pfc_fill_strings in drivers/net/ethernet/mellanox/mlx5/core/en_stats.c, Linux 4.18 to 6.14):
// without PFC, ethtool -S has no rx_prio3_pause_duration.
func TestPausesWithoutPFC(t *testing.T) {
	t.Parallel()
	const second = 1_000_000 // microseconds
	ofPriority := func(c map[string]uint64) {
		delete(c, "rx_prio3_pause_duration")
		delete(c, "tx_prio3_pause_duration")
	}
	global := func(rx uint64) func(map[string]uint64) {
		return func(c map[string]uint64) {
			ofPriority(c)
			c["rx_global_pause_duration"], c["tx_global_pause_duration"] = rx, 0
		}
	}
	without := []string{site.WithoutPFC}
	for name, tt := range map[string]struct {
		without       []string
		before, after func(map[string]uint64)
		verdict       check.Verdict
		says          string
	}{
		"no port pauses":                   {without, ofPriority, ofPriority, check.Passed, ""},
		"PFC is demanded":                  {nil, ofPriority, ofPriority, check.Unobserved, "does not count rx_prio3_pause_duration"},
		"link-level pause does not help":   {nil, global(0), global(0), check.Unobserved, "does not count rx_prio3_pause_duration"},
		"link-level pause":                 {without, global(0), global(30 * second), check.Passed, ""},
		"a storm of link-level pause":      {without, global(0), global(60 * second), check.Failed, "was paused by the switch by link-level pause frames for 10 % of the soak"},
		"link-level pause was set between": {without, ofPriority, global(0), check.Unobserved, "does not count rx_global_pause_duration"},
		"PFC was set between":              {without, ofPriority, func(map[string]uint64) {}, check.Unobserved, "does not count rx_prio3_pause_duration"},
		"PFC is on":                        {without, func(map[string]uint64) {}, func(c map[string]uint64) { c["tx_prio3_pause_duration"] += 60 * second }, check.Failed, "paused the switch on priority 3"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, 2)
			obs := counted(t, counted(t, healthy(t, b), 0, tt.before), 1, tt.after)
			b.site.Fabric.RoCE.Without = tt.without
			suspect := ""
			if tt.says != "" {
				suspect = "gpu-01/mlx5_0"
			}
			checktest.Judged(t, b.judge(obs), tt.verdict, suspect, tt.says)
		})
	}
}

// RDMA traffic in priority 0 needs its DSCP in that priority: a DSCP that is not mapped has none.
func TestTheDSCPOfPriorityZero(t *testing.T) {
	t.Parallel()
	b := newBench(t, 2)
	b.site.Fabric.RoCE = &site.RoCE{Priority: new(0), DSCP: new(26), Without: []string{site.WithoutPFC, site.WithoutECN}}
	obs := healthy(t, b)
	for i, o := range obs {
		if o.Kind != "qos" {
			continue
		}
		ports := decoded[map[string]map[string]any](t, o)
		for _, q := range ports {
			q["dscp"] = map[string]int{"26": 0}
		}
		obs[i] = figuresOf(t, o, ports)
	}
	checktest.Rules(t, b.judge, obs, []checktest.Rule{
		checktest.When("mapped").Passes(),
		checktest.When("not mapped", checktest.Set("qos@gpu-01", `.mlx5_0.dscp["26"]`, checktest.LeftOut)).Fails("gpu-01/mlx5_0", "does not map DSCP 26 to priority 0"),
	})
}

// Each counter is in both readings. Marked packets that were answered are healthy; whether they were is unknown
// without the counter of answers.
func TestCountersInBothReadings(t *testing.T) {
	t.Parallel()
	b := newBench(t, 2)
	obs := healthy(t, b)
	const marked, sent = "np_ecn_marked_roce_packets", "np_cnp_sent"
	without := func(name string) func(map[string]uint64) {
		return func(c map[string]uint64) { delete(c, name) }
	}
	for _, name := range []string{"out_of_sequence", "rx_prio3_pause_duration", "tx_prio3_pause_duration", marked, sent} {
		for reading := range 2 {
			j := b.judge(counted(t, obs, reading, without(name)))
			checktest.Judged(t, j, check.Unobserved, "gpu-01/mlx5_0", "does not count "+name)
			if len(j.Findings) != 1 {
				t.Errorf("%s in reading %d: %+v", name, reading, j.Findings)
			}
		}
	}
	checktest.Judged(t, b.judge(counted(t, obs, 1, func(c map[string]uint64) { c[marked]++; c[sent]++ })), check.Passed, "", "")
	checktest.Judged(t, b.judge(counted(t, obs, 1, func(c map[string]uint64) { c[marked]++; delete(c, sent) })), check.Unobserved, "gpu-01/mlx5_0", "does not count "+sent)
}
