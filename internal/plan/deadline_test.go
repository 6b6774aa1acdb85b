package plan

import (
	"context"
	"testing"

	"github.com/firstlight/firstlight/internal/check"
)

// How long a check may take is the check's own: the engine gives none of them less.
func TestTheEngineCutsNoCheckShort(t *testing.T) {
	t.Parallel()
	looked := false
	c := fakeCheck{name: "a", observe: func(ctx context.Context, rec check.Recorder) error {
		_, bounded := ctx.Deadline()
		looked = !bounded
		return see(rec, "thing")
	}}
	if out, _ := runPlan(t, &Executor{Plan: linear(c)}); out.Verdict != check.Passed {
		t.Fatalf("%+v", out)
	}
	if !looked {
		t.Error("the check had a deadline that is not its own")
	}
}
