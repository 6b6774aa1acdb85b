package hook

import (
	"errors"
	"fmt"
	"slices"
	"strings"

)

// Expect is what has to be there.
type ReadyExpectation struct {
	// Nodes with GPUs, and GPUs of each.
	Nodes, GPUs int
	// Passes in a row that make it ready.
	Checks int
}

// ErrNothing refuses an expectation that nothing at all would meet.
var ErrEmptyExpectation = errors.New("want at least one node, one GPU a node and one pass: no nodes are not ready nodes")

// Validate refuses what nothing would meet.
func (e ReadyExpectation) Validate() error {
	if e.Nodes < 1 || e.GPUs < 1 || e.Checks < 1 {
		return fmt.Errorf("expect %d nodes of %d GPUs, %d passes: %w", e.Nodes, e.GPUs, e.Checks, ErrEmptyExpectation)
	}
	return nil
}

// Look is what one attempt saw.
type NodeSample struct {
	// Nodes are the census; of no use where Err is set.
	Nodes Nodes `json:"nodes"`
	// Err says why there was nothing to see, or what else that was asked for did not hold.
	Error string `json:"error,omitempty"`
}

// Count is how far it is. Its zero value is the beginning.
type ReadyCount struct {
	// Passes in a row, of Nodes.
	Checks int        `json:"checks"`
	Nodes  Nodes `json:"-"`
}

// Step is what a look came to.
type ReadyResult struct {
	ReadyCount
	Ready bool `json:"ready"`
	// Why are the reasons for which the count is what it is; none where it grew.
	Reasons []string `json:"reasons,omitempty"`
}

// Judge counts a look. A look that passes but saw other nodes than the one before is the
// first of a new count.
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

// wrong is why a look is no pass.
func notReadyReasons(l NodeSample, want ReadyExpectation) []string {
	var reason []string
	if l.Error != "" {
		reason = append(reason, l.Error)
	}
	if l.Nodes == nil {
		if l.Error == "" {
			reason = append(reason, "there was no census")
		}
		return reason
	}
	if len(l.Nodes) != want.Nodes {
		reason = append(reason, fmt.Sprintf("%d nodes of %d: %s", len(l.Nodes), want.Nodes, nodeNames(l.Nodes)))
	}
	for _, n := range l.Nodes {
		if !n.Ready {
			reason = append(reason, n.Name+" is not Ready")
		}
		if n.Cordoned {
			reason = append(reason, n.Name+" is cordoned")
		}
		if n.GPUs != want.GPUs {
			reason = append(reason, fmt.Sprintf("%s has %d GPUs of %d", n.Name, n.GPUs, want.GPUs))
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

// changed is how one census differs from the one before it in who is there.
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
			reason = append(reason, n.Name+" was replaced by another of the same name")
		}
		delete(was, n.Name)
	}
	for name := range was {
		reason = append(reason, name+" is gone")
	}
	slices.Sort(reason)
	return reason
}
