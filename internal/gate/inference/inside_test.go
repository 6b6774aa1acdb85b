package inference

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/checktest"
	"github.com/firstlight/firstlight/internal/gate/inference/load"
	"github.com/firstlight/firstlight/internal/plan"
	"github.com/firstlight/firstlight/internal/probe/vllm"
	"github.com/firstlight/firstlight/internal/site"
	"github.com/firstlight/firstlight/internal/workload"
)

// insideSite has the load generator in the cluster.
func insideSite() *site.Site {
	s := testSite()
	s.Workloads.Inference.Client, s.Workloads.Inference.LoadImage = site.ClientCluster, "registry.example/firstlight:1"
	return s
}

// The load of a pod is what its log says, if that is the whole result of this plan.
func TestLoadFromInside(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		change           func(log []byte) ([]byte, error)
		verdict          check.Verdict
		suspect, message string
	}{
		"whole":       {func(log []byte) ([]byte, error) { return log, nil }, check.Passed, "", ""},
		"not started": {func([]byte) ([]byte, error) { return nil, errors.New("job inference-load: ImagePullBackOff") }, check.Unobserved, "load of job inference", "ImagePullBackOff"},
		"evicted": {func(log []byte) ([]byte, error) {
			return log[:len(log)/2], errors.New("pod x on gpu-01: Failed, Evicted")
		}, check.Unobserved, "load of job inference", "Evicted"},
		"no result": {func([]byte) ([]byte, error) { return []byte("panic: oh\n"), nil }, check.Unobserved, "load of job inference", "the log of the load has no result"},
		"cut":       {func(log []byte) ([]byte, error) { return log[:bytes.LastIndexByte(log[:len(log)-1], '\n')+1], nil }, check.Unobserved, "load of job inference", "incomplete"},
		"another plan": {func(log []byte) ([]byte, error) {
			return bytes.ReplaceAll(log, []byte(`"ratePerSecond":200`), []byte(`"ratePerSecond":20`)), nil
		}, check.Unobserved, "load of job inference", "the load is of plan"},
		"faster answer": {func(log []byte) ([]byte, error) {
			return bytes.Replace(log, []byte(`"ttftMs":1`), []byte(`"ttftMs":0`), 1), nil
		}, check.Unobserved, "load of job inference", "lost or changed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				g := testGate(t, insideSite())
				g.load = func(ctx context.Context, p load.Plan) ([]byte, workload.Outcome, error) {
					transport := &http.Transport{DialContext: g.dial}
					defer transport.CloseIdleConnections()
					began := time.Now()
					f, err := load.Run(ctx, p, &vllm.Client{Base: p.URL, HTTP: &http.Client{Transport: transport}, Now: time.Now})
					if err != nil {
						return nil, workload.Outcome{}, err
					}
					var out bytes.Buffer
					if err := load.Write(&out, p, f, began, time.Now()); err != nil {
						t.Error(err)
					}
					log, err := tt.change(out.Bytes())
					return log, workload.Outcome{Node: "gpu-01", Image: "loadgen@sha256:1"}, err
				}
				j, obs := observe(t, g, &fakeVLLM{})
				checktest.Judged(t, j, tt.verdict, tt.suspect, tt.message)
				if tt.verdict == check.Passed && !strings.Contains(j.Reason, "from inside the cluster (gpu-01)") {
					t.Errorf("reason %q", j.Reason)
				}
				if i := slices.IndexFunc(obs, func(o check.Observation) bool { return o.Kind == KindLoad }); name != "not started" && (i < 0 || len(obs[i].Raw) == 0) {
					t.Error("the log is not kept")
				}
				if tt.verdict != check.Passed {
					return
				}
				i := slices.IndexFunc(obs, func(o check.Observation) bool { return o.Kind == KindLoad })
				if f, err := check.Decode[LoadFigures](obs[i]); err != nil || f.Image != "loadgen@sha256:1" {
					t.Errorf("the image of the load generator is %q, %v", f.Image, err)
				}
			})
		})
	}
}

// inside are the observations of a healthy server that was loaded from the cluster.
func inside(t *testing.T, g *Gate) []check.Observation {
	t.Helper()
	return loads(t, served(t, g), func(f *LoadFigures) { f.Client, f.Node, f.Concurrency = site.ClientCluster, "gpu-01", 0 })
}

