package binary

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/firstlight/firstlight/internal/suite"
)

// Acceptance is the -o json object of accept.
type Acceptance struct {
	Verdict  string
	Evidence string // directory of the run
	Gates    []Gate
}

// Gate is one gate of an Acceptance.
type Gate struct {
	Gate, Verdict, Reason string
	Findings              []Finding
}

// Finding is one finding of a Gate.
type Finding struct{ Suspect, Message, Remedy string }

// Accept runs accept on a lab. A run on which the machine stalled is repeated.
func (f Firstlight) Accept(t *testing.T, lab string, args ...string) (a Acceptance, r Result) {
	t.Helper()
	suite.Repeat(t, func() string {
		r = f.Run(t.Context(), append([]string{"accept", "-o", "json", "--lab", lab, "--evidence", t.TempDir()}, args...)...)
		a = Acceptance{}
		if err := json.Unmarshal([]byte(r.Stdout), &a); err != nil || len(a.Gates) == 0 {
			t.Fatalf("accept exited %d with %d gates: %v\n%s%s", r.Code, len(a.Gates), err, r.Stdout, r.Stderr)
		}
		for _, g := range a.Gates {
			if g.Verdict == "unobserved" {
				return g.Reason
			}
		}
		return ""
	})
	return a, r
}

// LabDown returns an end of Main that stops a lab.
func (f *Firstlight) LabDown(lab string) func(ctx context.Context, dir string) error {
	return func(ctx context.Context, _ string) error {
		if r := f.Run(ctx, "lab", "down", "--name", lab); r.Code != 0 {
			return fmt.Errorf("lab down exited %d: %s%s", r.Code, r.Stdout, r.Stderr)
		}
		return nil
	}
}
