package lab

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firstlight/firstlight/internal/cli/clitest"
	"github.com/firstlight/firstlight/internal/cli/cmdutil"
)

// An unknown extra is a usage error that lists the known ones.
func TestUnknownExtra(t *testing.T) {
	t.Setenv("FIRSTLIGHT_HOME", t.TempDir())
	for _, args := range [][]string{
		{"lab", "up", "--with", "karpenter,carpenter"},
		{"lab", "supervise", "--with=carpenter"},
	} {
		_, stderr, code := clitest.Run(t, New, args...)
		if code != cmdutil.ExitUsage || !strings.Contains(stderr, `"carpenter"`) || !strings.Contains(stderr, "karpenter, kai") {
			t.Errorf("%v: exit %d, %q; want a usage error that lists the known extras", args, code, stderr)
		}
	}
}

// The lab's own process reads the extras of lab up.
func TestExtrasArePassedOn(t *testing.T) {
	cmd := newSupervise(cmdutil.Streams{})
	if err := cmd.ParseFlags(cmdutil.WithArgs([]string{"karpenter", "kai"})); err != nil {
		t.Fatal(err)
	}
	got, err := cmd.Flags().GetStringSlice("with")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"karpenter", "kai"}, got); diff != "" {
		t.Error(diff)
	}
	if args := cmdutil.WithArgs(nil); len(args) != 0 {
		t.Errorf("without extras: %v, want no flag", args)
	}
}
