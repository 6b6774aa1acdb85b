package node_test

import (
	"context"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/gate/node"
	"github.com/firstlight/firstlight/internal/probe/ssh"
)

// The diagnostic is the only command that ends with its session: see ssh.WithLoad.
func TestDiagnosticIsALoad(t *testing.T) {
	t.Parallel()
	answers := outputs(t)
	g := node.New(testSite(1), testProfile(t), node.Deps{Hosts: fakeHosts{run: func(ctx context.Context, _, line string) (ssh.Output, error) {
		if want := strings.HasPrefix(line, "dcgmi diag"); ssh.Loads(ctx) != want {
			t.Errorf("%s: load %t, want %t", line, !want, want)
		}
		return answers[line], nil
	}}})
	rec := &recorder{}
	if err := g.Observe(t.Context(), rec); err != nil {
		t.Fatal(err)
	}
}
