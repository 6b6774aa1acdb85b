package process

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/firstlight/firstlight/internal/poll/polltest"
)

// The children of a program end with it, also when it dies by itself.
func TestChildrenEndWithTheProgram(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "pid") // removed after the supervisor has stopped: it starts the program again
	s, r := start(t, Options{})
	spec := script(t, "parent", `sleep 1000 & echo $! > "$FILE.tmp"; mv "$FILE.tmp" "$FILE"; wait`)
	spec.Env = append(spec.Env, "FILE="+file)
	spec.Ready = fileExists(file)
	if err := s.Start(t.Context(), spec); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(raw)))
	if err != nil {
		t.Fatal(err)
	}
	child, err := Identify(pid)
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(s.Status()[0].Identity.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	r.await(t, "the program's death", func(e Event) bool { return e.State == Waiting })
	polltest.Until(t, "its child to end", func() bool { return !child.Alive() })
}
