package metrics

import (
	"fmt"
	"regexp"
	"testing"
	"time"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/checktest"
	"github.com/firstlight/firstlight/internal/conformance"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/probe/prom"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
)

const (
	util, memory, temp, power = "DCGM_FI_DEV_GPU_UTIL", "DCGM_FI_DEV_FB_USED", "DCGM_FI_DEV_GPU_TEMP", "DCGM_FI_DEV_POWER_USAGE"
	namespace                 = "firstlight-r1"
)

func theCheck(t *testing.T) *Check {
	t.Helper()
	p, err := profile.Load("h100-sxm-ndr400")
	if err != nil {
		t.Fatal(err)
	}
	p.Node.GPUs.Value = 2
	s := &site.Site{Telemetry: site.Telemetry{ScrapeInterval: site.Duration(15 * time.Second), LoadImage: "dcgm"}}
	for i := range 2 {
		s.Inventory.Nodes = append(s.Inventory.Nodes, site.Node{Name: fmt.Sprintf("gpu-%02d", i+1)})
	}
	c := New(s, p, conformance.Deps{RunID: "r1"})
	if c.invalid != nil {
		t.Fatal(c.invalid)
	}
	return c
}

func now() time.Time { return time.Date(2026, 11, 21, 1, 42, 33, 0, time.UTC) }

// idle are the samples of all GPUs without load.
func idle(c *Check) *samples {
	s := &samples{Now: now()}
	for n, node := range c.nodes {
		for i := range c.gpus {
			g := gpu{Host: node, UUID: fmt.Sprintf("GPU-%d-%d", n, i), Index: fmt.Sprint(i), Samples: map[string][]sample{}}
			set(&g, 0, 4, 30, 70)
			s.GPUs = append(s.GPUs, g)
		}
	}
	return s
}

func set(g *gpu, u, m, c, w float64) {
	for name, v := range map[string]float64{util: u, memory: m, temp: c, power: w} {
		g.Samples[name] = []sample{{Value: v, At: now().Add(-7 * time.Second), Instance: g.Host + ":9400"}}
	}
}

// loaded are the samples with the pods of the load on these GPUs.
func loaded(c *Check, indices ...string) *samples {
	s := idle(c)
	for i := range s.GPUs {
		g := &s.GPUs[i]
		for _, index := range indices {
			if g.Index == index {
				half := first
				if index != "0" {
					half = second
				}
				g.Namespace, g.Pod = namespace, podOf(half, g.Host)
				set(g, 99, 4400, 55, 690)
			}
		}
	}
	return s
}

func podOf(half, node string) string { return half + "-" + node }

// facts are what the observations say; nil parts were not observed.
type facts struct {
	before, first, second, after *samples
	usage                        *usage
	firstLoad, secondLoad        *load
	targets                      *targets
	errs                         map[string]string // by kind/target
	// ran is how long a load had run when the samples under it were read.
	ran time.Duration
}

func healthy(c *Check) *facts {
	f := &facts{
		before: idle(c), first: loaded(c, "0"), second: loaded(c, "0", "1"), after: idle(c),
		usage: &usage{Nodes: map[string]kube.Usage{}}, firstLoad: &load{Namespace: namespace}, secondLoad: &load{Namespace: namespace},
		errs: map[string]string{}, ran: c.settle(),
	}
	for _, n := range c.nodes {
		f.usage.Nodes[n] = kube.Usage{Allocatable: c.gpus}
		f.firstLoad.Pods = append(f.firstLoad.Pods, loadPod{Name: podOf(first, n), Node: n, GPUs: 1})
		f.secondLoad.Pods = append(f.secondLoad.Pods, loadPod{Name: podOf(second, n), Node: n, GPUs: 1})
	}
	return f
}

