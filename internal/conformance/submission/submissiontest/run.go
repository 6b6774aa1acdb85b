// Package submissiontest writes runs of fake conformance checks to disk, for tests of the
// packages that read runs. The executor and the evidence store are the real ones.
package submissiontest

import (
	"bytes"
	"context"
	"fmt"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/conformance/apilog"
	"github.com/firstlight/firstlight/internal/conformance/catalog"
	"github.com/firstlight/firstlight/internal/evidence"
	"github.com/firstlight/firstlight/internal/plan"
)

// Options of a run.
type Options struct {
	// Judgements by requirement; the default is a pass.
	Judgements map[string]check.Judgement
	// Without lists requirements without a step. Excused has the reason of each requirement
	// that the site declares not applicable.
	Without []string
	Excused map[string]string
	// Simulated marks the hardware of the run as simulated.
	Simulated bool
	// Unfinished leaves the run without its manifest.
	Unfinished bool
}

// Write runs a check for each requirement of a version and returns the run's directory, in
// dir.
func Write(ctx context.Context, dir, version string, o Options) (string, error) {
	p, err := catalog.Load(version)
	if err != nil {
		return "", fmt.Errorf("write a run: %w", err)
	}
	steps := plan.Plan{Name: "validate", Steps: []plan.Step{{Check: fakeCheck{name: "health", judgement: check.Pass("all is well")}}}}
	left := map[string]bool{}
	for _, id := range o.Without {
		left[id] = true
	}
	for _, r := range p.Requirements {
		if left[r.ID] {
			continue
		}
		j, ok := o.Judgements[r.ID]
		if !ok {
			j = check.Pass("both halves were seen", check.Figure{Name: "placed", Value: 4, Unit: "pods", Limit: 4, Relation: "=="})
		}
		steps.Steps = append(steps.Steps, plan.Step{Check: fakeCheck{name: r.ID, judgement: j}, NotApplicable: o.Excused[r.ID]})
	}
	header := evidence.Header{Tool: "v0.5.0", Command: []string{"firstlight", "validate"}, Site: "prod", Profile: "h100-sxm-ndr400", Cluster: "7d0f5c4e-0000-4000-8000-000000000001", Simulated: evidence.HardwareReal, Versions: map[string]string{"kube-apiserver": "v" + version + ".3"}}
	if o.Simulated {
		header.Simulated, header.SimulatedWhy = evidence.HardwareSimulated, "nodes carry kwok.x-k8s.io/node"
	}
	run, err := evidence.Create(dir, evidence.Start{Header: header, Plan: steps, Site: []byte("name: prod\n"), Profile: []byte("name: h100\n")},
		evidence.Options{Clock: clock(), Random: bytes.NewReader(make([]byte, 64))})
	if err != nil {
		return "", fmt.Errorf("write a run: %w", err)
	}
	executor := plan.Executor{Plan: steps, Store: run, Clock: clock(), Parallel: 1}
	outcome, err := executor.Run(ctx)
	if err != nil {
		return "", fmt.Errorf("write a run: %w", err)
	}
	if o.Unfinished {
		return run.Dir(), run.Close()
	}
	return run.Dir(), run.Finish(outcome, nil)
}

// clock advances by a millisecond with every call.
func clock() func() time.Time {
	var mu sync.Mutex
	at := time.Date(2026, 11, 21, 1, 42, 33, 0, time.UTC)
	return func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		at = at.Add(time.Millisecond)
		return at
	}
}

// fakeCheck records three observations and returns its judgement.
type fakeCheck struct {
	name      string
	judgement check.Judgement
}

// Name implements check.Check.
func (s fakeCheck) Name() string { return s.name }

// Observe implements check.Check.
func (s fakeCheck) Observe(_ context.Context, rec check.Recorder) error {
	at := time.Date(2026, 11, 21, 1, 42, 33, 0, time.UTC)
	pods := check.Observation{
		Kind: "pods", Target: "gang-fits", Command: "GET /api/v1/namespaces/firstlight/pods", At: at, Took: metav1.Duration{Duration: 12 * time.Millisecond},
		Raw: []byte("NAME    NODE\ngang-0  gpu-01\n```\n# no heading\n"),
	}
	pods, err := pods.WithFigures(map[string]int{"placed": 4})
	if err != nil {
		return err
	}
	made := check.Observation{Kind: apilog.Kind, Target: s.name, Command: "every call to the API server of this check", At: at}
	made, err = made.WithFigures([]apilog.Call{
		{At: at, Method: "POST", Path: "/api/v1/namespaces/firstlight/pods", Status: 201, Times: 4},
		{At: at.Add(time.Second), Method: "GET", Path: "/api/v1/namespaces/firstlight/pods", Query: "labelSelector=run%3D1", Status: 200, Times: 1},
		{At: at.Add(2 * time.Second), Method: "DELETE", Path: "/api/v1/namespaces/firstlight", Err: "connection refused", Times: 1},
	})
	if err != nil {
		return err
	}
	exit := 1
	failed := check.Observation{Kind: "logs", Target: "gang-0", Command: "GET /api/v1/namespaces/firstlight/pods/gang-0/log", At: at, Exit: &exit, Err: "container not found"}
	for _, o := range []check.Observation{pods, made, failed} {
		if _, err := rec.Record(o); err != nil {
			return err
		}
	}
	return nil
}

// Judge implements check.Check.
func (s fakeCheck) Judge([]check.Observation) check.Judgement { return s.judgement }
