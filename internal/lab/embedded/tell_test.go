package embedded

import (
	"testing"
	"time"

	"github.com/firstlight/firstlight/internal/lab"
)

// The world starts while programs are still being built, and holds the lock until the
// nodes are ready, which need these programs: progress that waited for the lock stopped
// the build, and both waited for ever (seen in a first accept with empty caches).
func TestProgressDoesNotWaitForTheWorld(t *testing.T) {
	t.Parallel()
	told := make(chan lab.Event, 1)
	control, err := lab.New(lab.Options{Name: "x", Dir: t.TempDir(), Events: func(e lab.Event) { told <- e }})
	if err != nil {
		t.Fatal(err)
	}
	e := &embedded{}
	e.handler(control)
	e.mu.Lock()
	defer e.mu.Unlock()
	go e.tell(lab.Event{Kind: lab.KindBuild, Name: "kwok"})
	select {
	case got := <-told:
		if got.Name != "kwok" {
			t.Errorf("told %+v", got)
		}
	case <-time.After(time.Minute):
		t.Fatal("progress of a build waits for the world's lock")
	}
}
