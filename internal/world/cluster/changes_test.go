package cluster

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestChangesAreTakenOnce(t *testing.T) {
	t.Parallel()
	c := newChanges()
	announced := func() bool {
		select {
		case <-c.some:
			return true
		default:
			return false
		}
	}
	if announced() {
		t.Error("announced without a change")
	}
	for _, name := range []string{"a", "b", "a"} {
		c.add(name)
	}
	if !announced() || announced() {
		t.Error("three changes are not announced once")
	}
	if diff := cmp.Diff(map[string]bool{"a": true, "b": true}, c.take()); diff != "" {
		t.Error(diff)
	}
	if len(c.take()) != 0 {
		t.Error("taken twice")
	}
	if c.add("c"); !announced() || !c.take()["c"] {
		t.Error("a later change is lost")
	}
}
