package lab

import (
	"fmt"
	"os"
	"testing"
)

// TestMain refuses to run tests in a process that lab up started as a supervisor: lab up runs its
// own executable, so that a test of it would start itself again and again.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "lab" {
		fmt.Fprintln(os.Stderr, "the test binary cannot supervise a lab")
		os.Exit(3)
	}
	os.Exit(m.Run())
}
