package lab

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firstlight/firstlight/internal/cli/cmdutil"
)

// What a lab cannot have is bad input, said with what it can, before anything is started.
func TestUnknownExtraIsBadInput(t *testing.T) {
	t.Setenv("FIRSTLIGHT_HOME", t.TempDir())
	for _, args := range [][]string{
		{"lab", "up", "--with", "karpenter,carpenter"},
		{"lab", "supervise", "--with=carpenter"},
	} {
		_, stderr, code := run(t, args...)
		if code != cmdutil.ExitUsage || !strings.Contains(stderr, `"carpenter"`) || !strings.Contains(stderr, "karpenter, kai") {
			t.Errorf("%v: exit %d, %q; want bad input that lists what there is", args, code, stderr)
		}
	}
}

// What is handed to the lab's own process is what it reads.
func TestExtrasAreHandedOn(t *testing.T) {
	cmd := newLabSupervise(cmdutil.Streams{})
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
