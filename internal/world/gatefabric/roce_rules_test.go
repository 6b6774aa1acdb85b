package gatefabric

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/checktest"
	proberoce "github.com/firstlight/firstlight/internal/probe/roce"
	"github.com/firstlight/firstlight/internal/site"
)

// healthy are the observations of a healthy fabric in one order.
func healthy(t *testing.T, b *bench) []check.Observation {
	t.Helper()
	return ordered(b.observe(t, b))
}

// ordered sorts observations by kind and target.
func ordered(obs []check.Observation) []check.Observation {
	slices.SortStableFunc(obs, func(x, y check.Observation) int {
		return cmp.Or(strings.Compare(x.Kind, y.Kind), strings.Compare(x.Target, y.Target))
	})
	for i := range obs {
		obs[i].ID = fmt.Sprintf("%d-%s-%s", i, obs[i].Kind, obs[i].Target)
	}
	return obs
}

// TestRules covers the requirements on a RoCE fabric, one field at a time.
func TestRules(t *testing.T) {
	t.Parallel()
	b := newBench(t, 2)
	const devices, links, verbs, qos, counters = "rdma devices@gpu-01", "ip addr@gpu-01", "ibv_devinfo@gpu-01", "qos@gpu-01", "counters@gpu-01"
	const port, netdev = "gpu-01/mlx5_0", "[1]" // of the list of network devices: lo is the first
	checktest.Rules(t, b.judge, healthy(t, b), []checktest.Rule{
		checktest.When("a device is missing", checktest.Set(devices, `[0].name`, "mlx5_9")).Fails(port, "no RDMA device mlx5_0"),
		checktest.When("a port shows its state", checktest.Set(devices, `[0].state`, "")).Unobserved(port, "shows no state"),
		checktest.When("a port shows its rate", checktest.Set(devices, `[0].rateGbps`, checktest.LeftOut)).Unobserved(port, "shows no state"),
		checktest.When("a port is on Ethernet", checktest.Set(devices, `[0].linkLayer`, "InfiniBand")).Fails(port, "link layer InfiniBand"),
		checktest.When("a port shows its link layer", checktest.Set(devices, `[0].linkLayer`, "")).Unobserved(port, "shows no state, physical state, rate or link layer"),
		checktest.When("a port is active", checktest.Set(devices, `[0].state`, "INIT")).Fails(port, "INIT / LinkUp"),
		checktest.When("an adapter shows its board", checktest.Set(devices, `[0].board`, "")).Unobserved(port, "shows no firmware, type or board"),
		checktest.When("an adapter shows its type", checktest.Set(devices, `[0].type`, "")).Unobserved(port, "shows no firmware, type or board"),
		checktest.When("the order of network devices does not matter", checktest.Set(links, `[0]`, checktest.LeftOut)).Passes(),
		checktest.When("ibv_devinfo shows an MTU", checktest.Set(verbs, `[0].ports[0].activeMTU`, 0)).Unobserved(port, "no active port 1 with an MTU"),
		checktest.When("a port is trained", checktest.Set(devices, `[0].physical`, "Polling")).Fails(port, "ACTIVE / Polling"),
		checktest.When("a port runs at its rate", checktest.Set(devices, `[0].rateGbps`, 200)).Fails(port, "200 Gb/s, want 400"),
		checktest.When("an adapter shows its firmware", checktest.Set(devices, `[0].firmware`, "")).Unobserved(port, "no firmware"),
		checktest.When("one firmware is on all adapters", checktest.Set(devices, `[0].firmware`, "28.38.1002")).Fails(port, "firmware 28.38.1002"),
		checktest.When("a board may have its own firmware", checktest.Set(devices, `[0].board`, "MT_0000000999"), checktest.Set(devices, `[0].firmware`, "28.38.1002")).Passes(),
		checktest.When("a port has a network device", checktest.Set(devices, `[0].netdevs`, checktest.LeftOut)).Unobserved(port, "0 network devices"),
		checktest.When("of several network devices, the GID table names one", checktest.Set(devices, `[0].netdevs`, []string{"enp24s0np0", "enp24s0np0r0"})).Passes(),
		checktest.When("the GID table names one of another name", checktest.Set(devices, `[0].netdevs`, []string{"a", "b"})).Unobserved(port, "2 network devices"),
		checktest.When("a network device is large enough", checktest.Set(links, netdev+`.mtu`, 4191)).Fails(port, "needs 4192"),
		checktest.When("all network devices have one MTU", checktest.Set(links, netdev+`.mtu`, 4192)).Fails(port, "network device MTU 4192 bytes"),
		checktest.When("a network device shows its MTU", checktest.Set(links, netdev+`.mtu`, 0)).Unobserved(port, "no MTU of enp24s0np0"),
		checktest.When("ip lists the network device", checktest.Set(links, netdev+`.name`, "other")).Unobserved(port, "no MTU of enp24s0np0"),
		checktest.When("RDMA has its MTU", checktest.Set(verbs, `[0].ports[0].activeMTU`, 1024)).Fails(port, "active RDMA MTU of 1024, want 4096"),
		checktest.When("ibv_devinfo shows the port", checktest.Set(verbs, `[0].ports[0].state`, "PORT_DOWN")).Unobserved(port, "no active port 1"),
		checktest.When("a network device has an address", checktest.Set(links, netdev+`.addresses`, checktest.LeftOut)).Fails(port, "has no IP address"),
		checktest.When("a port has its own address", checktest.Set(links, netdev+`.addresses`, []string{"10.100.0.1", "10.100.0.2"})).Fails("gpu-02/mlx5_0", "10.100.0.2, which gpu-01/mlx5_0 has too"),
		checktest.When("a GID has the address", checktest.Set(devices, `[0].gids[*].address`, "fe80::1")).Fails(port, "no GID of RoCE v2 with an address of enp24s0np0 (10.100.0.1)"),
		checktest.When("the GID is of version 2", checktest.Set(devices, `[0].gids[*].type`, "IB/RoCE v1")).Fails(port, "no GID of RoCE v2"),
		checktest.When("a GID may be of a VLAN", checktest.Set(devices, `[0].gids[3].netdev`, "vlan100"), checktest.Set(devices, `[0].gids[3].address`, "10.9.0.1"),
			checktest.Set(links, `[0].name`, "vlan100"), checktest.Set(links, `[0].addresses`, []string{"10.9.0.1"})).Passes(),
		checktest.When("PFC is on the priority", checktest.Set(qos, `.mlx5_0.pfc[3]`, false)).Fails(port, "PFC is not enabled on priority 3"),
		checktest.When("PFC is on the same priorities everywhere", checktest.Set(qos, `.mlx5_0.pfc[4]`, true)).Fails(port, "PFC on priorities 3 4"),
		checktest.When("PFC on another priority of all ports is the site's affair", checktest.Set("qos", `.mlx5_0.pfc[4]`, true), checktest.Set("qos", `.mlx5_1.pfc[4]`, true), checktest.Set("qos", `.mlx5_2.pfc[4]`, true), checktest.Set("qos", `.mlx5_3.pfc[4]`, true),
			checktest.Set("qos", `.mlx5_4.pfc[4]`, true), checktest.Set("qos", `.mlx5_5.pfc[4]`, true), checktest.Set("qos", `.mlx5_6.pfc[4]`, true), checktest.Set("qos", `.mlx5_7.pfc[4]`, true)).Passes(),
		checktest.When("the QoS of a port is read", checktest.Set(qos, `.mlx5_0`, checktest.LeftOut)).Unobserved(port, "QoS of enp24s0np0"),
		checktest.When("a port trusts the DSCP", checktest.Set(qos, `.mlx5_0.trust`, "pcp")).Fails(port, "from their pcp"),
		checktest.When("the DSCP has the priority", checktest.Set(qos, `.mlx5_0.dscp["26"]`, 0)).Fails(port, "does not map DSCP 26 to priority 3"),
		checktest.When("the DSCP has a priority", checktest.Set(qos, `.mlx5_0.dscp["26"]`, checktest.LeftOut)).Fails(port, "does not map DSCP 26 to priority 3"),
		checktest.When("marked packets are answered", checktest.Set(devices, `[0].notifies["3"]`, false)).Fails(port, "notification point"),
		checktest.When("a port slows down", checktest.Set(devices, `[0].reacts["3"]`, false)).Fails(port, "reaction point"),
		checktest.When("the state of ECN is known", checktest.Set(devices, `[0].reacts`, checktest.LeftOut)).Unobserved(port, "does not show whether ECN"),
		checktest.When("ECN of another priority is not judged", checktest.Set(devices, `[0].reacts["4"]`, false)).Passes(),
	})
}

