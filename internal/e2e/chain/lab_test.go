package chain_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/suite"
)

// chainLabs are the names of the labs that chains run on, those that are free:
// a chain waits more than it works, so four of them share a machine.
var chainLabs = func() chan string {
	free := make(chan string, 4)
	for i := range cap(free) {
		free <- fmt.Sprintf("chain-%d", i+1)
	}
	return free
}()

// chainLab takes a lab with Karpenter for one test, and gives it back without
// faults.
func chainLab(t *testing.T) string {
	t.Helper()
	suite.Admit(t)
	var lab string
	select {
	case lab = <-chainLabs:
	case <-t.Context().Done():
		t.Fatal(t.Context().Err())
	}
	t.Cleanup(func() {
		if t.Failed() {
			lastWords(t, lab)
		}
		r := program.Run(context.WithoutCancel(t.Context()), "lab", "fault", "clear", "--all", "--name", lab)
		if r.Code != 0 {
			t.Errorf("clear the faults of %s: %s", lab, r.Stderr)
		}
		chainLabs <- lab
	})
	program.Must(t, "lab", "up", "--name", lab, "--with", "karpenter")
	return lab
}

// lastWords logs what the programs of the chain wrote last: a failure that comes once
// in a hundred runs has to say enough the first time.
func lastWords(t *testing.T, lab string) {
	t.Helper()
	const lines = 40
	for _, name := range []string{"karpenter", "kai-scheduler", "kai-binder", "kai-podgrouper", "prometheus-adapter", "supervisor"} {
		raw, err := os.ReadFile(filepath.Join(program.Home, "labs", lab, "logs", name+".log"))
		if err != nil {
			continue // the lab has not got it
		}
		all := slices.DeleteFunc(strings.Split(strings.TrimSpace(string(raw)), "\n"), func(l string) bool {
			return strings.Contains(l, "NodePool.karpenter.sh") // Karpenter repeats it during each clean-up
		})
		t.Logf("%s of %s:\n%s", name, lab, strings.Join(all[max(0, len(all)-lines):], "\n"))
	}
}
