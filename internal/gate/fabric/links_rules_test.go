package fabric_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/checktest"
	"github.com/firstlight/firstlight/internal/gate/fabric"
	"github.com/firstlight/firstlight/internal/gate/onhost"
	"github.com/firstlight/firstlight/internal/plan"
	"github.com/firstlight/firstlight/internal/site"
)

// TestNameRules: which end of a link an output names.
func TestNameRules(t *testing.T) {
	t.Parallel()
	const none = "0x0000000000000000"
	checktest.Rules(t, judge, look(t, newSubnet()), []checktest.Rule{
		checktest.When("a link of an adapter without GUIDs is found by its description",
			checktest.Set("ibstat@gpu-01", `[0].nodeGUID`, ""), checktest.Set("ibstat@gpu-01", `[0].ports[0].portGUID`, "")).Unobserved("gpu-01/mlx5_0", "shows no GUID"),
		checktest.When("a port's GUID is unique, too",
			checktest.Set("ibstat", `[0].ports[0].portGUID`, "0x00000000000000aa")).Fails("gpu-02/mlx5_0", "has the GUID 0x00000000000000aa, which gpu-01/mlx5_0 has too"),
		checktest.When("a GUID of more than 64 bits names no adapter",
			checktest.Set("ibstat", `[0].ports[0].portGUID`, "0x1a088c20300d70000")).Unobserved("gpu-01/mlx5_0", "shows no GUID"),
		checktest.When("a GUID of more than 64 bits names no end of a link", checktest.Set("ibstat@gpu-01", `[0].nodeGUID`, "0x1a088c20300d70000"),
			checktest.Set("iblinkinfo", `[*].guid`, "0x1a088c20300d70000"), checktest.Set("iblinkinfo", `[*].peerGUID`, "0x1a088c20300d70000")).Unobserved("gpu-01/mlx5_0", "shows no GUID"),
		checktest.When("a GUID of zeros names no adapter",
			checktest.Set("ibstat@gpu-01", `[0].nodeGUID`, none), checktest.Set("iblinkinfo", `[*].guid`, none), checktest.Set("iblinkinfo", `[*].peerGUID`, none)).Unobserved("gpu-01/mlx5_0", "shows no GUID"),
	})
	for state, want := range map[string]string{"Initialize": "subnet manager", "Armed": "subnet manager", "Down": "storage-1/mlx5_0"} {
		s := newSubnet()
		s.guids["storage-1 mlx5_0"] = 0xa088c20300d90000
		s.link("storage-1 mlx5_0", 1, "leaf-0", 40)
		l := s.of("storage-1 mlx5_0")
		l.state = state
		if j := judge(look(t, s)); j.Verdict != check.Failed || j.Findings[0].Suspect != want || !strings.Contains(j.Findings[0].Message, "storage-1/mlx5_0 to leaf-0/port40") {
			t.Errorf("a link of an unknown adapter that is %s: %s: %+v", state, j.Verdict, j.Findings)
		}
	}
}

// An aggregation node is inside a switch: its counters are of no cable.
func TestCountersOfAggregationNodesAreNotJudged(t *testing.T) {
	t.Parallel()
	for node, want := range map[string]check.Verdict{"Mellanox Technologies Aggregation Node": check.Passed, "storage-1 mlx5_0": check.Failed} {
		s := newSubnet()
		s.guids[node] = 0xb0
		s.link(node, 1, "leaf-0", 65)
		of, p := declared()
		if want == check.Failed {
			of.Fabric.Links++
		}
		s.of(node).after[0] = map[string]int{"SymbolErrorCounter": 9, "PortRcvErrors": 14}
		if j := plan.Judge(fabric.New(of, p, onhost.Deps{}), lookAt(t, s, of, p)); j.Verdict != want {
			t.Errorf("%s: %s: %+v", node, j.Verdict, j.Findings)
		}
	}
}

func TestTheOnlyPortIsAMemberOfAPartition(t *testing.T) {
	t.Parallel()
	s, of, p := railed(1, 1)
	s.keys["gpu-1/mlx5_0"] = []string{"0x7fff"}
	j := plan.Judge(fabric.New(of, p, onhost.Deps{}), lookAt(t, s, of, p))
	if j.Verdict != check.Failed || j.Findings[0].Suspect != "subnet manager" {
		t.Errorf("%s: %+v", j.Verdict, j.Findings)
	}
}

