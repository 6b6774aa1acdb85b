package fabric_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/gate/fabric"
	"github.com/firstlight/firstlight/internal/gate/onhost"
	"github.com/firstlight/firstlight/internal/plan"
	"github.com/firstlight/firstlight/internal/probe/ssh"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
)

// railed is a healthy fabric of nodes gpu-1... whose adapter k is at leaf k, all leaves at
// one spine, and the site that declares it but for its topology.
func railed(nodes, rails int) (*subnet, *site.Site, *profile.Profile) {
	return cabled(nodes, rails, func(_, k int) int { return k })
}

// cabled is the same with adapter k of node n, both from 0, at a leaf of its own choice.
func cabled(nodes, rails int, leafOf func(n, k int) int) (*subnet, *site.Site, *profile.Profile) {
	s := newSubnet()
	s.links = nil
	of, p := declared()
	of.Inventory.Nodes, of.Reach.SSH.FabricHost = nil, "gpu-1"
	of.Fabric.Switches, of.Fabric.HCAs = []string{"spine"}, nil
	guid := uint64(0xa088c20300d80000)
	known := func(name string) string {
		guid += 16
		s.guids[name] = guid
		return name
	}
	known("spine")
	for k := range rails {
		of.Fabric.HCAs = append(of.Fabric.HCAs, fmt.Sprintf("mlx5_%d", k))
	}
	leaves := 0
	for n := range nodes {
		name := fmt.Sprintf("gpu-%d", n+1)
		of.Inventory.Nodes = append(of.Inventory.Nodes, site.Node{Name: name})
		s.sms[name] = s.sms["gpu-01"]
		for k := range rails {
			leaves = max(leaves, leafOf(n, k)+1)
			s.link(known(fmt.Sprintf("%s mlx5_%d", name, k)), 1, fmt.Sprintf("leaf-%d", leafOf(n, k)), 1+n*rails+k)
		}
	}
	for i := range leaves {
		of.Fabric.Switches = append(of.Fabric.Switches, known(fmt.Sprintf("leaf-%d", i)))
		s.link(fmt.Sprintf("leaf-%d", i), 1000, "spine", i+1)
	}
	of.Fabric.Links = len(s.links)
	s.nodes = [2]int{nodes*rails + leaves + 1, nodes*rails + leaves + 1}
	s.summary = fmt.Sprintf("Total Nodes             : %d\nIB Switches             : %d\nIB Channel Adapters     : %d\n", s.nodes[0], leaves+1, nodes*rails)
	return s, of, p
}

// swap exchanges the far ends of two cables.
func (s *subnet) swap(a, b string) {
	x, y := s.of(a), s.of(b)
	x.b, y.b = y.b, x.b
	x.bPort, y.bPort = y.bPort, x.bPort
}

// unplug takes the cable of an adapter out.
func (s *subnet) unplug(adapter string) {
	l := s.of(adapter)
	l.state, l.phys, l.rate = "Down", "Polling", 10
}

// suspects are those of findings, with what a message must have of each.
type suspects map[string]string

func (want suspects) hold(t *testing.T, j check.Judgement) {
	t.Helper()
	got := map[string]bool{}
	for _, f := range j.Findings {
		got[f.Suspect] = true
		if !regexp.MustCompile(want[f.Suspect]).MatchString(f.Message) || want[f.Suspect] == "" || f.Remedy == "" || len(f.Observations) == 0 {
			t.Errorf("suspect %s: %q, want %q: %+v", f.Suspect, f.Message, want[f.Suspect], f)
		}
	}
	for suspect := range want {
		if !got[suspect] {
			t.Errorf("no finding names %s: %s: %+v", suspect, j.Reason, j.Findings)
		}
	}
}

