package hook

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// ReadyExpectation is what a ready deployment has.
type ReadyExpectation struct {
	// Nodes with GPUs, and GPUs per node.
	Nodes, GPUs int
	// Checks is the number of consecutive successful checks.
	Checks int
}

// ErrEmptyExpectation refuses an expectation that an empty cluster would meet.
var ErrEmptyExpectation = errors.New("must expect at least one node, one GPU per node and one check")

// Validate refuses an expectation that an empty cluster would meet.
func (e ReadyExpectation) Validate() error {
	if e.Nodes < 1 || e.GPUs < 1 || e.Checks < 1 {
		return fmt.Errorf("expect %d nodes with %d GPUs, %d checks: %w", e.Nodes, e.GPUs, e.Checks, ErrEmptyExpectation)
	}
	return nil
}

// NodeSample is the observation of one attempt.
type NodeSample struct {
	// Nodes of the deployment; not valid if Error is set.
	Nodes Nodes `json:"nodes"`
	// Error says why the nodes could not be read, or why the extra check failed.
	Error string `json:"error,omitempty"`
}

// ReadyCount is the number of consecutive successful checks. Its zero value is the start.
type ReadyCount struct {
	// Checks with these Nodes.
	Checks int   `json:"checks"`
	Nodes  Nodes `json:"-"`
}

// ReadyResult is the result of a check.
type ReadyResult struct {
	ReadyCount
	Ready bool `json:"ready"`
	// Reasons why the count was restarted; empty if it grew.
	Reasons []string `json:"reasons,omitempty"`
}

// JudgeReady counts a sample; it is pure. A successful sample with other nodes than the one before
// starts a new count.
func JudgeReady(before ReadyCount, l NodeSample, want ReadyExpectation) ReadyResult {
	if err := want.Validate(); err != nil {
		return ReadyResult{Reasons: []string{err.Error()}}
	}
	if reason := notReadyReasons(l, want); len(reason) > 0 {
		return ReadyResult{Reasons: append(reason, nodeChanges(before.Nodes, l.Nodes)...)}
	}
	s := ReadyResult{ReadyCount: ReadyCount{Checks: 1, Nodes: slices.Clone(l.Nodes)}}
	if before.Checks > 0 {
		if s.Reasons = nodeChanges(before.Nodes, l.Nodes); len(s.Reasons) == 0 {
			s.Checks = before.Checks + 1
		}
	}
	s.Ready = s.Checks >= want.Checks
	return s
}

func notReadyReasons(l NodeSample, want ReadyExpectation) []string {
	var reason []string
	if l.Error != "" {
		reason = append(reason, l.Error)
	}
	if l.Nodes == nil {
		if l.Error == "" {
			reason = append(reason, "the nodes were not read")
		}
		return reason
	}
	if len(l.Nodes) != want.Nodes {
		reason = append(reason, fmt.Sprintf("%d nodes, want %d: %s", len(l.Nodes), want.Nodes, nodeNames(l.Nodes)))
	}
	for _, n := range l.Nodes {
		if !n.Ready {
			reason = append(reason, n.Name+" is not Ready")
		}
		if n.Cordoned {
			reason = append(reason, n.Name+" is cordoned")
		}
		if n.GPUs != want.GPUs {
			reason = append(reason, fmt.Sprintf("%s has %d GPUs, want %d", n.Name, n.GPUs, want.GPUs))
		}
	}
	return reason
}

func nodeNames(nodes Nodes) string {
	if len(nodes) == 0 {
		return "none"
	}
	var out []string
	for _, n := range nodes {
		out = append(out, n.Name)
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}

// nodeChanges compares the identity of nodes.
func nodeChanges(before, now Nodes) []string {
	if before == nil || now == nil {
		return nil
	}
	was := map[string]string{}
	for _, n := range before {
		was[n.Name] = n.UID
	}
	var reason []string
	for _, n := range now {
		switch uid, found := was[n.Name]; {
		case !found:
			reason = append(reason, n.Name+" joined")
		case uid != n.UID:
			reason = append(reason, n.Name+" was replaced by a node of the same name")
		}
		delete(was, n.Name)
	}
	for name := range was {
		reason = append(reason, name+" disappeared")
	}
	slices.Sort(reason)
	return reason
}
