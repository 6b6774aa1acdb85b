package conformance

import (
	"testing"

	"github.com/firstlight/firstlight/internal/check"
)

func TestOnePartIsEnoughWhereOneIsWanted(t *testing.T) {
	t.Parallel()
	var p Parts
	p.Shown()
	if j := p.Judgement(1, "all is well"); j.Verdict != check.Passed {
		t.Errorf("%s: %s", j.Verdict, j.Reason)
	}
}
