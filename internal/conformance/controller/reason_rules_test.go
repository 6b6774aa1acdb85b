package controller

import (
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/check"
)

// The reason of a pass has each thing that was shown, once.
func TestAPassStatesWhatWasShown(t *testing.T) {
	t.Parallel()
	j := newCheck(t).Judge(good().observations(t))
	if j.Verdict != check.Passed {
		t.Fatalf("%s: %s", j.Verdict, j.Reason)
	}
	for _, part := range []string{
		"definitions Established", "ready", "reconciled to 1 jobsets, 1 jobs, 1 pods in 7s", "denies an invalid resource", "denies a malformed resource", "killed in mid-reconcile, the resource ended 25s later",
	} {
		if strings.Count(j.Reason, part) != 1 {
			t.Errorf("%q is not once in %q", part, j.Reason)
		}
	}
	if strings.Count(j.Reason, "reconciled to") != 1 {
		t.Error(j.Reason)
	}
}
