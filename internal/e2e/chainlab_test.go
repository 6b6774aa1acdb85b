package e2e_test

import (
	"context"
	"fmt"
	"testing"
)

// chainLabs are the names of the labs that chains run on, those that are free:
// a chain waits more than it works, so three of them share a machine.
var chainLabs = func() chan string {
	free := make(chan string, 3)
	for i := range cap(free) {
		free <- fmt.Sprintf("chain-%d", i+1)
	}
	return free
}()

// chainLab takes a lab with Karpenter for one test, and gives it back without
// faults.
func chainLab(t *testing.T) string {
	t.Helper()
	var lab string
	select {
	case lab = <-chainLabs:
	case <-t.Context().Done():
		t.Fatal(t.Context().Err())
	}
	t.Cleanup(func() {
		r := firstlight(context.WithoutCancel(t.Context()), "lab", "fault", "clear", "--all", "--name", lab)
		if r.code != 0 {
			t.Errorf("clear the faults of %s: %s", lab, r.stderr)
		}
		chainLabs <- lab
	})
	must(t, "lab", "up", "--name", lab, "--with", "karpenter")
	return lab
}