// A node whose cables were exchanged, within it or with another node, has as many links at
// each switch as before: all passed, and the collective was slow.
func TestRails(t *testing.T) {
	t.Parallel()
	none := func(*subnet) {}
	within := func(s *subnet) { s.swap("gpu-2 mlx5_0", "gpu-2 mlx5_1") }
	across := func(s *subnet) { s.swap("gpu-2 mlx5_0", "gpu-3 mlx5_1") }
	rail := func(_, k int) int { return k }
	whole := func(n, _ int) int { return n / 2 }            // two nodes at each leaf, with all they have
	pairs := func(_, k int) int { return k / 2 }            // two rails at each leaf
	groups := func(n, k int) int { return n/3*4 + k }       // three nodes at each group of leaves
	anyhow := func(n, k int) int { return (n*3 + k*k) % 4 } // no order at all
	for name, tt := range map[string]struct {
		nodes, rails int
		topology     string
		leafOf       func(n, k int) int
		spoil        func(*subnet)
		verdict      check.Verdict
		want         suspects
	}{
		"healthy":                      {4, 4, "", rail, none, check.Passed, nil},
		"healthy, declared":            {4, 4, site.RailOptimised, rail, none, check.Passed, nil},
		"one node":                     {1, 4, site.RailOptimised, rail, none, check.Passed, nil},
		"two rails at a leaf":          {4, 4, "", pairs, none, check.Passed, nil},
		"two rails at a leaf declared": {4, 4, site.RailOptimised, pairs, none, check.Passed, nil},
		"groups of leaves":             {6, 4, site.RailOptimised, groups, none, check.Passed, nil},
		"a fat tree":                   {4, 4, "", whole, none, check.Passed, nil},
		"a fat tree declared":          {5, 4, site.FatTree, anyhow, none, check.Passed, nil},
		"within a node": {4, 4, "", rail, within, check.Failed, suspects{
			"gpu-2/mlx5_0": "cabled to leaf-1, where most nodes have mlx5_1: 1 of 4 have mlx5_0 there", "gpu-2/mlx5_1": "cabled to leaf-0, where most nodes have mlx5_0",
		}},
		"within a node of three":    {3, 2, "", rail, within, check.Failed, suspects{"gpu-2/mlx5_0": "leaf-1", "gpu-2/mlx5_1": "leaf-0"}},
		"within a node, declared":   {3, 2, site.RailOptimised, rail, within, check.Failed, suspects{"gpu-2/mlx5_0": "leaf-1", "gpu-2/mlx5_1": "leaf-0"}},
		"within a node of a group":  {6, 4, "", groups, within, check.Failed, suspects{"gpu-2/mlx5_0": "leaf-1", "gpu-2/mlx5_1": "leaf-0"}},
		"within a node, a fat tree": {4, 4, site.FatTree, rail, within, check.Passed, nil},
		"across nodes":              {4, 4, "", rail, across, check.Failed, suspects{"gpu-2/mlx5_0": "leaf-1", "gpu-3/mlx5_1": "leaf-0"}},
		"across nodes, declared":    {3, 8, site.RailOptimised, rail, across, check.Failed, suspects{"gpu-2/mlx5_0": "leaf-1", "gpu-3/mlx5_1": "leaf-0"}},
		"across groups": {6, 4, "", groups, func(s *subnet) { s.swap("gpu-2 mlx5_0", "gpu-5 mlx5_1") }, check.Failed,
			suspects{"gpu-2/mlx5_0": "leaf-5", "gpu-5/mlx5_1": "leaf-0"}},
		"across pairs of rails": {4, 4, "", pairs, func(s *subnet) { s.swap("gpu-2 mlx5_0", "gpu-3 mlx5_3") }, check.Failed,
			suspects{"gpu-2/mlx5_0": "leaf-1, where most nodes have mlx5_2, mlx5_3", "gpu-3/mlx5_3": "leaf-0, where most nodes have mlx5_0, mlx5_1"}},
		// a port that is down has its own finding; it does not imply that the same adapters of other nodes are at a wrong leaf
		"two adapters of four that are down": {4, 4, site.RailOptimised, pairs, func(s *subnet) { s.unplug("gpu-1 mlx5_0"); s.unplug("gpu-2 mlx5_0") }, check.Failed,
			suspects{"gpu-1/mlx5_0": "no link in the subnet", "gpu-2/mlx5_0": "no link in the subnet"}},
		"an adapter of two that is down": {2, 4, site.RailOptimised, whole, func(s *subnet) { s.unplug("gpu-1 mlx5_0") }, check.Failed,
			suspects{"gpu-1/mlx5_0": "no link in the subnet"}},
		"a swap and an adapter that is down": {4, 4, site.RailOptimised, rail, func(s *subnet) { within(s); s.unplug("gpu-1 mlx5_0") }, check.Failed,
			suspects{"gpu-1/mlx5_0": "no link in the subnet", "gpu-2/mlx5_0": "leaf-1", "gpu-2/mlx5_1": "leaf-0"}},
		"no majority": {2, 2, "", rail, within, check.Passed, suspects{"fabric": "0 of 2 nodes are cabled like their neighbours.* not judged"}},
		"no majority, declared": {2, 2, site.RailOptimised, rail, within, check.Failed, suspects{
			"leaf-0": "different HCAs of its 2 nodes: mlx5_0 of 1, mlx5_1 of 1", "leaf-1": "different HCAs",
		}},
		"no majority in a group": {5, 4, "", groups, func(s *subnet) { s.swap("gpu-4 mlx5_0", "gpu-4 mlx5_1") }, check.Passed,
			suspects{"leaf-4": "different HCAs", "leaf-5": "different HCAs"}},
		"no order": {5, 4, "", anyhow, none, check.Passed, suspects{"fabric": "not judged"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, of, p := cabled(tt.nodes, tt.rails, tt.leafOf)
			of.Fabric.Topology = tt.topology
			tt.spoil(s)
			obs := lookAt(t, s, of, p)
			j := plan.Judge(fabric.New(of, p, onhost.Deps{}), obs)
			if j.Verdict != tt.verdict {
				t.Fatalf("%s: %s: %+v", j.Verdict, j.Reason, j.Findings)
			}
			tt.want.hold(t, j)
		})
	}
}

