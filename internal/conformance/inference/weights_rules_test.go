package inference

import (
	"testing"

	"github.com/firstlight/firstlight/internal/check"
)

// As many requests as the bounds allow are a split by the weights; one more or fewer is not.
func TestWeightsHoldAtTheirBounds(t *testing.T) {
	t.Parallel()
	c := aCheck()
	n := len(goodStory(c).requests[toWeights].Answers)
	least, most := bounds(n, c.figures.share(), c.figures.Alpha)
	for first, want := range map[int]check.Verdict{least - 1: check.Failed, least: check.Passed, most: check.Passed, most + 1: check.Failed} {
		s := goodStory(c)
		s.answers(toWeights, func(i int, a *answer) {
			a.Model = "firstlight-model-b"
			if i < first {
				a.Model = "firstlight-model-a"
			}
		})
		if j := c.Judge(s.observations(t)); j.Verdict != want {
			t.Errorf("%d of %d requests to the first backend (%d to %d): %s: %s", first, n, least, most, j.Verdict, j.Reason)
		}
	}
}