func (f *facts) observations(t *testing.T) []check.Observation {
	t.Helper()
	out := checktest.Observed{T: t, Errs: f.errs}
	out.Add(kindSamples, before, f.before != nil, f.before)
	out.Add(kindTargets, "p", f.targets != nil, f.targets)
	out.Add(kindUsage, "cluster", f.usage != nil, f.usage)
	out.Add(kindLoad, first, f.firstLoad != nil, f.firstLoad)
	out.Add(kindSamples, first, f.first != nil, f.first)
	out.Add(kindLoad, second, f.secondLoad != nil, f.secondLoad)
	out.Add(kindSamples, second, f.second != nil, f.second)
	out.Add(kindSamples, after, f.after != nil, f.after)
	for i := range out.List {
		switch o := &out.List[i]; o.Kind {
		case kindLoad:
			o.At, o.Took.Duration = now().Add(-f.ran-time.Minute), time.Minute
		default:
			o.At = now()
		}
	}
	return out.List
}

func TestHealthy(t *testing.T) {
	t.Parallel()
	c := theCheck(t)
	j := c.Judge(healthy(c).observations(t))
	if j.Verdict != check.Passed || !regexp.MustCompile("4 GPUs on 2 nodes.*4 followed.*2 stayed quiet").MatchString(j.Reason) {
		t.Errorf("%s: %s %+v", j.Verdict, j.Reason, j.Findings)
	}
}