// A fat tree whose ports were filled in order has nodes at two leaves, and leaves with parts
// of nodes. None of its adapters is at a wrong leaf, and the site need not declare it.
func TestAFatTreeFilledInOrderPasses(t *testing.T) {
	t.Parallel()
	for _, rails := range []int{2, 8} {
		for down := 1; down <= 22; down++ { // more ports a leaf repeat these with more whole nodes
			for _, nodes := range []int{4, 9} {
				s, of, p := cabled(nodes, rails, func(n, k int) int { return (n*rails + k) / down })
				j := plan.Judge(fabric.New(of, p, onhost.Deps{}), lookAt(t, s, of, p))
				if j.Verdict != check.Passed {
					t.Errorf("%d nodes of %d adapters at leaves of %d ports: %s: %+v", nodes, rails, down, j.Verdict, j.Findings)
				}
			}
		}
	}
}

// Properties that all adapters must share: a fabric with one that differed passed, and a job over
// the whole cluster failed or was slow.
func TestAdaptersAreAlike(t *testing.T) {
	t.Parallel()
	const odd = "gpu-3/mlx5_1"
	half := func(set func(adapter string)) {
		for _, name := range []string{"gpu-1/mlx5_0", "gpu-1/mlx5_1", "gpu-2/mlx5_0", "gpu-2/mlx5_1"} {
			set(name)
		}
	}
	for name, tt := range map[string]struct {
		spoil   func(*subnet)
		verdict check.Verdict
		want    suspects
	}{
		"firmware": {func(s *subnet) { s.firmware[odd] = "28.38.1002" }, check.Failed,
			suspects{odd: `firmware 28.38.1002, 7 of 8 adapters of type MT4129, board MT_0000000838 have 28.39.1002`}},
		"firmware of half": {func(s *subnet) { half(func(a string) { s.firmware[a] = "28.38.1002" }) }, check.Failed,
			suspects{"fabric": `differ in firmware.*28.38.1002 on 4 \(gpu-1/mlx5_0, ...\); 28.39.1002 on 4`}},
		"firmware of another board": {func(s *subnet) { s.firmware[odd], s.board[odd] = "28.38.1002", "DEL0000000010" }, check.Passed, nil},
		"firmware of boards that are not known": {func(s *subnet) {
			s.firmware[odd], s.board[odd] = "28.38.1002", "DEL0000000010"
			s.instead["gpu-3 sh"] = says("", "sh: 1: ibv_devinfo: not found\n", 127)
		}, check.Unobserved, suspects{"gpu-3": "exit code 127"}},
		"no firmware": {func(s *subnet) { s.firmware[odd] = "none" }, check.Unobserved, suspects{odd: "shows no firmware"}},
		"MTU":         {func(s *subnet) { s.mtu[odd] = 2048 }, check.Failed, suspects{odd: "active MTU 2048 bytes, 7 of 8 ports have 4096 bytes"}},
		"MTU of half": {func(s *subnet) { half(func(a string) { s.mtu[a] = 2048 }) }, check.Failed, suspects{"fabric": "differ in active MTU"}},
		"MTU of all": {func(s *subnet) {
			for _, l := range s.links {
				s.mtu[strings.Replace(l.a, " ", "/", 1)] = 2048
			}
		}, check.Passed, nil},
		"no MTU":                {func(s *subnet) { s.mtu[odd] = -1 }, check.Unobserved, suspects{odd: "no active port 1 with an MTU"}},
		"a partition less":      {func(s *subnet) { s.keys[odd] = []string{"0xffff"} }, check.Failed, suspects{odd: "partition keys 0xffff, 7 of 8 ports have 0x8001, 0xffff"}},
		"a partition more":      {func(s *subnet) { s.keys[odd] = []string{"0xffff", "0x8001", "0x8002"} }, check.Failed, suspects{odd: "partition keys 0x8001, 0x8002, 0xffff"}},
		"keys in another order": {func(s *subnet) { s.keys[odd] = []string{"0x8001", "0xffff"} }, check.Passed, nil},
		"limited membership":    {func(s *subnet) { s.keys[odd] = []string{"0xffff", "0x0001"} }, check.Failed, suspects{odd: "partition keys 0x0001, 0xffff"}},
		"no full membership":    {func(s *subnet) { s.keys[odd] = []string{"0x7fff"} }, check.Failed, suspects{odd: "full member of no partition"}},
		"no keys":               {func(s *subnet) { s.keys[odd] = []string{} }, check.Failed, suspects{odd: "partition keys none"}},
		"all are limited": {func(s *subnet) {
			for _, l := range s.links {
				s.keys[strings.Replace(l.a, " ", "/", 1)] = []string{"0x7fff"}
			}
		}, check.Failed, suspects{"subnet manager": "no port but the subnet manager's is a full member"}},
		"the subnet manager is on a node": {func(s *subnet) { // it makes its own port a full member of the default partition
			s.baseLID["gpu-3/mlx5_1"] = 1
			for _, l := range s.links {
				s.keys[strings.Replace(l.a, " ", "/", 1)] = []string{"0x7fff", "0x8001"}
			}
			s.keys[odd] = []string{"0xffff", "0x8001"}
		}, check.Passed, nil},
		"the subnet manager's port has a partition less": {func(s *subnet) {
			s.baseLID["gpu-3/mlx5_1"] = 1
			for _, l := range s.links {
				s.keys[strings.Replace(l.a, " ", "/", 1)] = []string{"0x7fff", "0x8001"}
			}
			s.keys[odd] = []string{"0xffff"}
		}, check.Failed, suspects{odd: "partition keys 0xffff, 7 of 8 ports have 0x7fff, 0x8001"}},
		"a full member of the default partition without a subnet manager": {func(s *subnet) {
			for _, l := range s.links {
				s.keys[strings.Replace(l.a, " ", "/", 1)] = []string{"0x7fff", "0x8001"}
			}
			s.keys[odd] = []string{"0xffff", "0x8001"}
		}, check.Failed, suspects{odd: "partition keys 0x8001, 0xffff"}},
		"all but the subnet manager's are limited": {func(s *subnet) {
			s.baseLID["gpu-3/mlx5_1"] = 1
			for _, l := range s.links {
				s.keys[strings.Replace(l.a, " ", "/", 1)] = []string{"0x7fff"}
			}
			s.keys[odd] = []string{"0xffff"}
		}, check.Failed, suspects{"subnet manager": "no port but the subnet manager's is a full member"}},
		"keys of half": {func(s *subnet) { half(func(a string) { s.keys[a] = []string{"0xffff", "0x8002"} }) }, check.Failed, suspects{"fabric": "differ in partition keys"}},
		"a partition for each rail": {func(s *subnet) {
			for _, l := range s.links {
				if strings.HasSuffix(l.a, "mlx5_1") {
					s.keys[strings.Replace(l.a, " ", "/", 1)] = []string{"0xffff", "0x8002"}
				}
			}
		}, check.Passed, nil},
		"a partition for each rail, and another for one port": {func(s *subnet) {
			for _, l := range s.links {
				if strings.HasSuffix(l.a, "mlx5_1") {
					s.keys[strings.Replace(l.a, " ", "/", 1)] = []string{"0xffff", "0x8002"}
				}
			}
			s.keys[odd] = []string{"0xffff", "0x8003"}
		}, check.Failed, suspects{odd: "partition keys 0x8003, 0xffff, 3 of 4 ports have 0x8002, 0xffff"}},
		"a GUID twice": {func(s *subnet) { s.guids["gpu-3 mlx5_1"] = s.guids["gpu-2 mlx5_1"] }, check.Failed,
			suspects{odd: "which gpu-2/mlx5_1 has too", "gpu-2/mlx5_1": "which gpu-3/mlx5_1 has too"}},
		"a device that ibv_devinfo does not list": {func(s *subnet) {
			first, rest, _ := strings.Cut(s.verbs("gpu-3"), "hca_id:\tmlx5_1")
			_, tables, _ := strings.Cut(rest, "/sys/")
			s.instead["gpu-3 sh"] = says(first+"/sys/"+tables, "", 0)
		}, check.Unobserved, suspects{odd: "does not list gpu-3/mlx5_1"}},
		"a table that cannot be read": {func(s *subnet) {
			s.instead["gpu-3 sh"] = says(s.verbs("gpu-3"), "grep: /sys/class/infiniband/mlx5_2/ports/1/pkeys: No such file or directory\n", 2)
		}, check.Unobserved, suspects{"gpu-3": "exit code 2"}},
		"no ibv_devinfo": {func(s *subnet) {
			s.instead["gpu-3 sh"] = says("", "sh: 1: ibv_devinfo: not found\n", 127)
		}, check.Unobserved, suspects{"gpu-3": "exit code 127"}},
		"a host that is gone": {func(s *subnet) {
			s.instead["gpu-3 sh"] = func() (ssh.Output, error) { return ssh.Output{}, errGone }
		}, check.Unobserved, suspects{"gpu-3": "unreachable"}},
		"a port that is down has its own finding only": {func(s *subnet) {
			l := s.of("gpu-3 mlx5_1")
			l.state, l.phys, l.rate = "Down", "Polling", 10
			s.mtu[odd], s.keys[odd] = 2048, []string{}
		}, check.Failed, suspects{odd: "Polling"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, of, p := railed(4, 2)
			tt.spoil(s)
			obs := lookAt(t, s, of, p)
			j := plan.Judge(fabric.New(of, p, onhost.Deps{}), obs)
			if j.Verdict != tt.verdict {
				t.Fatalf("%s: %s: %+v", j.Verdict, j.Reason, j.Findings)
			}
			tt.want.hold(t, j)
			if strings.HasPrefix(name, "a GUID") && !strings.Contains(j.Reason, "has the GUID") {
				t.Errorf("the reason is %s", j.Reason)
			}
			if strings.Contains(name, "down") && slices.ContainsFunc(j.Findings, func(f check.Finding) bool { return strings.Contains(f.Message, "MTU") }) {
				t.Errorf("%+v", j.Findings)
			}
		})
	}
}

