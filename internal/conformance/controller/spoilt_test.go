package controller

import (
	"testing"

	"github.com/firstlight/firstlight/internal/checktest"
)

// Every field of an operator that is well is demanded, or it is said here why not.
func TestEveryField(t *testing.T) {
	t.Parallel()
	checktest.EveryField(t, "spoilt", newCheck(t).Judge, good().observations(t), checktest.Harmless{})
}
