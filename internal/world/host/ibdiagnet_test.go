package host

import (
	"fmt"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/world"
)

// ibdiagnet counts all errors of a check, and prints five of them or as many as --screen_num_errs allows.
func TestErrorsOnTheScreenOfIbdiagnet(t *testing.T) {
	t.Parallel()
	var slow []world.Fault
	for i := range 7 {
		slow = append(slow, world.Fault{Kind: "link-degraded", Target: fmt.Sprintf("gpu-02/mlx5_%d", i)})
	}
	slow = append(slow, world.Fault{Kind: "link-degraded", Target: "gpu-02/mlx5_7", Options: map[string]string{"how": "width"}})
	s := state(t, 2, slow...)
	for command, speeds := range map[string]int{"ibdiagnet": 5, "ibdiagnet --screen_num_errs 6": 6, "ibdiagnet --screen_num_errs 1000000": 7} {
		out, _, exit := run(t, s, "gpu-01", command)
		if n := strings.Count(out, "Unexpected actual link speed"); exit != 0 || n != speeds {
			t.Errorf("%s: exit %d, %d errors of speed, want %d", command, exit, n, speeds)
		}
		if n := strings.Count(out, "Unexpected actual link width"); n != 1 {
			t.Errorf("%s: %d errors of width, want 1", command, n)
		}
		if !strings.Contains(out, "<-->gpu-02/mlx5_0/P1 - Unexpected") && !strings.Contains(out, "gpu-02/mlx5_0/P1<-->") {
			t.Errorf("%s: an adapter has its description: %s", command, out)
		}
		if !strings.Contains(out, "-I- Speed / Width checks                0          8") {
			t.Errorf("%s: not all errors are counted: %s", command, out)
		}
	}
}
