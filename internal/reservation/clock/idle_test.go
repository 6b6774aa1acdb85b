package clock

import (
	"path/filepath"
	"testing"
	"time"
)

func TestIdleTracker(t *testing.T) {
	c, err := Open(filepath.Join(t.TempDir(), "clock"))
	if err != nil {
		t.Fatal(err)
	}
	a := NewIdleTracker(c)
	want := func(what string, idle bool, next time.Time) int64 {
		t.Helper()
		i, n, changes := a.State()
		if i != idle || !n.Equal(next) {
			t.Errorf("%s: idle %v until %v, want %v until %v", what, i, n, idle, next)
		}
		return changes
	}
	noon := c.Now().Add(time.Hour)
	before := want("nothing", true, time.Time{})
	end := a.Begin()
	if want("work in progress", false, time.Time{}) == before {
		t.Error("nothing has changed")
	}
	done := a.Waiting(noon)
	want("waiting", true, noon)
	a.Set("evening", noon.Add(time.Hour))
	want("something later is due", true, noon)
	a.Set("morning", noon.Add(-time.Minute))
	want("something earlier is due", true, noon.Add(-time.Minute))
	a.Set("morning", time.Time{})
	if err := c.Jump(noon); err != nil {
		t.Fatal(err)
	}
	want("due, not noticed yet", false, noon)
	done()
	done() // is no more than once
	want("working", false, noon.Add(time.Hour))
	end()
	want("the rest of the day", true, noon.Add(time.Hour))
	if err := a.Wait(t.Context(), noon); err != nil {
		t.Fatal(err)
	}
}
