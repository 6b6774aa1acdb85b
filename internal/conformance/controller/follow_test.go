package controller

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The wait for a resource stops a while after its pods ended. It continues while pods work
// or are recreated.
func TestOverdue(t *testing.T) {
	t.Parallel()
	const after = 2 * time.Minute
	ended := time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)
	of := func(phases ...string) reconcileFigures {
		so := reconcileFigures{Levels: []levelState{{Resource: "jobs"}, {Resource: "pods"}}}
		for _, p := range phases {
			so.Levels[1].Objects = append(so.Levels[1].Objects, childState{Phase: p})
		}
		return so
	}
	for name, tt := range map[string]struct {
		so     reconcileFigures
		worked bool
	}{
		"no observation":    {reconcileFigures{}, false},
		"no pod":            {of(), false},
		"a pod waits":       {of("Succeeded", "Pending"), false},
		"a pod runs":        {of("Running"), false},
		"another after one": {of("Failed", "Running"), false},
		"all have ended":    {of("Succeeded", "Failed"), true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if tt.so.podsEnded() != tt.worked {
				t.Errorf("worked: %v", !tt.worked)
			}
			if tt.so.overdue(ended.Add(time.Hour), after) {
				t.Error("it is overdue, and its pods were never seen to end")
			}
			tt.so.WorkEnded = &ended
			if tt.so.overdue(ended.Add(after), after) || !tt.so.overdue(ended.Add(after+time.Second), after) {
				t.Error("it is not overdue after that time alone")
			}
		})
	}
}

// The deadline is stored with its unit. Older runs have it in nanoseconds, and replay as they are.
func TestDeadline(t *testing.T) {
	t.Parallel()
	data, err := json.Marshal(reconcileFigures{Deadline: metav1.Duration{Duration: 5 * time.Minute}})
	if err != nil || !strings.Contains(string(data), `"deadline":"5m0s"`) || strings.Contains(string(data), "anoseconds") {
		t.Errorf("stored as %s, %v", data, err)
	}
	for _, stored := range []string{string(data), `{"deadlineNanoseconds": 300000000000}`} {
		var so reconcileFigures
		if err := json.Unmarshal([]byte(stored), &so); err != nil || so.deadline() != 5*time.Minute {
			t.Errorf("%s has the deadline %s, %v", stored, so.deadline(), err)
		}
	}
}
