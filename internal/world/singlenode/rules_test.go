package singlenode

import (
	"fmt"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/checktest"
	"github.com/firstlight/firstlight/internal/gate/collective"
	"github.com/firstlight/firstlight/internal/gate/node"
	"github.com/firstlight/firstlight/internal/plan"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
)

// book records observations.
type book struct{ obs []check.Observation }

func (b *book) Record(o check.Observation) (check.Observation, error) {
	o.ID = fmt.Sprintf("%04d", len(b.obs)+1)
	b.obs = append(b.obs, o)
	return o, nil
}

func (b *book) Progress(string, ...any) {}

// of are the site and the profile of a machine.
func (m *machine) of() (*site.Site, *profile.Profile) {
	m.t.Helper()
	p, err := profile.Load(m.world.Spec().Hardware)
	if err != nil {
		m.t.Fatal(err)
	}
	s, err := site.Parse("single-node.yaml", m.file(p))
	if err != nil {
		m.t.Fatal(err)
	}
	return s, p
}

// observed are the observations of a gate on a healthy machine.
func observed(t *testing.T, c check.Check) []check.Observation {
	t.Helper()
	var b book
	if err := c.Observe(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	return b.obs
}

func judgeOf(c check.Check) func([]check.Observation) check.Judgement {
	return func(obs []check.Observation) check.Judgement { return plan.Judge(c, obs) }
}

func links(t *testing.T) (*node.Links, []check.Observation) {
	t.Helper()
	m := newMachine(t, "h100-sxm")
	s, p := m.of()
	l := node.NewLinks(s, p, node.Deps{Hosts: m})
	return l, observed(t, l)
}

const topo, smi, nvlink = "nvidia-smi-topo", "nvidia-smi", "nvidia-smi-nvlink"

func TestLinksRules(t *testing.T) {
	t.Parallel()
	l, obs := links(t)
	checktest.Rules(t, judgeOf(l), obs, []checktest.Rule{
		checktest.When("each link is active", checktest.Set(nvlink, `.gpus[3].links[last].active`, false)).Fails("gpu-01/gpu3", "link 17 is down"),
		checktest.When("each link runs at its rate", checktest.Set(nvlink, `.gpus[3].links[0].gbps`, 20)).Fails("gpu-01/gpu3", "runs at 20 GB/s"),
		checktest.When("each GPU has its links", checktest.Set(nvlink, `.gpus[0].links[0]`, checktest.LeftOut)).Fails("gpu-01/gpu0", "has 17 NVLinks"),
		checktest.When("each GPU lists its links", checktest.Set(nvlink, `.gpus[7]`, checktest.LeftOut)).Unobserved("gpu-01/gpu7", "NVLinks are not listed"),
		checktest.When("each GPU is present", checktest.Set(smi, `.log.gpus[7]`, checktest.LeftOut)).Fails("gpu-01", "lists 7 GPUs"),
		checktest.When("each two GPUs have NVLink between them", checktest.Set(topo, `.gpus[2].paths.GPU5`, "SYS")).Fails("gpu-01/gpu2", "no NVLink path to GPU5 (SYS)"),
		checktest.When("a path that is not shown is unknown", checktest.Set(topo, `.gpus[2].paths.GPU5`, checktest.LeftOut)).Unobserved("gpu-01/gpu2", "path to 1 other GPUs"),
		checktest.When("each GPU has a row of the matrix", checktest.Set(topo, `.gpus[6]`, checktest.LeftOut)).Unobserved("gpu-01/gpu6", "path to 7 other GPUs"),
		checktest.When("an empty matrix shows nothing", checktest.Set(topo, `.gpus`, []any{})).Unobserved("gpu-01/gpu0", "path to 7 other GPUs"),
		checktest.When("without a document the GPUs are unknown", checktest.Set(smi, `.log`, checktest.LeftOut)).Unobserved("gpu-01", "has no document"),
	})
}

// Bridges join pairs of GPUs: each GPU needs one path over NVLink.
func TestBridges(t *testing.T) {
	t.Parallel()
	m := newMachine(t, "h100-sxm")
	s, p := m.of()
	own := *p
	own.Node.NVLinkDomain = nil
	l := node.NewLinks(s, &own, node.Deps{Hosts: m})
	var rules []checktest.Change
	for other := 1; other < 8; other++ {
		rules = append(rules, checktest.Set(topo, fmt.Sprintf(`.gpus[0].paths.GPU%d`, other), "NODE"))
	}
	checktest.Rules(t, judgeOf(l), observed(t, l), []checktest.Rule{
		checktest.When("one path is enough", rules[:6]...).Passes(),
		checktest.When("no path is a bridge that is missing", rules...).Fails("gpu-01/gpu0", "expected NVLink from each GPU to another"),
		checktest.When("one path is enough, if others are unknown", checktest.Set(topo, `.gpus[0].paths.GPU1`, checktest.LeftOut)).Passes(),
		checktest.When("a path that is not shown may be the bridge", append(rules[:6:6], checktest.Set(topo, `.gpus[0].paths.GPU7`, checktest.LeftOut))...).Unobserved("gpu-01/gpu0", "path to 1 other GPUs"),
	})
}

// A gate without one of its observations is unobserved.
func TestMissing(t *testing.T) {
	t.Parallel()
	l, obs := links(t)
	c, run := local(t)
	for name, of := range map[string]struct {
		judge func([]check.Observation) check.Judgement
		obs   []check.Observation
	}{"fabric": {judgeOf(l), obs}, "collective": {judgeOf(c), run}} {
		for i, o := range of.obs {
			without := append(append([]check.Observation{}, of.obs[:i]...), of.obs[i+1:]...)
			if j := of.judge(without); j.Verdict != check.Unobserved {
				t.Errorf("%s without %s: %s", name, o.Kind, j.Verdict)
			}
			failed := append([]check.Observation{}, of.obs...)
			failed[i].Err, failed[i].Figures = "no answer", nil
			if j := of.judge(failed); j.Verdict != check.Unobserved || !strings.Contains(j.Findings[0].Message, "no answer") {
				t.Errorf("%s with a failed %s: %s: %+v", name, o.Kind, j.Verdict, j.Findings)
			}
		}
		if j := of.judge(nil); j.Verdict != check.Unobserved {
			t.Errorf("%s without observations: %s", name, j.Verdict)
		}
	}
}

func local(t *testing.T) (*collective.Local, []check.Observation) {
	t.Helper()
	m := newMachine(t, "h100-sxm")
	s, p := m.of()
	c := collective.NewLocal(s, p, m)
	return c, observed(t, c)
}

const run, apps = collective.KindRun, collective.KindProcesses

func TestLocalRules(t *testing.T) {
	t.Parallel()
	c, obs := local(t)
	checktest.Rules(t, judgeOf(c), obs, []checktest.Rule{
		checktest.When("no other program uses the GPUs", checktest.Set(apps, `.running`, []string{"4021, python3, 60000 MiB"})).Unobserved("gpu-01", "python3"),
		checktest.When("GPUs reach each other as peers", checktest.Set(run, `.nccl.channels[0].transport`, "SHM/direct/direct")).Fails("gpu-01", "run over SHM/direct/direct, expected P2P"),
		checktest.When("a run by multicast alone has no channels", checktest.Set(run, `.nccl.channels`, []any{})).Passes(),
		checktest.When("NCCL says what it does", checktest.Set(run, `.nccl.lines`, 0)).Unobserved("job collective", "no output of NCCL"),
		checktest.When("each rank initialises in each repetition", checktest.Set(run, `.nccl.ranks[3].inits`, 2)).Unobserved("rank 3", "2 times in 3 repetitions"),
		checktest.When("multicast is available on each GPU", checktest.Set(run, `.nccl.ranks[3].nvls`, false)).Fails("gpu-01", "NVLS multicast is not available on 1 of 8"),
		checktest.When("data is right", checktest.Set(run, `.runs[0].rows[0].inPlace.wrong`, 1)).Fails("gpu-01", "the data is corrupt"),
		checktest.When("each repetition is whole", checktest.Set(run, `.runs[last]`, checktest.LeftOut)).Fails("incomplete output of job collective", "2 of 3 repetitions"),
		checktest.When("each GPU takes part", checktest.Set(run, `.runs[0].devices[7]`, checktest.LeftOut)).Fails("gpu-01", "7 of 8 GPUs"),
		checktest.When("the bandwidth is that of the profile", slow(1), slow(2)).Fails("gpu-01", "expected at least"),
		checktest.When("a run that did not end hangs", checktest.Set(run, `.outcome.ended`, "timeout")).Fails("gpu-01", "hangs"),
		checktest.When("ranks run on this machine", checktest.Set(run, `.runs[last].devices[0].host`, "other")).Fails("other", "not placed on"),
	})
}

// slow halves the bandwidth of the largest size in two repetitions, and with it the median.
func slow(repetition int) checktest.Change {
	return checktest.Set(run, fmt.Sprintf(`.runs[%d].rows[last]`, repetition), map[string]any{
		"bytes": 17179869184, "count": 4294967296, "type": "float", "redop": "sum", "root": -1,
		"outOfPlace": map[string]any{"timeUs": 150323, "algbwGBps": 114.29, "busbwGBps": 200.0, "wrong": 0},
		"inPlace":    map[string]any{"timeUs": 150323, "algbwGBps": 114.29, "busbwGBps": 200.0, "wrong": 0},
	})
}

// Without NVSwitches and multicast, channels must be shown, and need not be peers.
func TestLocalWithoutSwitches(t *testing.T) {
	t.Parallel()
	m := newMachine(t, "h100-sxm")
	s, p := m.of()
	own := *p
	own.Node.NVLinkDomain, own.Collective.NVLS = nil, false
	c := collective.NewLocal(s, &own, m)
	checktest.Rules(t, judgeOf(c), observed(t, c), []checktest.Rule{
		checktest.When("shared memory joins bridged pairs", checktest.Set(run, `.nccl.channels[*].transport`, "SHM/direct/direct")).Passes(),
		checktest.When("channels are shown", checktest.Set(run, `.nccl.channels`, []any{})).Unobserved("job collective", "no channel between GPUs"),
	})
}

// A machine without the program is unobserved, with what to install.
func TestLocalWithoutProgram(t *testing.T) {
	t.Parallel()
	m := newMachine(t, "h100-sxm")
	m.missing = "all_reduce_perf"
	s, p := m.of()
	c := collective.NewLocal(s, p, m)
	checktest.Judged(t, plan.Judge(c, observed(t, c)), check.Unobserved, "all_reduce_perf", "not found")
}