func TestNegatives(t *testing.T) {
	t.Parallel()
	drop := func(s *samples, node, name string) {
		for i := range s.GPUs {
			if s.GPUs[i].Host == node {
				delete(s.GPUs[i].Samples, name)
			}
		}
	}
	for name, tt := range map[string]struct {
		verdict       check.Verdict
		suspect, says string
		change        func(f *facts)
	}{
		"no series at all, as where there is only the HELP line": {check.Failed, "Prometheus", "no GPU metrics", func(f *facts) { f.before.GPUs = nil }},
		"a metric without samples":                               {check.Failed, "gpu-01", temp + ".*exists for 0 GPUs, want 2", func(f *facts) { drop(f.before, "gpu-01", temp) }},
		"one arbitrary exporter": {check.Failed, "gpu-02", "no GPU metrics of gpu-02; its target http://gpu-02:9400/metrics is down: refused", func(f *facts) {
			f.before.GPUs = f.before.GPUs[:2]
			f.targets = &targets{Targets: []prom.Target{{Labels: map[string]string{"node": "gpu-02"}, ScrapeURL: "http://gpu-02:9400/metrics", Health: "down", LastError: "refused"}}}
		}},
		"an exporter without a target": {check.Failed, "gpu-02", "no such target", func(f *facts) {
			f.before.GPUs, f.targets = f.before.GPUs[:2], &targets{}
		}},
		"one GPU missing":       {check.Failed, "gpu-01", "for 1 GPUs, want 2: missing for gpu 1", func(f *facts) { f.before.GPUs = append(f.before.GPUs[:1:1], f.before.GPUs[2:]...) }},
		"the same index twice":  {check.Failed, "gpu-01", "missing for gpu 1", func(f *facts) { f.before.GPUs[1].Index = "0" }},
		"one UUID at two nodes": {check.Failed, "GPU-0-0", "is exported by gpu-01/gpu0 and gpu-02/gpu0", func(f *facts) { f.before.GPUs[2].UUID = "GPU-0-0" }},
		"a GPU scraped twice": {check.Failed, "gpu-01/gpu0", "has 2 series", func(f *facts) {
			g := &f.before.GPUs[0]
			g.Samples[util] = append(g.Samples[util], g.Samples[util]...)
		}},
		"no label tells the GPU": {check.Failed, "gpu-02", "neither gpu nor UUID", func(f *facts) { f.before.GPUs[2].UUID, f.before.GPUs[2].Index = "", "" }},
		"an unknown host":        {check.Failed, "gpu-02", "no GPU metrics of gpu-02", func(f *facts) { f.before.GPUs[2].Host, f.before.GPUs[3].Host = "x", "x" }},
		"stale": {check.Failed, "gpu-02", "up to 1m31s old by Prometheus' clock, want at most 30s", func(f *facts) {
			f.before.GPUs[3].Samples[power][0].At = now().Add(-91 * time.Second)
		}},
		// A process that was not scheduled, and a load that started late, left no time to follow.
		"read too early under load": {check.Unobserved, "the first-load", "were read 2m30s after it ran", func(f *facts) {
			f.first.GPUs[0].Samples[util][0].Value, f.ran = 3, f.ran-time.Millisecond
		}},
		"read in time under load": {check.Failed, "gpu-01/gpu0", "rose from 0 % to 3 %", func(f *facts) {
			f.first.GPUs[0].Samples[util][0].Value = 3
		}},
		"power constant 0":          {check.Failed, "gpu-01/gpu0", "is 0 W, which is implausible", func(f *facts) { f.before.GPUs[0].Samples[power][0].Value = 0 }},
		"temperature constant 0":    {check.Failed, "gpu-01/gpu0", "is 0 C", func(f *facts) { f.before.GPUs[0].Samples[temp][0].Value = 0 }},
		"more memory than there is": {check.Failed, "gpu-01/gpu0", "1e\\+06 MiB", func(f *facts) { f.before.GPUs[0].Samples[memory][0].Value = 1e6 }},
		"utilisation beyond 100":    {check.Failed, "gpu-01/gpu0", "101 %", func(f *facts) { f.before.GPUs[0].Samples[util][0].Value = 101 }},
		"utilisation constant 0":    {check.Failed, "gpu-02/gpu0", "under load: .*rose from 0 % to 0 % under load", func(f *facts) { f.first.GPUs[2].Samples[util][0].Value = 0 }},
		"temperature does not move": {check.Failed, "gpu-02/gpu0", "want a rise of at least 1", func(f *facts) { f.first.GPUs[2].Samples[temp][0].Value = 30 }},
		"low under full load":       {check.Failed, "gpu-02/gpu0", "want at least 50", func(f *facts) { f.first.GPUs[2].Samples[util][0].Value = 30 }},
		"an idle GPU moves, too":    {check.Failed, "gpu-02/gpu1", "rose from 0 to 99 % without load", func(f *facts) { f.first.GPUs[3].Samples[util][0].Value = 99 }},
		"another GPU moves instead": {check.Failed, "gpu-02/gpu0", "want a rise of", func(f *facts) {
			a, b := &f.first.GPUs[2], &f.first.GPUs[3]
			a.Samples, b.Samples = b.Samples, a.Samples
		}},
		"no series names the pod":    {check.Failed, "gpu-01", "has 1 GPUs, but the metrics of 0 GPUs name it", func(f *facts) { f.first.GPUs[0].Pod = "nvidia-dcgm-exporter-x" }},
		"it does not fall":           {check.Failed, "gpu-01/gpu0", "after the load: .*690 W", func(f *facts) { f.after.GPUs[0].Samples[power][0].Value = 690 }},
		"gone under load":            {check.Failed, "gpu-02", "under load: ", func(f *facts) { f.second.GPUs = f.second.GPUs[:2] }},
		"the second half only still": {check.Failed, "gpu-01/gpu1", "rose from 70 W to 70 W under load", func(f *facts) { f.second.GPUs[1].Samples[power][0].Value = 70 }},
		"no GPU free": {check.Unobserved, "GPUs", "no GPU is free", func(f *facts) {
			for n := range f.usage.Nodes {
				f.usage.Nodes[n] = kube.Usage{Allocatable: 2, Requested: 2}
			}
			f.firstLoad, f.first, f.secondLoad, f.second, f.after = nil, nil, nil, nil, nil
		}},
		"the load did not run": {check.Unobserved, "the first-load", "no such image", func(f *facts) { f.errs[kindLoad+"/"+first] = "no such image" }},
		"half of the load":     {check.Unobserved, "the first-load", "ran on 1 GPUs, want 2", func(f *facts) { f.firstLoad.Pods = f.firstLoad.Pods[:1] }},
		"interrupted":          {check.Unobserved, "the second-load", "was not observed", func(f *facts) { f.secondLoad, f.second, f.after = nil, nil, nil }},
		"no look after it":     {check.Unobserved, "Prometheus after the load", "was not observed", func(f *facts) { f.after = nil }},
		"Prometheus is away":   {check.Unobserved, "Prometheus", "refused", func(f *facts) { f.errs[kindSamples+"/"+before] = "connection refused" }},
		"nothing":              {check.Unobserved, "Prometheus", "was not observed", func(f *facts) { *f = facts{} }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := theCheck(t)
			f := healthy(c)
			tt.change(f)
			j := c.Judge(f.observations(t))
			if j.Verdict != tt.verdict || len(j.Findings) == 0 {
				t.Fatalf("%s: %s %+v", j.Verdict, j.Reason, j.Findings)
			}
			for _, found := range j.Findings {
				if found.Suspect == tt.suspect && regexp.MustCompile(tt.says).MatchString(found.Message) {
					return
				}
			}
			t.Errorf("%s: %+v", j.Reason, j.Findings)
		})
	}
}

