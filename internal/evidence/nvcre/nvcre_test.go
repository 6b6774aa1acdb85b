package nvcre_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/evidence"
	"github.com/firstlight/firstlight/internal/evidence/evidencetest"
	"github.com/firstlight/firstlight/internal/evidence/nvcre"
	"github.com/firstlight/firstlight/internal/plan"
)

// seen is a step with one observation and a preset verdict.
type seen struct {
	name, kind, figures string
	judgement           check.Judgement
}

func (s seen) Name() string                              { return s.name }
func (s seen) Judge([]check.Observation) check.Judgement { return s.judgement }
func (s seen) Observe(_ context.Context, rec check.Recorder) error {
	_, err := rec.Record(check.Observation{Kind: s.kind, Target: "all", Command: "x", Figures: json.RawMessage(s.figures)})
	return err
}

const collective = `{"scope":"all","nodes":["gpu-01","gpu-02"],"runs":[
 {"test":"all_reduce_perf","rows":[{"bytes":8388608,"outOfPlace":{"algbwGBps":1,"busbwGBps":2}},{"bytes":17179869184,"outOfPlace":{"algbwGBps":200,"busbwGBps":380},"inPlace":{"algbwGBps":210,"busbwGBps":390}}]},
 {"test":"all_reduce_perf","rows":[{"bytes":17179869184,"outOfPlace":{"algbwGBps":205,"busbwGBps":385},"inPlace":null}]}],
 "nccl":{"hosts":[{"networks":["IB"]},{"networks":["IB","Socket"]}]}}`

func run(t *testing.T, hardware evidence.Hardware, steps ...plan.Step) *evidence.Bundle {
	t.Helper()
	p := plan.Plan{Name: "playbook", Steps: steps}
	start := evidencetest.Start(p)
	start.Header.Simulated = hardware
	clock := evidencetest.Clock()
	r, err := evidence.Create(t.TempDir(), start, evidence.Options{Clock: clock})
	if err != nil {
		t.Fatal(err)
	}
	w := plan.Executor{Plan: p, Store: r, Clock: clock}
	out, err := w.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Finish(out, nil); err != nil {
		t.Fatal(err)
	}
	b, err := evidence.Load(r.Dir())
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func fleet() nvcre.Fleet {
	return nvcre.Fleet{Name: "lab", Platform: "onprem", GPU: "h100", Nodes: []nvcre.Node{{Name: "gpu-01", Rack: "r1"}, {Name: "gpu-02"}}}
}

func TestAPassedRun(t *testing.T) {
	t.Parallel()
	b := run(t, evidence.HardwareReal,
		plan.Step{Check: seen{"facility", "pdu", `{"x":1}`, check.Pass("on")}},
		plan.Step{Check: seen{"collective", "nccl-tests", collective, check.Pass("fast")}},
		plan.Step{Check: seen{"training", "training-job", `{"model":"llama3_8b","nodes":["gpu-01","gpu-02"]}`, check.Pass("trained")}},
		plan.Step{Check: seen{"inference", "x", `{}`, check.Pass("never")}, NotApplicable: "training only"})
	got, err := nvcre.Build(b, fleet())
	if err != nil {
		t.Fatal(err)
	}
	for i := range got.Categories { // of the test's clock
		if got.Categories[i].Runtime == "" {
			t.Errorf("%s took no time", got.Categories[i].Variant)
		}
		got.Categories[i].Runtime = ""
	}
	data, err := json.MarshalIndent(got, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	const want = `{
 "name": "lab",
 "platform": "onprem",
 "gpu": "h100",
 "totalNodes": 2,
 "categories": [
  {
   "domain": "firstlight",
   "variant": "facility",
   "status": "Succeeded"
  },
  {
   "domain": "communication",
   "variant": "nccl-all-reduce",
   "status": "Succeeded",
   "nodesPerJob": 2,
   "jobs": 1,
   "bandwidth": [
    {
     "size": "16 GB",
     "algBW": "205.00 GB/s",
     "busBW": "385.00 GB/s",
     "samples": 3
    }
   ],
   "transport": [
    "IB",
    "Socket"
   ]
  },
  {
   "domain": "training",
   "variant": "llama3_8b",
   "status": "Succeeded",
   "nodesPerJob": 2,
   "jobs": 1
  }
 ],
 "failedNodes": [],
 "result": "PASSED",
 "nodeResults": [
  {
   "name": "gpu-01",
   "group": "all",
   "rack": "r1",
   "status": "Passed"
  },
  {
   "name": "gpu-02",
   "group": "all",
   "status": "Passed"
  }
 ]
}`
	if diff := cmp.Diff(want, string(data)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestFailedAndUnobservedRuns(t *testing.T) {
	t.Parallel()
	failed := check.Fail("slow", check.Finding{Suspect: "gpu-02/mlx5_3", Message: "m", Remedy: "r"}, check.Finding{Suspect: "leaf-1/port5", Message: "m", Remedy: "r"})
	for name, tt := range map[string]struct {
		b      *evidence.Bundle
		result string
		status string
		blamed []string
		nodes  int
	}{
		"failed":     {run(t, evidence.HardwareReal, plan.Step{Check: seen{"collective", "nccl-tests", collective, failed}}), nvcre.Failed, "Failed", []string{"gpu-02"}, 1},
		"unobserved": {run(t, evidence.HardwareReal, plan.Step{Check: seen{"a", "x", `{}`, check.NotObserved("dark")}}), nvcre.Incomplete, "Failed", []string{}, 0},
	} {
		got, err := nvcre.Build(tt.b, fleet())
		if err != nil {
			t.Fatal(err)
		}
		c := got.Categories[0]
		if got.Result != tt.result || c.Status != tt.status || c.FailureReason == "" || len(got.Nodes) != tt.nodes {
			t.Errorf("%s: %+v", name, got)
		}
		if diff := cmp.Diff(tt.blamed, got.Failed); diff != "" {
			t.Errorf("%s: failed nodes (-want +got):\n%s", name, diff)
		}
	}
}

func TestAnInterruptedRunIsIncomplete(t *testing.T) {
	t.Parallel()
	b, err := evidence.Load(evidencetest.Interrupted(t))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := nvcre.Build(b, fleet()); err != nil || got.Result != nvcre.Incomplete {
		t.Errorf("%+v, %v", got, err)
	}
}

// That form can not say that hardware was simulated, so the platform does.
func TestASimulatedRunIsMarked(t *testing.T) {
	t.Parallel()
	b := run(t, evidence.HardwareUnknown, plan.Step{Check: seen{"a", "x", `{}`, check.Pass("on")}})
	if got, err := nvcre.Build(b, fleet()); err != nil || got.Platform != "unknown" {
		t.Errorf("not identified: %+v, %v", got, err)
	}
	b = run(t, evidence.HardwareSimulated, plan.Step{Check: seen{"a", "x", `{}`, check.Pass("on")}})
	if got, err := nvcre.Build(b, fleet()); err != nil || got.Platform != "simulated" {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := nvcre.Build(b, nvcre.Fleet{Name: "x"}); err == nil {
		t.Error("a fleet without nodes has a report")
	}
}