// A leaf with different HCAs has one finding, however many adapters are at it.
func TestAMixedLeafHasOneFinding(t *testing.T) {
	t.Parallel()
	for topology, verdict := range map[string]check.Verdict{site.RailOptimised: check.Failed, "": check.Passed} {
		s, of, p := cabled(6, 2, func(n, k int) int { return (k + n/3) % 2 })
		of.Fabric.Topology = topology
		j := plan.Judge(fabric.New(of, p, onhost.Deps{}), lookAt(t, s, of, p))
		if j.Verdict != verdict || len(j.Findings) != 2 {
			t.Errorf("topology %q: %s: %+v", topology, j.Verdict, j.Findings)
		}
		suspects{"leaf-0": "different HCAs of its 6 nodes: mlx5_0 of 3, mlx5_1 of 3", "leaf-1": "different HCAs"}.hold(t, j)
	}
}

// A node is cabled like its neighbours if at least half of a leaf's nodes are: a third of
// them are not enough to judge the leaf of each adapter.
func TestNodesAreAlikeFromHalfOn(t *testing.T) {
	t.Parallel()
	s, of, p := cabled(6, 3, func(n, k int) int { return (k + n/2) % 3 })
	j := plan.Judge(fabric.New(of, p, onhost.Deps{}), lookAt(t, s, of, p))
	if j.Verdict != check.Passed {
		t.Errorf("%s: %s", j.Verdict, j.Reason)
	}
	suspects{"fabric": "0 of 6 nodes are cabled like their neighbours"}.hold(t, j)
}

// A pair of switches with an additional link does not make suspects of the others.
func TestAnAdditionalLinkOfOnePairIsNotTheUsualNumber(t *testing.T) {
	t.Parallel()
	s, of, p := railed(3, 3)
	s.link("leaf-0", 1001, "spine", 1001)
	j := plan.Judge(fabric.New(of, p, onhost.Deps{}), lookAt(t, s, of, p))
	if j.Verdict != check.Failed {
		t.Errorf("%s: %s", j.Verdict, j.Reason)
	}
	suspects{"fabric": "13 links are up, the site expects 12"}.hold(t, j)
}

// Switches that are neither leaf nor spine of the site's nodes, and uplinks that do not divide, pass.
func TestLinksBetweenSwitches(t *testing.T) {
	t.Parallel()
	storageLeaf := func(s *subnet, of *site.Site) {
		s.guids["leaf-9"] = 0xa088c20300d90000
		s.link("leaf-9", 33, "spine-0", 9)
		of.Fabric.Switches, of.Fabric.Links = append(of.Fabric.Switches, "leaf-9"), of.Fabric.Links+1
		s.nodes, s.summary = [2]int{8, 8}, strings.NewReplacer(": 7", ": 8", ": 3", ": 4").Replace(s.summary)
	}
	// five uplinks of each leaf to two spines
	unequal := func(s *subnet, of *site.Site) {
		s.guids["spine-1"] = 0xa088c20300d90000
		for port, spines := range []string{"10", "01", "10", "01"} { // of leaf-0 and leaf-1; each has one to spine-0 already
			for leaf := range 2 {
				s.link("leaf-"+string(rune('0'+leaf)), 40+port, "spine-"+string(spines[leaf]), 40+10*leaf+port)
			}
		}
		of.Fabric.Switches, of.Fabric.Links = append(of.Fabric.Switches, "spine-1"), of.Fabric.Links+8
		s.nodes, s.summary = [2]int{8, 8}, strings.NewReplacer(": 7", ": 8", ": 3", ": 4").Replace(s.summary)
	}
	down := func(end string) func(*subnet) {
		return func(s *subnet) {
			i := slices.IndexFunc(s.links, func(l *cable) bool { return l.a+" "+l.b == end })
			s.links[i].state, s.links[i].phys = "Down", "Polling"
		}
	}
	for name, tt := range map[string]struct {
		shape   func(*subnet, *site.Site)
		spoil   func(*subnet)
		verdict check.Verdict
		suspect string
		message string
	}{
		"a leaf without a node of the site":                  {storageLeaf, func(*subnet) {}, check.Passed, "", ""},
		"a leaf without a node of the site, an uplink down":  {storageLeaf, down("leaf-1 spine-0"), check.Failed, "leaf-1 to spine-0", "have 0 links between them, other pairs have 1"},
		"the leaf without a node of the site has no uplinks": {storageLeaf, down("leaf-9 spine-0"), check.Failed, "fabric", "6 links are up, the site expects 7"},
		"uplinks that do not divide":                         {unequal, func(*subnet) {}, check.Passed, "", ""},
		"uplinks that do not divide, one of two down":        {unequal, down("leaf-0 spine-1"), check.Failed, "leaf-0 to spine-1", "have 1 links between them, other pairs have 3"},
		"uplinks that do not divide, one of three down":      {unequal, down("leaf-0 spine-0"), check.Failed, "fabric", "13 links are up, the site expects 14"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSubnet()
			of, p := declared()
			tt.shape(s, of)
			tt.spoil(s)
			checktest.Judged(t, plan.Judge(fabric.New(of, p, onhost.Deps{}), lookAt(t, s, of, p)), tt.verdict, tt.suspect, tt.message)
		})
	}
}