// GPUs of other users are not loaded and not judged.
func TestGPUsInUse(t *testing.T) {
	t.Parallel()
	c := theCheck(t)
	f := healthy(c)
	f.usage.Nodes["gpu-02"] = kube.Usage{Allocatable: 2, Requested: 1, Holders: []kube.Holder{{Namespace: "team", Pod: "train", Count: 1}}}
	f.secondLoad.Pods = f.secondLoad.Pods[:1]
	for i, s := range []*samples{f.before, f.first, f.second, f.after} {
		g := &s.GPUs[3]
		g.Namespace, g.Pod = "team", "train"
		set(g, float64(20*i), 4, 30, float64(100*i+70))
	}
	j := c.Judge(f.observations(t))
	if j.Verdict != check.Passed || !regexp.MustCompile("3 followed.*1 were in use and were not loaded").MatchString(j.Reason) {
		t.Errorf("%s: %s %+v", j.Verdict, j.Reason, j.Findings)
	}
}

// A pod of another team that starts on a free GPU during the load is not a GPU that is busy without the device plugin. A pod that
// uses no GPU, such as the exporter's own, explains nothing.
func TestAPodOfOthersThatStartsDuringTheLoad(t *testing.T) {
	t.Parallel()
	c := theCheck(t)
	for name, tt := range map[string]struct {
		users  *usage
		failed bool
	}{
		"it has a GPU":       {&usage{Nodes: map[string]kube.Usage{"gpu-02": {Allocatable: 2, Requested: 2, Holders: []kube.Holder{{Namespace: "team", Pod: "train", Count: 1}}}}}, false},
		"it has none":        {&usage{Nodes: map[string]kube.Usage{"gpu-02": {Allocatable: 2}}}, true},
		"an old observation": {nil, true},
	} {
		f := healthy(c)
		g := &f.first.GPUs[3]
		g.Namespace, g.Pod = "team", "train"
		set(g, 99, 4400, 55, 690)
		f.first.Users = tt.users
		f.errs[kindLoad+"/"+second] = "start the load: no GPU is free"
		if j := c.Judge(f.observations(t)); (j.Verdict == check.Failed) != tt.failed || j.Verdict == check.Passed {
			t.Errorf("%s: %s: %s", name, j.Verdict, j.Reason)
		}
	}
}

func TestHalves(t *testing.T) {
	t.Parallel()
	one, two := halves(map[string]int{"a": 8, "b": 1, "c": 0, "d": 8, "e": 3})
	if fmt.Sprint(one, two) != "map[1:[b] 2:[e] 4:[a d]] map[1:[e] 4:[a d]]" {
		t.Error(one, two)
	}
}