// TestCounterRules covers what a port may count over the soak: the last reading is changed.
func TestCounterRules(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		counter string
		by      uint64
		verdict check.Verdict
		says    string
	}{
		"errors up to a limit":  {"out_of_sequence", 100, check.Passed, ""},
		"errors above a limit":  {"out_of_sequence", 101, check.Failed, "out_of_sequence of gpu-02/mlx5_3 (enp94s0np0) grew by 101"},
		"a link that went down": {"link_down_events_phy", 1, check.Failed, "link_down_events_phy"},
		"frames with errors":    {"rx_crc_errors_phy", 1, check.Failed, "rx_crc_errors_phy"},
		// an idle link has no frames with errors: linux Documentation/networking/device_drivers/ethernet/mellanox/mlx5/counters.rst
		"symbol errors":           {"rx_symbol_err_phy", 1, check.Failed, "rx_symbol_err_phy"},
		"symbol errors after FEC": {"rx_pcs_symbol_err_phy", 1, check.Failed, "rx_pcs_symbol_err_phy of gpu-02/mlx5_3 (enp94s0np0) grew by 1"},
		"discards":                {"rx_discards_phy", 1, check.Failed, "rx_discards_phy"},
		"ignored notifications":   {"rp_cnp_ignored", 1, check.Failed, "rp_cnp_ignored"},
		"pauses up to a limit":    {"rx_prio3_pause_duration", 30_000_000, check.Passed, ""},
		"pauses above a limit":    {"rx_prio3_pause_duration", 30_000_001, check.Failed, "was paused by the switch on priority 3 for 5 %"},
		"pauses that it sends":    {"tx_prio3_pause_duration", 600_000_000, check.Failed, "paused the switch on priority 3 for 100 %"},
		"pauses of another class": {"rx_prio4_pause_duration", 600_000_000, check.Passed, ""},
		"marks without an answer": {"np_ecn_marked_roce_packets", 1, check.Failed, "1 packets arrived marked"},
		"notifications alone":     {"np_cnp_sent", 5, check.Passed, ""},
		"a counter without limit": {"rx_packets", 1 << 40, check.Passed, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, 2)
			obs := healthy(t, b)
			last := slices.IndexFunc(obs, func(o check.Observation) bool { return o.Kind == "counters" && o.Target == "gpu-02" }) + 1
			figures, err := check.Decode[map[string]map[string]uint64](obs[last])
			if err != nil {
				t.Fatal(err)
			}
			if _, ok := figures["mlx5_3"][tt.counter]; !ok {
				t.Fatalf("no counter %s in %+v", tt.counter, figures["mlx5_3"])
			}
			figures["mlx5_3"][tt.counter] += tt.by
			if obs[last], err = obs[last].WithFigures(figures); err != nil {
				t.Fatal(err)
			}
			suspect := ""
			if tt.says != "" {
				suspect = "gpu-02/mlx5_3"
			}
			checktest.Judged(t, b.judge(obs), tt.verdict, suspect, tt.says)
		})
	}
}