// With a design, each cable is compared with it: pairs of switches may have any number of links.
func TestLinksBetweenSwitchesAsDesigned(t *testing.T) {
	t.Parallel()
	s := newSubnet()
	of, p := declared()
	s.guids["spine-1"] = 0xa088c20300d90000
	for port, ends := range [][2]string{{"leaf-0", "spine-0"}, {"leaf-1", "spine-0"}, {"leaf-0", "spine-1"}, {"leaf-0", "spine-1"}, {"leaf-1", "spine-1"}} {
		s.link(ends[0], 40+port, ends[1], 40+port)
	}
	of.Fabric.Switches, of.Fabric.Links = append(of.Fabric.Switches, "spine-1"), of.Fabric.Links+5
	s.nodes, s.summary = [2]int{8, 8}, strings.NewReplacer(": 7", ": 8", ": 3", ": 4").Replace(s.summary)
	judged := func() check.Judgement { return plan.Judge(fabric.New(of, p, onhost.Deps{}), lookAt(t, s, of, p)) }
	checktest.Judged(t, judged(), check.Failed, "leaf-1 to spine-1", "have 1 links between them, other pairs have 2")
	of.Fabric.Design = filepath.Join(t.TempDir(), "design.txt")
	if err := os.WriteFile(of.Fabric.Design, []byte(s.ibnetdiscover()), 0o600); err != nil {
		t.Fatal(err)
	}
	checktest.Judged(t, judged(), check.Passed, "", "")
	l := s.links[len(s.links)-1]
	l.state, l.phys = "Down", "Polling"
	checktest.Judged(t, judged(), check.Failed, "leaf-1/port44", "missing cable")
}

// A counter whose maximum is not known is judged by its growth alone.
func TestACounterWithoutAKnownMaximumIsJudgedByItsGrowth(t *testing.T) {
	t.Parallel()
	of, p := declared()
	p.Fabric.CounterLimits["QP1Dropped"] = p.Fabric.CounterLimits["SymbolErrorCounter"]
	s := newSubnet()
	if j := plan.Judge(fabric.New(of, p, onhost.Deps{}), lookAt(t, s, of, p)); j.Verdict != check.Passed {
		t.Errorf("%s: %+v", j.Verdict, j.Findings)
	}
	s = newSubnet()
	s.of("leaf-0").after[0] = map[string]int{"QP1Dropped": 1, "PortRcvErrors": 14}
	if j := plan.Judge(fabric.New(of, p, onhost.Deps{}), lookAt(t, s, of, p)); j.Verdict != check.Failed || j.Findings[0].Suspect != "leaf-0/port33" {
		t.Errorf("%s: %+v", j.Verdict, j.Findings)
	}
}

// A subnet manager that stopped answering is not also one whose activity does not grow.
func TestASilentSubnetManagerHasNoActivity(t *testing.T) {
	t.Parallel()
	all := look(t, newSubnet())
	for i, o := range slices.Backward(all) {
		if o.Kind != "sminfo" {
			continue
		}
		var err error
		if all[i], err = o.WithFigures(map[string]any{"answered": false}); err != nil {
			t.Fatal(err)
		}
		break
	}
	j := judge(all)
	if j.Verdict != check.Failed {
		t.Errorf("%s: %s", j.Verdict, j.Reason)
	}
	for _, f := range j.Findings {
		if strings.Contains(f.Message, "activity") {
			t.Errorf("%s: %s", f.Suspect, f.Message)
		}
	}
}
