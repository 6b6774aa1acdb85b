package node_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/checktest"
	"github.com/firstlight/firstlight/internal/gate/node"
	"github.com/firstlight/firstlight/internal/plan"
	"github.com/firstlight/firstlight/internal/probe/nvidia"
	"github.com/firstlight/firstlight/internal/probe/ssh"
	"github.com/firstlight/firstlight/internal/profile"
)

// oneMachine are the observations of a healthy machine with NVLinks.
func oneMachine(t *testing.T, change func(*hostSeen)) []check.Observation {
	t.Helper()
	hosts := healthy(t, 1)
	if change != nil {
		change(hosts[0])
	}
	obs := append(observations(t, hosts), topologyOf(t, "NV18"))
	for i := range obs {
		obs[i].Check = "fabric"
	}
	return obs
}

// Data that a machine does not show is one finding with the reason.
func TestWhatAMachineDoesNotShow(t *testing.T) {
	t.Parallel()
	const noAnswer = "no answer"
	failed := func(kind string) func([]check.Observation) {
		return func(obs []check.Observation) {
			i := slices.IndexFunc(obs, func(o check.Observation) bool { return o.Kind == kind })
			obs[i].Figures, obs[i].Err = nil, noAnswer
		}
	}
	all := func(changes ...func([]check.Observation)) func([]check.Observation) {
		return func(obs []check.Observation) {
			for _, c := range changes {
				c(obs)
			}
		}
	}
	nvml := func(h *hostSeen) {
		h.Before = smiSeen{Trouble: nvidia.SMIErrors{NVML: "Driver/library version mismatch"}}
		h.Gone["nvidia-smi-after"] = true
	}
	for name, tt := range map[string]struct {
		host    func(*hostSeen)
		obs     func([]check.Observation)
		verdict check.Verdict
		says    string
		lacks   string
	}{
		"healthy":                      {nil, nil, check.Passed, "", ""},
		"GPUs":                         {func(h *hostSeen) { h.Gone["nvidia-smi-after"] = true }, failed("nvidia-smi"), check.Unobserved, "gpu-01: " + noAnswer, "has no document"},
		"a document of GPUs":           {func(h *hostSeen) { h.Before = smiSeen{}; h.Gone["nvidia-smi-after"] = true }, nil, check.Unobserved, "nvidia-smi has no document", noAnswer},
		"NVLinks":                      {nil, failed("nvidia-smi-nvlink"), check.Unobserved, "gpu-01: " + noAnswer, "not listed"},
		"paths":                        {nil, failed("nvidia-smi-topo"), check.Unobserved, "gpu-01: " + noAnswer, "matrix"},
		"anything, without NVML":       {nvml, all(failed("nvidia-smi-nvlink"), failed("nvidia-smi-topo")), check.Failed, "no GPU can be used: Driver/library version mismatch", noAnswer},
		"GPUs, with two causes merged": {func(h *hostSeen) { h.Gone["nvidia-smi-after"] = true }, all(failed("nvidia-smi"), failed("nvidia-smi-topo")), check.Unobserved, "gpu-01: " + noAnswer, "has no document"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			obs := oneMachine(t, tt.host)
			if tt.obs != nil {
				tt.obs(obs)
			}
			j := plan.Judge(node.NewLinks(testSite(1), testProfile(t), node.Deps{}), obs)
			if j.Verdict != tt.verdict {
				t.Fatalf("%s, want %s: %+v", j.Verdict, tt.verdict, j.Findings)
			}
			if tt.verdict == check.Passed {
				return
			}
			if len(j.Findings) != 1 || j.Findings[0].Suspect != "gpu-01" || !strings.Contains(j.Findings[0].Message, tt.says) || tt.lacks != "" && strings.Contains(j.Findings[0].Message, tt.lacks) {
				t.Errorf("%+v, want %q alone", j.Findings, tt.says)
			}
		})
	}
}

