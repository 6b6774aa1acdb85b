package network

import (
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/checktest"
)

// Every field of what nodes offer and a claim got is demanded, or it is said here why not.
func TestEveryField(t *testing.T) {
	t.Parallel()
	obs := []check.Observation{observation(t, kindOffer, classed(nodes(withDRA(), withDRA()))), observation(t, kindClaimed, claimed(dranet))}
	checktest.EveryField(t, "spoilt", (&Check{nodes: []string{"gpu-01", "gpu-02"}}).Judge, obs, checktest.Harmless{})
}
