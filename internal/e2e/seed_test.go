package e2e_test

import (
	"fmt"
	"testing"

	"github.com/firstlight/firstlight/internal/suite"
)

// TestSeeds accepts healthy labs of different seeds: 20 in the soak, one in addition to
// that of the shared lab in make test-all. Each accept starts a lab of its own and stops it.
func TestSeeds(t *testing.T) {
	suite.Require(t, suite.All)
	sharedLab(t) // upstream programs are built
	last := suite.Pick(1, 2, 21)
	for seed := 2; seed <= last; seed++ {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			name := fmt.Sprintf("seed-%d", seed)
			program.Must(t, "lab", "up", "--name", name, "--seed", fmt.Sprint(seed))
			defer program.Must(t, "lab", "down", "--name", name)
			r := program.Run(t.Context(), "accept", "-o", "json", "--fresh", "--lab", name, "--evidence", t.TempDir())
			if a := decode(t, r); r.Code != 0 || a.verdicts() != allPassed {
				t.Errorf("exit %d: %s\n%s%s", r.Code, a.verdicts(), r.Stdout, r.Stderr)
			}
		})
	}
}
