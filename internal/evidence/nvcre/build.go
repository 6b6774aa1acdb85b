package nvcre

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/evidence"
	"github.com/firstlight/firstlight/internal/plan"
)

// Fleet has the inputs that a run does not record.
type Fleet struct {
	// Name of the certification; Platform as that engine calls it ("aws",
	// "onprem", ...), GPU its architecture ("h100").
	Name, Platform, GPU string
	Nodes               []Node
}

// Node is one GPU node of the inventory.
type Node struct{ Name, Rack string }

// The platforms of a run whose hardware is simulated or not identified.
const (
	simulated = "simulated"
	unknown   = "unknown"
)

// ours is the domain of steps that the engine has no category for.
const ours = "firstlight"

// Build makes the report of a run.
func Build(b *evidence.Bundle, f Fleet) (Report, error) {
	v := b.Summary()
	r := Report{Name: f.Name, Platform: f.Platform, GPU: f.GPU, TotalNodes: len(f.Nodes), Categories: []Category{}, Failed: []string{}}
	switch v.Simulated {
	case evidence.HardwareReal:
	case evidence.HardwareSimulated:
		r.Platform = simulated
	default:
		r.Platform = unknown
	}
	if len(f.Nodes) == 0 {
		return Report{}, errors.New("the inventory has no nodes")
	}
	for _, res := range v.Results {
		if res.Verdict == check.NotApplicable || slices.Contains(b.Recommended(), res.Step) && res.Verdict != check.Passed {
			continue // nothing that a node could fail
		}
		obs, err := b.Observations(res.Observations)
		if err != nil {
			return Report{}, fmt.Errorf("read what step %s observed: %w", res.Step, err)
		}
		r.Categories = append(r.Categories, categoryOf(res, obs, f.Nodes))
		r.Failed = append(r.Failed, blamed(res, f.Nodes)...)
	}
	slices.Sort(r.Failed)
	r.Failed = slices.Compact(r.Failed)
	r.Result = resultOf(v, b.Finished)
	r.Nodes = nodeResults(r, f.Nodes)
	return r, nil
}

// resultOf is never PASSED but for a finished run with every verdict of its plan.
func resultOf(v evidence.Verdicts, finished bool) string {
	switch {
	case v.Verdict == check.Failed:
		return Failed
	case v.Verdict == check.Passed && finished && len(v.Omitted) == 0 && v.Only == "":
		return Passed
	default:
		return Incomplete
	}
}

func categoryOf(res plan.Result, obs []check.Observation, nodes []Node) Category {
	c := Category{Domain: ours, Variant: res.Step, Status: statusSucceeded, Runtime: runtimeOf(res.Duration())}
	if res.Verdict != check.Passed {
		c.Status, c.FailureReason = statusFailed, string(res.Verdict)+": "+res.Reason
	}
	if names := blamed(res, nodes); len(names) > 0 {
		c.FailedGroups = []Group{{Name: res.Step, NodeCount: len(names), Nodes: names, Reason: res.Reason}}
	}
	collective(&c, obs)
	training(&c, obs)
	return c
}

// blamed are the nodes that the findings of a failed or partial step suspect.
func blamed(res plan.Result, nodes []Node) []string {
	if res.Verdict != check.Failed && res.Verdict != check.Partial {
		return nil
	}
	var names []string
	for _, n := range nodes {
		if slices.ContainsFunc(res.Findings, func(f check.Finding) bool {
			return f.Suspect == n.Name || strings.HasPrefix(f.Suspect, n.Name+"/")
		}) {
			names = append(names, n.Name)
		}
	}
	return names
}

// nodeResults reports a node as passed only if every step passed: in a failed run,
// the state of a node without a finding is unknown.
func nodeResults(r Report, nodes []Node) []NodeResult {
	var out []NodeResult
	for _, n := range nodes {
		switch {
		case slices.Contains(r.Failed, n.Name):
			out = append(out, NodeResult{Name: n.Name, Group: "all", Rack: n.Rack, Status: statusFailed})
		case r.Result == Passed:
			out = append(out, NodeResult{Name: n.Name, Group: "all", Rack: n.Rack, Status: nodePassed})
		}
	}
	return out
}

// runtimeOf writes a duration as the engine does; under a second it writes none.
func runtimeOf(d time.Duration) string {
	s := int64(d / time.Second)
	switch {
	case s <= 0:
		return ""
	case s < 60:
		return fmt.Sprintf("%ds", s)
	case s < 3600:
		return fmt.Sprintf("%dm %ds", s/60, s%60)
	default:
		return fmt.Sprintf("%dh %dm", s/3600, s%3600/60)
	}
}
