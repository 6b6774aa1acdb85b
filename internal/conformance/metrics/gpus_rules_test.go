package metrics

import (
	"errors"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/probe/prom"
)

// A GPU that two hosts export has one finding, whatever the order of its series.
func TestAGPUOfTwoHostsHasOneFinding(t *testing.T) {
	t.Parallel()
	c := theCheck(t)
	for name, change := range map[string]func(s *samples){
		"in order": func(*samples) {},
		"reversed": func(s *samples) { s.GPUs[0], s.GPUs[2] = s.GPUs[2], s.GPUs[0] },
	} {
		f := healthy(c)
		f.before.GPUs[2].UUID = "GPU-0-0"
		change(f.before)
		j := c.Judge(f.observations(t))
		if j.Verdict != check.Failed || len(j.Findings) != 1 || j.Findings[0].Message != "GPU GPU-0-0 is exported by gpu-01/gpu0 and gpu-02/gpu0" {
			t.Errorf("%s: %s: %+v", name, j.Verdict, j.Findings)
		}
	}
}

// The metrics of an exporter without user labels have the exporter's own namespace and pod: a
// pod that holds GPUs in the same namespace does not hold these.
func TestAnotherPodOfTheSameNamespaceHoldsNoGPU(t *testing.T) {
	t.Parallel()
	c := theCheck(t)
	f := healthy(c)
	f.usage.Nodes["gpu-02"] = kube.Usage{Allocatable: 2, Requested: 0, Holders: []kube.Holder{{Namespace: "gpu-operator", Pod: "train", Count: 0}}}
	for _, s := range []*samples{f.before, f.first} {
		s.GPUs[3].Namespace, s.GPUs[3].Pod = "gpu-operator", "dcgm-exporter-x"
	}
	f.first.GPUs[3].Samples[util][0].Value = 99
	if j := c.Judge(f.observations(t)); j.Verdict != check.Failed || j.Findings[0].Suspect != "gpu-02/gpu1" {
		t.Errorf("%s: %s: %+v", j.Verdict, j.Reason, j.Findings)
	}
}

func TestMetricsThatWereNotObservedUnderLoadAreUnobserved(t *testing.T) {
	t.Parallel()
	c := theCheck(t)
	f := healthy(c)
	f.first = nil
	if j := c.Judge(f.observations(t)); j.Verdict != check.Unobserved || len(j.Findings) != 1 || j.Findings[0].Suspect != "Prometheus" {
		t.Errorf("%s: %s: %+v", j.Verdict, j.Reason, j.Findings)
	}
	f = healthy(c)
	f.firstLoad = nil
	if j := c.Judge(f.observations(t)); j.Verdict != check.Unobserved || len(j.Findings) != 1 || j.Findings[0].Suspect != "the first-load" {
		t.Errorf("%s: %s: %+v", j.Verdict, j.Reason, j.Findings)
	}
}

func TestAnInventoryWithoutGPUsIsUnobserved(t *testing.T) {
	t.Parallel()
	c := theCheck(t)
	obs := healthy(c).observations(t)
	c.nodes = nil
	if j := c.Judge(obs); j.Verdict != check.Unobserved {
		t.Errorf("%q: %s", j.Verdict, j.Reason)
	}
}

func TestAProfileThatIsInvalidIsUnobserved(t *testing.T) {
	t.Parallel()
	c := theCheck(t)
	obs := healthy(c).observations(t)
	c.invalid = errors.New("no limits of DCGM_FI_DEV_GPU_TEMP")
	if j := c.Judge(obs); j.Verdict != check.Unobserved || !strings.Contains(j.Reason, "no limits of") {
		t.Errorf("%q: %s", j.Verdict, j.Reason)
	}
}

// Where one GPU of each node is free there is one load, of all of them.
func TestASingleGPUOfANodeIsLoadedOnce(t *testing.T) {
	t.Parallel()
	c := theCheck(t)
	c.gpus = 1
	f := healthy(c)
	f.secondLoad, f.second = nil, nil
	if j := c.Judge(f.observations(t)); j.Verdict != check.Passed {
		t.Errorf("%s: %s: %+v", j.Verdict, j.Reason, j.Findings)
	}
}

func TestMissingSeriesNameTheTargetsOfTheirNode(t *testing.T) {
	t.Parallel()
	c := theCheck(t)
	f := healthy(c)
	f.before.GPUs = f.before.GPUs[:2]
	f.targets = &targets{}
	for _, node := range c.nodes {
		f.targets.Targets = append(f.targets.Targets, prom.Target{Labels: map[string]string{"node": node}, ScrapeURL: "http://" + node + ":9400", Health: "down"})
	}
	j := c.Judge(f.observations(t))
	if j.Verdict != check.Failed || !strings.Contains(j.Findings[0].Message, "http://gpu-02:9400 is down") || strings.Contains(j.Findings[0].Message, "http://gpu-01") {
		t.Errorf("%s: %+v", j.Verdict, j.Findings)
	}
}

func TestAPassNamesGPUsInUseOnlyWhereThereAreAny(t *testing.T) {
	t.Parallel()
	c := theCheck(t)
	if j := c.Judge(healthy(c).observations(t)); j.Verdict != check.Passed || strings.Contains(j.Reason, "in use") {
		t.Errorf("%s: %s", j.Verdict, j.Reason)
	}
}