func TestRulesInside(t *testing.T) {
	t.Parallel()
	g := testGate(t, insideSite()) // TTFT within 5 s
	judge := func(obs []check.Observation) check.Judgement { return plan.Judge(g, obs) }
	checktest.Rules(t, judge, inside(t, g), []checktest.Rule{
		checktest.When("requests in time", checktest.Set(KindLoad, `.clientStallMs`, 1)).Passes(),
		checktest.When("the load comes from where the site says", checktest.Set(KindLoad, `.client`, "machine"), checktest.Set(KindLoad, `.concurrency`, 0)).Unobserved("job inference", "the load was sent from machine, the site requires cluster"),
		checktest.When("evidence without a client is of the machine", checktest.Set(KindLoad, `.client`, checktest.LeftOut)).Unobserved("job inference", "the load was sent from machine"),
		checktest.When("a limited loop is another load", checktest.Set(KindLoad, `.concurrency`, 8)).Unobserved("job inference", "the load differs from the site's"),
		checktest.When("a server that cannot be reached from inside fails", checktest.Set(KindLoad, `.unreached`, "no such host")).Fails("Service inference inside the cluster", "cannot reach it: no such host"),
	})
	late := func(ms float64) []check.Observation {
		return loads(t, inside(t, g), func(f *LoadFigures) {
			for i := range f.Requests {
				f.Requests[i].Sent = f.Requests[i].Due + ms
			}
		})
	}
	checktest.Judged(t, judge(late(50)), check.Passed, "", "")
	checktest.Judged(t, judge(late(50.1)), check.Unobserved, "load generator on gpu-01", "50.1 ms after they were due at p99, the maximum is 50.0 ms")
	slowBy := func(ttft float64) []check.Observation {
		return loads(t, late(50), func(f *LoadFigures) {
			f.ClientStall = 0
			for i := range f.Requests {
				f.Requests[i].TTFT = &ttft
			}
		})
	}
	checktest.Judged(t, judge(slowBy(4950)), check.Passed, "", "")
	checktest.Judged(t, judge(slowBy(4951)), check.Failed, "server of job inference (TTFT)", "is 5001 ms at p99")
}

// Long answers were cut a minute after the last request was due.
func TestLongAnswersAreAwaited(t *testing.T) {
	t.Parallel()
	s := insideSite()
	w := &s.Workloads.Inference
	w.OutputTokens, w.TTFTp99, w.TPOTp99, w.Rate, w.Requests, w.Warmup = 2000, site.Duration(5*time.Second), site.Duration(50*time.Millisecond), 10, 100, 0
	g := testGate(t, s)
	if p := g.plan("http://x"); p.TimeoutSeconds != 20+10+2*(5+100)+60 {
		t.Errorf("%g s", p.TimeoutSeconds)
	}
	obs := loads(t, inside(t, testGate(t, insideSite())), func(f *LoadFigures) { f.Requests[0].Error, f.Requests[0].TimedOut = "deadline", true })
	checktest.Judged(t, plan.Judge(testGate(t, insideSite()), obs), check.Unobserved, "requests to job inference", "after the last one was due")
}

// A load from the server's own node does not use the network between nodes, which the reason says.
func TestLoadFromTheServersNode(t *testing.T) {
	t.Parallel()
	s := insideSite()
	for node, want := range map[string]bool{"gpu-01": false, "gpu-02": true} {
		for nodes, several := range map[int]bool{1: false, 2: true} {
			s.Inventory.Nodes = make([]site.Node, nodes)
			g := testGate(t, s)
			j := plan.Judge(g, loads(t, inside(t, g), func(f *LoadFigures) { f.Node = node }))
			if j.Verdict != check.Passed || strings.Contains(j.Reason, "the server's own node") != (want && several) {
				t.Errorf("from %s of %d nodes: %s: %s", node, nodes, j.Verdict, j.Reason)
			}
		}
	}
}

// A reader of a verdict must see whether its latencies have a port-forward in them, also where the objective is missed.
func TestVerdictHasThePlaceOfTheLoad(t *testing.T) {
	t.Parallel()
	own, cluster := testGate(t, testSite()), testGate(t, insideSite())
	late := 6000.0 // ms, of 5 s
	for name, tt := range map[string]struct {
		gate      *Gate
		obs       []check.Observation
		want, not string
	}{
		"own machine": {own, served(t, own), fmt.Sprintf(", from firstlight's own machine by port-forward, at most %d at a time", own.site.Workloads.Inference.Concurrency), "inside the cluster"},
		"cluster":     {cluster, inside(t, cluster), ", from inside the cluster (gpu-01)", "port-forward"},
	} {
		passed := plan.Judge(tt.gate, tt.obs)
		failed := plan.Judge(tt.gate, loads(t, tt.obs, func(f *LoadFigures) {
			f.ClientStall = 0
			for i := range f.Requests {
				f.Requests[i].TTFT = &late
			}
		}))
		if passed.Verdict != check.Passed || failed.Verdict != check.Failed || len(passed.Findings) > 0 {
			t.Errorf("%s: %s, %+v, and %s", name, passed.Verdict, passed.Findings, failed.Verdict)
		}
		for _, reason := range []string{passed.Reason, failed.Reason} {
			if !strings.Contains(reason, tt.want) || strings.Contains(reason, tt.not) {
				t.Errorf("%s: reason %q, want %q", name, reason, tt.want)
			}
		}
	}
}

func TestLoadSpec(t *testing.T) {
	t.Parallel()
	specs, err := testGate(t, insideSite()).Workloads()
	if err != nil || len(specs) != 2 {
		t.Fatal(specs, err)
	}
	spec := specs[1]
	if spec.Image != "registry.example/firstlight:1" || spec.GPUs != 0 || spec.CPU != "1" || spec.Script != "" || spec.Command[0] != "/usr/local/bin/firstlight" {
		t.Errorf("%+v", spec)
	}
	if len(spec.Patches) == 0 || !strings.Contains(fmt.Sprint(spec.Patches[0]), "podAntiAffinity") {
		t.Errorf("patches %v", spec.Patches)
	}
	if p, err := load.ParsePlan(spec.Command[3]); err != nil || p.Requests != 20 || p.Concurrency != 0 {
		t.Errorf("%+v, %v", p, err)
	}
	if specs, err := testGate(t, testSite()).Workloads(); err != nil || len(specs) != 1 {
		t.Error(specs, err)
	}
}