// The gate is of one machine with two GPUs or more, that have NVLinks.
func TestWhichMachinesHaveNVLinks(t *testing.T) {
	t.Parallel()
	of := func(gpus, links float64) *profile.Profile {
		p := testProfile(t)
		p.Node.GPUs.Value, p.GPU.NVLinks.Value = gpus, links
		return p
	}
	two := oneMachine(t, func(h *hostSeen) {
		for range gpusPerNode - 2 {
			h.lose(2)
		}
	})
	rows := slices.IndexFunc(two, func(o check.Observation) bool { return o.Kind == "nvidia-smi-topo" })
	var err error
	if two[rows], err = two[rows].WithFigures(map[string]any{"gpus": []map[string]any{{"index": 0, "paths": map[string]string{"GPU1": "NV18"}}, {"index": 1, "paths": map[string]string{"GPU0": "NV18"}}}}); err != nil {
		t.Fatal(err)
	}
	one := oneMachine(t, func(h *hostSeen) {
		for range gpusPerNode - 1 {
			h.lose(1)
		}
	})
	none := oneMachine(t, func(h *hostSeen) {
		for i := range h.Links.GPUs {
			h.Links.GPUs[i].Links = nil
		}
	})
	for name, tt := range map[string]struct {
		profile *profile.Profile
		obs     []check.Observation
		want    check.Verdict
	}{
		"eight GPUs": {of(8, linksPerGPU), oneMachine(t, nil), check.Passed},
		"two GPUs":   {of(2, linksPerGPU), two, check.Passed},
		"one GPU":    {of(1, linksPerGPU), one, check.Unobserved},
		"no NVLinks": {of(8, 0), none, check.Unobserved},
	} {
		if j := plan.Judge(node.NewLinks(testSite(1), tt.profile, node.Deps{}), tt.obs); j.Verdict != tt.want || tt.want != check.Passed && !strings.Contains(j.Reason, "want one node with NVLinks") {
			t.Errorf("%s: %s: %s %+v", name, j.Verdict, j.Reason, j.Findings)
		}
	}
}

// One bridge is enough, whatever the other paths are.
func TestABridgeAmongUnknownPaths(t *testing.T) {
	t.Parallel()
	p := testProfile(t)
	p.Node.NVLinkDomain = nil
	path := func(other int, to any) checktest.Change {
		return checktest.Set("nvidia-smi-topo", fmt.Sprintf(`.gpus[0].paths.GPU%d`, other), to)
	}
	l := node.NewLinks(testSite(1), p, node.Deps{})
	checktest.Rules(t, func(obs []check.Observation) check.Judgement { return plan.Judge(l, obs) }, oneMachine(t, nil), []checktest.Rule{
		checktest.When("one bridge, one unknown path, the rest over PCIe", path(2, checktest.LeftOut), path(3, "SYS"), path(4, "SYS"), path(5, "SYS"), path(6, "SYS"), path(7, "SYS")).Passes(),
		checktest.When("two unknown paths, the rest over PCIe", path(1, checktest.LeftOut), path(2, checktest.LeftOut), path(3, "SYS"), path(4, "SYS"), path(5, "SYS"), path(6, "SYS"), path(7, "SYS")).Unobserved("gpu-01/gpu0", "its path to 2 other GPUs"),
	})
}

// A machine is asked for its GPUs, their NVLinks and their paths. Output that cannot be read is the error of the
// observation, and an error of the store ends the gate.
func TestObserveNVLinks(t *testing.T) {
	t.Parallel()
	answers := outputs(t)
	var ran []string
	hosts := fakeHosts{run: func(_ context.Context, _, line string) (ssh.Output, error) {
		ran = append(ran, line)
		if out, ok := answers[line]; ok {
			return out, nil
		}
		return ssh.Output{Stdout: []byte("not a matrix\n")}, nil
	}}
	l, rec := node.NewLinks(testSite(1), testProfile(t), node.Deps{Hosts: hosts}), &recorder{}
	if err := l.Observe(t.Context(), rec); err != nil || l.Name() != "fabric" {
		t.Fatal(err)
	}
	if want := []string{"nvidia-smi -q -x", "nvidia-smi nvlink -s", strings.Join(nvidia.TopologyCommand(), " ")}; !slices.Equal(ran, want) {
		t.Errorf("%q, want %q", ran, want)
	}
	if got := rec.kindsOf("gpu-01"); !slices.Equal(got, []string{"nvidia-smi", "nvidia-smi-nvlink", "nvidia-smi-topo!"}) {
		t.Errorf("%q", got)
	}
	if text := rec.obs[len(rec.obs)-1].Err; !strings.Contains(text, "nvidia-smi topo -m exited 0: ") {
		t.Errorf("output without a matrix: %q", text)
	}
	ran = nil
	full := errors.New("disk full")
	if err := l.Observe(t.Context(), &recorder{err: full}); !errors.Is(err, full) || len(ran) != 1 {
		t.Errorf("%v after %q", err, ran)
	}
	if err := node.NewLinks(testSite(1), testProfile(t), node.Deps{}).Observe(t.Context(), rec); err == nil || !strings.Contains(err.Error(), "Deps.Hosts must be set") {
		t.Errorf("without hosts: %v", err)
	}
}
