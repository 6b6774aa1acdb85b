package controller

import (
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/conformance/apilog"
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

// Calls that could not be read are not also reported as calls that were not made.
func TestUnreadableCallsHaveOneFinding(t *testing.T) {
	t.Parallel()
	r := good()
	r.err = map[string]string{apilog.Kind + " cluster": "connection reset"}
	j := newCheck(t).Judge(r.observations(t))
	if j.Verdict != check.Unobserved || len(j.Findings) != 1 || !strings.Contains(j.Findings[0].Message, "connection reset") {
		t.Errorf("%s: %+v", j.Verdict, j.Findings)
	}
}