// Counters that are missing, were reset, or were watched for less than the soak are unobserved.
func TestCountersUnobserved(t *testing.T) {
	t.Parallel()
	b := newBench(t, 2)
	obs := healthy(t, b)
	first := slices.IndexFunc(obs, func(o check.Observation) bool { return o.Kind == "counters" && o.Target == "gpu-02" })
	for name, tt := range map[string]struct {
		change        func(obs []check.Observation) []check.Observation
		suspect, says string
	}{
		"read once": {func(obs []check.Observation) []check.Observation { return slices.Delete(obs, first, first+1) }, "gpu-02", "were read 1 times"},
		"too early": {func(obs []check.Observation) []check.Observation {
			obs[first+1].At = obs[first+1].At.Add(-1)
			return obs
		}, "gpu-02", "the site requires 10m0s"},
		"unreadable": {func(obs []check.Observation) []check.Observation {
			obs[first].Figures, obs[first].Err = nil, "no section"
			return obs
		}, "gpu-02", "no section"},
		"unreadable at the end": {func(obs []check.Observation) []check.Observation {
			obs[first+1].Figures, obs[first+1].Err = nil, "no section"
			return obs
		}, "gpu-02", "no section"},
		"a device without counters": {func(obs []check.Observation) []check.Observation {
			obs[first+1].Figures = []byte(`{"mlx5_0":{}}`)
			return obs
		}, "gpu-02/mlx5_3", "does not count link_down_events_phy"},
		"reset": {func(obs []check.Observation) []check.Observation {
			obs[first], obs[first+1] = obs[first+1], obs[first]
			obs[first].Figures = []byte(strings.ReplaceAll(string(obs[first].Figures), `"out_of_sequence":3`, `"out_of_sequence":9`))
			obs[first].At, obs[first+1].At = obs[first+1].At, obs[first].At
			return obs
		}, "gpu-02/mlx5_3", "decreased from 9 to 3"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j := b.judge(tt.change(slices.Clone(obs)))
			checktest.Judged(t, j, check.Unobserved, tt.suspect, tt.says)
			if host := !strings.Contains(tt.suspect, "/"); host && len(j.Findings) != 1 {
				t.Errorf("a reading of a host has one finding: %+v", j.Findings)
			}
		})
	}
}

