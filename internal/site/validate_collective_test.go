package site

import (
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/firstlight/firstlight/internal/profile"
)

// The all-reduce runs first, whether or not the suite names it, and the order is not the site's.
func TestCollectives(t *testing.T) {
	t.Parallel()
	for suite, want := range map[string]string{
		"":                      "all-reduce",
		"all-reduce":            "all-reduce",
		"sendrecv":              "all-reduce sendrecv",
		"all-to-all all-gather": "all-reduce all-gather all-to-all",
		"sendrecv all-to-all reduce-scatter all-gather all-reduce": strings.Join(profile.CollectiveNames(), " "),
	} {
		c := CollectiveWorkload{Suite: strings.Fields(suite)}
		if got := c.Collectives(); !slices.Equal(got, strings.Fields(want)) {
			t.Errorf("%q: %v, want %s", suite, got, want)
		}
	}
}

// A suite with an unknown collective, or by rail without rails, is refused with the reason.
func TestCollectiveSuite(t *testing.T) {
	t.Parallel()
	example := strings.Replace(string(Example()), "    # minBytes and maxBytes default", "    SUITE\n    # minBytes and maxBytes default", 1)
	single := strings.Replace(string(SingleNodeFile("gpu-01", singleNodeProfile(t, "h100-sxm"))), "timeout: 30m", "timeout: 30m\n    SUITE", 1)
	nvl72 := strings.NewReplacer("profile: h100-sxm-ndr400", "profile: gb200-nvl72-ndr400", ", mlx5_4, mlx5_5, mlx5_6, mlx5_7", "").Replace(example)
	for name, tt := range map[string]struct{ file, suite, want string }{
		"by NVLink domain":            {nvl72, "byNVLinkDomain: true", ""},
		"by NVLink domain, on boards": {example, "byNVLinkDomain: true", "workloads.collective.byNVLinkDomain: needs NVLink between nodes (node.nvlinkDomain above 1), which profile h100-sxm-ndr400 does not have; remove it"},
		"by NVLink domain, not used":  {nvl72 + "\nnvlink: {imex: none}\n", "byNVLinkDomain: true", "contradicts nvlink.imex: none"},
		"by NVLink domain, one node":  {single, "byNVLinkDomain: true", "workloads.collective.byNVLinkDomain: has no effect with spine single-node"},
		"by rail and NVLink domain":   {nvl72, "byNVLinkDomain: true\n    byRail: true", "is not supported where NVLink connects nodes"},
		"by NVLink domain, groups":    {nvl72 + "\ngroups: [{name: h200, profile: h200-sxm-ndr400, nodes: [gpu-03, gpu-04]}]\n", "byNVLinkDomain: true", "workloads.collective.byNVLinkDomain: is not supported with groups"},
		"all":                         {example, "suite: [all-reduce, all-gather, reduce-scatter, all-to-all, sendrecv]", ""},
		"by rail":                     {example, "byRail: true", ""},
		"on one node":                 {single, "suite: [all-to-all, sendrecv]", ""},
		"by rail, one node":           {single, "byRail: true", "workloads.collective.byRail: has no effect with spine single-node"},
		"unknown":                     {example, "suite: [alltoall]", `workloads.collective.suite.0: "alltoall" is not one of`},
		"named twice":                 {example, "suite: [sendrecv, sendrecv]", "workloads.collective.suite.1: duplicate value"},
		"one rail":                    {strings.Replace(example, "hcas: [mlx5_0,", "hcas: [mlx5_0] #", 1), "byRail: true", "needs at least two rails"},
		"an empty name":               {example, `suite: [""]`, "is empty"},
		"an unknown key":              {example, "suites: [sendrecv]", "suites"},
		"no list":                     {example, "suite: sendrecv", "is not a list"},
		"a fabric of a cloud":         {strings.Replace(example, "profile: h100-sxm-ndr400", "profile: h100-sxm-efa-p5", 1), "byRail: true", "needs a fabric of InfiniBand or RoCE"},
	} {
		_, err := Parse("site.yaml", []byte(strings.Replace(tt.file, "SUITE", tt.suite, 1)))
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
	}
}

// A profile of an earlier version has no rule for a collective without a published figure.
func TestSuiteWithoutALimit(t *testing.T) {
	t.Parallel()
	p := singleNodeProfile(t, "h100-sxm")
	p.Collective.SuiteFloor = nil
	s := &Site{Inventory: Inventory{Nodes: []Node{{Name: "gpu-01"}}}}
	s.Workloads.Collective.Suite = []string{profile.AllReduce, profile.SendRecv}
	v := &validator{root: &yaml.Node{}}
	v.suite(s, p)
	if len(v.problems) != 1 || !strings.Contains(v.problems[0].Message, "no figure of sendrecv on 1 nodes and no rule") {
		t.Errorf("%v", v.problems)
	}
}
