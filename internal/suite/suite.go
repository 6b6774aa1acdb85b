// Package suite says how much of the test suite a run has. Only tests import it.
//
// Environment: FIRSTLIGHT_TESTS is empty for the tests of every change (make test), all
// for each fault, seed and kill (make test-all), soak for the long versions (make soak).
package suite

import (
	"fmt"
	"os"
	"testing"
)

// Env is the variable that says how much of the suite is run.
const Env = "FIRSTLIGHT_TESTS"

// Level is how much of the suite is run; each has the tests of those before it.
type Level int

// The levels, with the make target of each.
const (
	Change Level = iota // make test
	All                 // make test-all, make mutants
	Soak                // make soak
)

var levelNames = []string{"test", "test-all", "soak"}

// String is the make target.
func (l Level) String() string { return levelNames[l] }

// ParseLevel reads a level as it is in Env and in the manifest.
func ParseLevel(text string) (Level, error) {
	switch text {
	case "", "test":
		return Change, nil
	case "all", "test-all":
		return All, nil
	case "soak":
		return Soak, nil
	}
	return 0, fmt.Errorf("invalid level %q: want test, all or soak", text)
}

// Current is the level of this run. An invalid value ends the test binary: a run
// must not have a lower level than requested.
func Current() Level {
	l, err := ParseLevel(os.Getenv(Env))
	if err != nil {
		panic(Env + ": " + err.Error())
	}
	return l
}

// Require skips the test where the run has less than this level.
func Require(tb testing.TB, l Level) {
	tb.Helper()
	if Current() < l {
		tb.Skipf("runs in make %s", l)
	}
}

// LiveMark is in the line with which Live skips: the run finds live tests by it.
const LiveMark = "runs upstream programs"

// Live skips a test that runs upstream programs in a run of unit tests alone (-short), and
// otherwise admits it.
func Live(tb testing.TB) {
	tb.Helper()
	if testing.Short() {
		tb.Skip(LiveMark + ": not with -short")
	}
	Admit(tb)
}

// Pick is the value for the level of this run.
func Pick[T any](change, all, soak T) T {
	return [...]T{change, all, soak}[Current()]
}

// RepeatedMark is in the line that a test logs when it is repeated because the machine
// stalled; the run prints such lines also of tests that passed.
const RepeatedMark = "repeated: the machine stalled"
