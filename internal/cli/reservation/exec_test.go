package reservation

import (
	"errors"
	"fmt"
	"testing"

	"github.com/firstlight/firstlight/internal/cli/cmdutil"
	"github.com/firstlight/firstlight/internal/proctree"
)

// When a lease is lost, processes of the command that may still run are reported; how the stopped
// command ended is not.
func TestLeftProcessesOfAStoppedCommandAreReported(t *testing.T) {
	t.Parallel()
	left := &proctree.LeftError{PIDs: []int{7}}
	if err := withoutExitCode(cmdutil.Unobserved(fmt.Errorf("train: %w", left))); !errors.Is(err, left) || err.Error() != "train: "+left.Error() {
		t.Errorf("got %v, want %v", err, left)
	}
	if err := withoutExitCode(&cmdutil.ExitError{Code: 143}); err != nil {
		t.Errorf("got %v for the exit code of a stopped command", err)
	}
}