// A bad transceiver raised counters that had no limit, and passed. A counter without a
// limit is reported.
func TestEachCounterIsJudgedOrReported(t *testing.T) {
	t.Parallel()
	p, err := profile.Load("h100-sxm-ndr400")
	if err != nil {
		t.Fatal(err)
	}
	for counter, verdict := range map[string]check.Verdict{
		"PortRcvRemotePhysicalErrors": check.Failed, "LocalLinkIntegrityErrors": check.Failed, "ExcessiveBufferOverrunErrors": check.Failed,
		"PortXmitConstraintErrors": check.Failed, "PortRcvConstraintErrors": check.Failed, "VL15Dropped": check.Failed,
		"QP1Dropped":               check.Passed,                               // without a limit
		"PortRcvSwitchRelayErrors": check.Passed, "PortXmitWait": check.Passed, // no errors
	} {
		t.Run(counter, func(t *testing.T) {
			t.Parallel()
			s, of, _ := railed(3, 2)
			s.stages = append(s.stages, "Nodes Information")
			by := map[string]int{"PortRcvErrors": 14, counter: 60000}
			s.of("gpu-2 mlx5_1").after[0], s.of("gpu-3 mlx5_1").after[1] = by, map[string]int{"PortRcvErrors": 14, counter: 5}
			j := plan.Judge(fabric.New(of, p, onhost.Deps{}), lookAt(t, s, of, p))
			if j.Verdict != verdict {
				t.Fatalf("%s: %s: %+v", j.Verdict, j.Reason, j.Findings)
			}
			want := suspects{}
			switch {
			case verdict == check.Failed:
				want["gpu-2/mlx5_1"] = counter + " of gpu-2/mlx5_1 grew by 60000 over the soak"
			case p.Fabric.NotErrors[counter] == "":
				want["gpu-2/mlx5_1"] = counter + " grew on 2 ports over the soak, most by 60000 on gpu-2/mlx5_1 .*no limit"
			}
			want.hold(t, j)
			if strings.Contains(counter, "Constraint") && !strings.Contains(j.Findings[0].Remedy, "partition") {
				t.Errorf("packets of another partition are not caused by the cable: %s", j.Findings[0].Remedy)
			}
		})
	}
}