// Figures are the worst of all ports: also of a port that is not the last.
func TestCounterFigures(t *testing.T) {
	t.Parallel()
	b := newBench(t, 2)
	obs := healthy(t, b)
	limit := b.profile.Fabric.RoCE.MaxPause.Value
	j := b.judge(obs)
	figure(t, j, "ports watched", 16, 16, "==")
	figure(t, j, "ports active at rate", 16, 16, "==")
	figure(t, j, "largest increase beyond a limit", 0, 0, "<=")
	last := slices.IndexFunc(obs, func(o check.Observation) bool { return o.Kind == "counters" && o.Target == "gpu-01" }) + 1
	counters := decoded[map[string]map[string]uint64](t, obs[last])
	counters["mlx5_0"]["out_of_sequence"] += 150
	counters["mlx5_0"]["rx_prio3_pause_duration"] += 300_000_000 // microseconds, half of the soak
	obs[last] = figuresOf(t, obs[last], counters)
	j = b.judge(obs)
	figure(t, j, "largest increase beyond a limit", 150, 0, "<=")
	figure(t, j, "longest pause", 0.5, limit, "<=")
}

// Firmware without the group of counters has no symbol errors after FEC, which a note says; one reading without them is unobserved.
func TestFirmwareWithoutSymbolErrors(t *testing.T) {
	t.Parallel()
	b := newBench(t, 2)
	obs := healthy(t, b)
	without := func(obs []check.Observation, readings int) []check.Observation {
		out := slices.Clone(obs)
		for i, o := range out {
			if o.Kind != "counters" || readings == 0 {
				continue
			}
			counters := decoded[map[string]map[string]uint64](t, o)
			for _, port := range counters {
				delete(port, "rx_pcs_symbol_err_phy")
			}
			out[i] = figuresOf(t, o, counters)
			readings--
		}
		return out
	}
	checktest.Judged(t, b.judge(obs), check.Passed, "", "") // without a note
	const says = "16 of 16 ports, such as gpu-01/mlx5_0, do not count rx_pcs_symbol_err_phy: symbol errors after FEC were not judged there"
	if j := b.judge(without(obs, 4)); j.Verdict != check.Passed || len(j.Findings) != 1 || j.Findings[0].Message != says {
		t.Errorf("%s: %+v", j.Verdict, j.Findings)
	}
	checktest.Judged(t, b.judge(without(obs, 1)), check.Unobserved, "gpu-01/mlx5_0", "does not count rx_pcs_symbol_err_phy")
}

