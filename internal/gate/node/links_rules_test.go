package node_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/checktest"
	"github.com/firstlight/firstlight/internal/gate/node"
	"github.com/firstlight/firstlight/internal/plan"
	"github.com/firstlight/firstlight/internal/profile"
)

// topologyOf has a path of this kind between every two of eight GPUs.
func topologyOf(t *testing.T, path string) check.Observation {
	t.Helper()
	type row struct {
		Index int               `json:"index"`
		Paths map[string]string `json:"paths"`
	}
	var rows []row
	for i := range 8 {
		r := row{Index: i, Paths: map[string]string{"mlx5_0": "PIX"}}
		for other := range 8 {
			r.Paths[fmt.Sprintf("GPU%d", other)] = path
		}
		r.Paths[fmt.Sprintf("GPU%d", i)] = "X"
		rows = append(rows, r)
	}
	o, err := check.Observation{ID: "topo", Check: "fabric", Kind: "nvidia-smi-topo", Target: "gpu-01"}.WithFigures(map[string]any{"gpus": rows})
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// NVSwitches join every two GPUs by NVLink; bridges join each GPU with another one.
func TestPathsOfNVLink(t *testing.T) {
	t.Parallel()
	const topo = "nvidia-smi-topo"
	switched := testProfile(t)
	bridged := *switched
	bridged.Node.NVLinkDomain = nil
	to := func(i int, other string, path any) checktest.Change {
		return checktest.Set(topo, fmt.Sprintf(`.gpus[%d].paths["%s"]`, i, other), path)
	}
	var alone, unseen, pair []checktest.Change
	for i := 1; i < 8; i++ {
		alone, unseen = append(alone, to(0, fmt.Sprintf("GPU%d", i), "SYS")), append(unseen, to(0, fmt.Sprintf("GPU%d", i), checktest.LeftOut))
		if i > 1 {
			pair = append(pair, to(0, fmt.Sprintf("GPU%d", i), "SYS"))
		}
	}
	partly := append(slices.Clone(alone[:6]), unseen[6])
	run := func(name string, l *node.Links, rules []checktest.Rule) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			obs := append(observations(t, healthy(t, 1)), topologyOf(t, "NV18"))
			for i := range obs {
				obs[i].Check = l.Name()
			}
			if j := plan.Judge(l, obs); j.Verdict != check.Passed {
				t.Fatalf("healthy: %s: %s: %+v", j.Verdict, j.Reason, j.Findings)
			}
			checktest.Rules(t, func(obs []check.Observation) check.Judgement { return plan.Judge(l, obs) }, obs, rules)
		})
	}
	run("switched", node.NewLinks(testSite(1), switched, node.Deps{}), []checktest.Rule{
		checktest.When("one pair over PCIe", to(0, "GPU1", "SYS")).Fails("gpu-01/gpu0", "no NVLink path to GPU1 (SYS), expected NVLink between any two GPUs"),
		checktest.When("no links", to(7, "GPU6", "NV0")).Fails("gpu-01/gpu7", "GPU6 (NV0)"),
		checktest.When("fewer links are a path", to(0, "GPU1", "NV4")).Passes(),
		checktest.When("text after a path", to(0, "GPU1", "NV18x")).Fails("gpu-01/gpu0", "GPU1 (NV18x)"),
		checktest.When("a path that is not shown", to(0, "GPU1", checktest.LeftOut)).Unobserved("gpu-01/gpu0", "its path to 1 other GPUs is not in the matrix"),
		checktest.When("a GPU that is not shown", checktest.Set(topo, ".gpus[0]", checktest.LeftOut)).Unobserved("gpu-01/gpu0", "its path to 7 other GPUs"),
		checktest.When("a path to itself is not compared", to(0, "GPU0", "SYS")).Passes(),
		checktest.When("a path to an adapter is not compared", to(0, "mlx5_0", "SYS")).Passes(),
	})
	run("bridged", node.NewLinks(testSite(1), &bridged, node.Deps{}), []checktest.Rule{
		checktest.When("one pair over PCIe", to(0, "GPU1", "SYS")).Passes(),
		checktest.When("one bridge", pair...).Passes(),
		checktest.When("no bridge", alone...).Fails("gpu-01/gpu0", "expected NVLink from each GPU to another"),
		checktest.When("no bridge is shown", unseen...).Unobserved("gpu-01/gpu0", "its path to 7 other GPUs"),
		checktest.When("a bridge may exist", partly...).Unobserved("gpu-01/gpu0", "its path to 1 other GPUs"),
		checktest.When("a path that is not shown", to(0, "GPU1", checktest.LeftOut)).Passes(),
	})
	two := plan.Judge(node.NewLinks(testSite(2), switched, node.Deps{}), append(observations(t, healthy(t, 2)), topologyOf(t, "NV18")))
	if two.Verdict != check.Unobserved {
		t.Errorf("two nodes: %s", two.Verdict)
	}
	obs := append(observations(t, healthy(t, 1)), topologyOf(t, "NV18"))
	for i := range obs {
		obs[i].Check = "fabric"
		without := slices.Delete(slices.Clone(obs), i, i+1)
		needed := slices.Contains([]string{"nvidia-smi", "nvidia-smi-nvlink", "nvidia-smi-topo"}, obs[i].Kind)
		if needed {
			for k := range without {
				without[k].Check = "fabric"
			}
			if j := plan.Judge(node.NewLinks(testSite(1), switched, node.Deps{}), without); j.Verdict != check.Unobserved {
				t.Errorf("without %s: %s", obs[i].Kind, j.Verdict)
			}
		}
	}
}

