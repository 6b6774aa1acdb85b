package readiness

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/reservation/hook"
)

// Expect is what has to be there.
type Expect struct {
	// Nodes with GPUs, and GPUs of each.
	Nodes, GPUs int
	// Passes in a row that make it ready.
	Passes int
}

// ErrNothing refuses an expectation that nothing at all would meet.
var ErrNothing = errors.New("want at least one node, one GPU a node and one pass: no nodes are not ready nodes")

// Validate refuses what nothing would meet.
func (e Expect) Validate() error {
	if e.Nodes < 1 || e.GPUs < 1 || e.Passes < 1 {
		return fmt.Errorf("expect %d nodes of %d GPUs, %d passes: %w", e.Nodes, e.GPUs, e.Passes, ErrNothing)
	}
	return nil
}

// Look is what one attempt saw.
type Look struct {
	// Nodes are the census; of no use where Err is set.
	Nodes hook.Nodes `json:"nodes"`
	// Err says why there was nothing to see, or what else that was asked for did not hold.
	Err string `json:"err,omitempty"`
}

// Count is how far it is. Its zero value is the beginning.
type Count struct {
	// Passes in a row, of Nodes.
	Passes int        `json:"passes"`
	Nodes  hook.Nodes `json:"-"`
}

// Step is what a look came to.
type Step struct {
	Count
	Ready bool `json:"ready"`
	// Why are the reasons for which the count is what it is; none where it grew.
	Why []string `json:"why,omitempty"`
}

// Judge counts a look. A look that passes but saw other nodes than the one before is the
// first of a new count.
func Judge(before Count, l Look, want Expect) Step {
	if err := want.Validate(); err != nil {
		return Step{Why: []string{err.Error()}}
	}
	if why := wrong(l, want); len(why) > 0 {
		return Step{Why: append(why, changed(before.Nodes, l.Nodes)...)}
	}
	s := Step{Count: Count{Passes: 1, Nodes: slices.Clone(l.Nodes)}}
	if before.Passes > 0 {
		if s.Why = changed(before.Nodes, l.Nodes); len(s.Why) == 0 {
			s.Passes = before.Passes + 1
		}
	}
	s.Ready = s.Passes >= want.Passes
	return s
}

// wrong is why a look is no pass.
func wrong(l Look, want Expect) []string {
	var why []string
	if l.Err != "" {
		why = append(why, l.Err)
	}
	if l.Nodes == nil {
		if l.Err == "" {
			why = append(why, "there was no census")
		}
		return why
	}
	if len(l.Nodes) != want.Nodes {
		why = append(why, fmt.Sprintf("%d nodes of %d: %s", len(l.Nodes), want.Nodes, namesOf(l.Nodes)))
	}
	for _, n := range l.Nodes {
		if !n.Ready {
			why = append(why, n.Name+" is not Ready")
		}
		if n.Cordoned {
			why = append(why, n.Name+" is cordoned")
		}
		if n.GPUs != want.GPUs {
			why = append(why, fmt.Sprintf("%s has %d GPUs of %d", n.Name, n.GPUs, want.GPUs))
		}
	}
	return why
}

func namesOf(nodes hook.Nodes) string {
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
func changed(before, now hook.Nodes) []string {
	if before == nil || now == nil {
		return nil
	}
	was := map[string]string{}
	for _, n := range before {
		was[n.Name] = n.UID
	}
	var why []string
	for _, n := range now {
		switch uid, there := was[n.Name]; {
		case !there:
			why = append(why, n.Name+" joined")
		case uid != n.UID:
			why = append(why, n.Name+" was replaced by another of the same name")
		}
		delete(was, n.Name)
	}
	for name := range was {
		why = append(why, name+" is gone")
	}
	slices.Sort(why)
	return why
}