// Without ECN, marked packets need no answer, and the counters of ECN need not exist.
func TestCountersWithoutECN(t *testing.T) {
	t.Parallel()
	b := newBench(t, 2)
	obs := healthy(t, b)
	for i := range obs {
		obs[i].Figures = []byte(strings.ReplaceAll(string(obs[i].Figures), `"np_ecn_marked_roce_packets"`, `"x"`))
	}
	checktest.Judged(t, b.judge(obs), check.Unobserved, "gpu-01/mlx5_0", "does not count np_ecn_marked_roce_packets")
	b.site.Fabric.RoCE.Without = []string{site.WithoutECN}
	checktest.Judged(t, b.judge(obs), check.Passed, "", "")
}

// The gate does not demand a mechanism that the fabric does not use, and marks the result as lowered.
func TestWithout(t *testing.T) {
	t.Parallel()
	b := newBench(t, 2)
	obs := healthy(t, b)
	for i := range obs {
		if obs[i].Kind == "qos" {
			obs[i].Figures = []byte(strings.ReplaceAll(string(obs[i].Figures), "true", "false"))
		}
		obs[i].Figures = []byte(strings.ReplaceAll(strings.ReplaceAll(string(obs[i].Figures), `"reacts"`, `"r"`), `"notifies"`, `"n"`))
	}
	if j := b.judge(obs); j.Verdict != check.Failed {
		t.Errorf("PFC and ECN are demanded: %s", j.Verdict)
	}
	b.site.Fabric.RoCE.Without = []string{site.WithoutPFC, site.WithoutECN}
	if j := b.judge(obs); j.Verdict != check.Passed || strings.Contains(j.Reason, "PFC") {
		t.Errorf("%s: %s %+v", j.Verdict, j.Reason, j.Findings)
	}
	b.site.Fabric.RoCE.DSCP = nil
	for i := range obs {
		obs[i].Figures = []byte(strings.ReplaceAll(string(obs[i].Figures), `"rp_cnp_ignored"`, `"x"`))
	}
	obs = slices.DeleteFunc(obs, func(o check.Observation) bool { return o.Kind == "qos" })
	if j := b.judge(obs); j.Verdict != check.Passed {
		t.Errorf("nothing of the QoS is demanded: %s %+v", j.Reason, j.Findings)
	}
	if got := b.observe(t, b); slices.ContainsFunc(got, func(o check.Observation) bool { return o.Kind == "qos" }) {
		t.Error("the QoS is read, which the site does not demand")
	}
	if lowered := b.site.LoweredFabric(); len(lowered) != 1 || lowered[0] != "fabric.roce.without is pfc, ecn" {
		t.Errorf("lowered: %v", lowered)
	}
}

// A site or profile that demands nothing does not pass, and neither does a missing host.
func TestNothingDemanded(t *testing.T) {
	t.Parallel()
	b := newBench(t, 2)
	obs := healthy(t, b)
	checktest.Judged(t, b.judge(nil), check.Unobserved, "check fabric", "no observation")
	checktest.Judged(t, b.judge(slices.DeleteFunc(slices.Clone(obs), func(o check.Observation) bool { return o.Target == "gpu-02" })), check.Unobserved, "gpu-02", "was not observed")
	limits := b.profile.Fabric.RoCE
	b.profile.Fabric.RoCE = nil
	checktest.Judged(t, b.judge(obs), check.Unobserved, "profile h100-sxm-roce400", "no limits")
	b.profile.Fabric.RoCE = limits
	counters := b.profile.Fabric.CounterLimits
	b.profile.Fabric.CounterLimits = nil
	checktest.Judged(t, b.judge(obs), check.Unobserved, "profile h100-sxm-roce400", "no limits")
	b.profile.Fabric.CounterLimits = counters
	hcas, nodes := b.site.Fabric.HCAs, b.site.Inventory.Nodes
	b.site.Fabric.HCAs = nil
	checktest.Judged(t, b.judge(obs), check.Unobserved, "site fabric", "no adapters")
	b.site.Fabric.HCAs, b.site.Inventory.Nodes = hcas, nil
	checktest.Judged(t, b.judge(obs), check.Unobserved, "site fabric", "no adapters")
	b.site.Inventory.Nodes = nodes
	b.site.Fabric.RoCE = nil
	checktest.Judged(t, b.judge(obs), check.Unobserved, "site fabric", "no priority")
}