// A counter of errors of NVLink 5 fails that grows: on healthy links they are 0 (p6-b300.48xlarge with driver 595, and
// 320 GPUs of GB200, marin-community/marin issue 9086). Recoveries that succeed are in their total, discards of a sender
// do not count as errors of a link, and effective errors are those before the link repeats what it lost; symbol errors are the rest.
func TestCountersOfNVLink5(t *testing.T) {
	t.Parallel()
	for _, gpus := range []string{"b200-sxm-ndr400", "gb200-nvl72-ndr400"} {
		nvlink5, err := profile.Load(gpus)
		if err != nil {
			t.Fatal(err)
		}
		p := testProfile(t)
		p.GPU.NVLinkErrorLimits = nvlink5.GPU.NVLinkErrorLimits
		for name, want := range map[string]check.Verdict{
			"Malformed packet Errors": check.Failed, "Buffer overrun Errors": check.Failed, "Rx Errors": check.Failed, "Rx remote Errors": check.Failed,
			"Rx General Errors": check.Failed, "Local link integrity Errors": check.Failed, "Link recovery failed events": check.Failed,
			"Total link recovery events": check.Failed, "Symbol Errors": check.Failed,
			"Tx discards": check.Passed, "Link recovery successful events": check.Passed, "Effective Errors": check.Passed,
		} {
			hosts := healthy(t, 2)
			for _, h := range hosts {
				for _, counted := range []*countedSeen{&h.CountedBefore, &h.CountedAfter} {
					for i := range counted.GPUs {
						for l := range counted.GPUs[i].Links {
							counters := map[string]int64{name: 7}
							for other := range p.GPU.NVLinkErrorLimits {
								counters[other] = 7
							}
							counted.GPUs[i].Links[l].Counters = counters
						}
					}
				}
			}
			hosts[1].CountedAfter.GPUs[2].Links[4].Counters[name] = 8
			if j := plan.Judge(node.New(testSite(2), p, node.Deps{}), observations(t, hosts)); j.Verdict != want {
				t.Errorf("%s: %s grew: %s, want %s: %+v", gpus, name, j.Verdict, want, j.Findings)
			}
		}
	}
}
