package embedded

import (
	"testing"
	"time"

	"github.com/firstlight/firstlight/internal/lab"
)

// Regression: the world starts during builds and holds the lock until the nodes are ready, which
// needs the programs. Build progress that waited for the lock stopped the build: a deadlock.
func TestProgressDoesNotBlock(t *testing.T) {
	t.Parallel()
	told := make(chan lab.Event, 1)
	control, err := lab.New(lab.Options{Name: "x", Dir: t.TempDir(), Events: func(e lab.Event) { told <- e }})
	if err != nil {
		t.Fatal(err)
	}
	e := &embedded{mu: newLock()}
	e.handler(control)
	e.mu.Lock()
	defer e.mu.Unlock()
	go e.report(lab.Event{Kind: lab.KindBuild, Name: "kwok"})
	select {
	case got := <-told:
		if got.Name != "kwok" {
			t.Errorf("got %+v", got)
		}
	case <-time.After(time.Minute):
		t.Fatal("build progress waits for the world's lock")
	}
}