// Every field of a healthy fabric is demanded, or this list states why not.
func TestEveryField(t *testing.T) {
	t.Parallel()
	b := newBench(t, 3)
	b.site.Fabric.HCAs = b.site.Fabric.HCAs[:2]
	obs := healthy(t, b)
	for i := range obs {
		obs[i] = short(t, b, obs[i])
	}
	checktest.EveryField(t, "spoilt", b.judge, obs, checktest.Harmless{
		"one entry of the table must have the address and the version; which one it is, and what the others have, does not matter": {`rdma devices@.* .gids.(index|netdev|type|address): .*`},
		"adapters of another type or board may have a firmware of their own":                                                       {`rdma devices@.* .(type|board): another text`},
		"another priority than that of RDMA traffic":                                                                               {`rdma devices@.* .(notifies|reacts).[4-7]: .*`, `qos@.*.pfc: without the last`, `qos@.*.dscp.0: .*`},
		"said twice is not more":                {`(rdma devices|ip addr|ibv_devinfo)@.* (.(netdevs|gids|addresses|ports))?: the first twice`},
		"sysfs has the board":                   {`ibv_devinfo@.* .board: .*`},
		"the first and the last reading decide": {`counters@.*: twice`},
		"the profile has no limit for it":       {`counters@.*.rx_bytes: .*`},
		"growth up to a limit is allowed":       {`counters@.*.(packet_seq_err|out_of_sequence|local_ack_timeout_err|[rt]x_prio3_pause_duration): .*`},
		"notifications without marked packets":  {`counters@.*.np_cnp_sent: .*`},
	})
}

// short is an observation without most of what the gate does not judge.
func short(t *testing.T, b *bench, o check.Observation) check.Observation {
	t.Helper()
	var figures any
	switch o.Kind {
	case "counters":
		all := decoded[map[string]map[string]uint64](t, o)
		for _, counters := range all {
			maps.DeleteFunc(counters, func(name string, _ uint64) bool {
				_, limited := b.profile.Fabric.CounterLimits[name]
				return !limited && !slices.Contains([]string{"rx_bytes", "rx_prio3_pause_duration", "tx_prio3_pause_duration", "np_cnp_sent", "np_ecn_marked_roce_packets"}, name)
			})
		}
		figures = all
	case "qos":
		ports := decoded[map[string]proberoce.QoS](t, o)
		for _, q := range ports {
			maps.DeleteFunc(q.DSCP, func(dscp, _ int) bool { return dscp != 26 && dscp != 0 })
		}
		figures = ports
	case "ip addr":
		figures = slices.DeleteFunc(decoded[[]proberoce.Link](t, o), func(l proberoce.Link) bool { return l.Name != "enp24s0np0" && l.Name != "enp64s0np0" })
	case "rdma devices":
		devices := decoded[[]proberoce.Device](t, o)
		for _, d := range devices {
			maps.DeleteFunc(d.Notifies, func(priority int, _ bool) bool { return priority < 3 })
			maps.DeleteFunc(d.Reacts, func(priority int, _ bool) bool { return priority < 3 })
		}
		figures = devices
	default:
		return o
	}
	o, err := o.WithFigures(figures)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func decoded[T any](t *testing.T, o check.Observation) T {
	t.Helper()
	v, err := check.Decode[T](o)
	if err != nil {
		t.Fatal(err)
	}
	return v
}
