package inference

import (
	"testing"

	"github.com/firstlight/firstlight/internal/checktest"
)

// Every field of routes and answers is demanded, or it is said here why not.
func TestEveryField(t *testing.T) {
	t.Parallel()
	c := aCheck()
	checktest.EveryField(t, "spoilt", c.Judge, goodStory(c).observations(t), checktest.Harmless{})
}
