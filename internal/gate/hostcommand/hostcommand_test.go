package hostcommand_test

import (
	"slices"
	"testing"

	"github.com/firstlight/firstlight/internal/gate/hostcommand"
)

func TestPrograms(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		argv, want []string
	}{
		"one":      {[]string{"nvidia-smi", "-q", "-x"}, []string{"nvidia-smi"}},
		"a script": {[]string{"sh", "-c", "echo =a=; date +%s && grep -Hs . /x || date"}, []string{"date", "grep"}},
		"a shell":  {[]string{"sh", "run.sh"}, []string{"sh"}},
		"none":     {nil, nil},
	} {
		if got := (hostcommand.Command{Argv: tt.argv}).Programs(); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}

func TestTried(t *testing.T) {
	t.Parallel()
	c := hostcommand.Command{Argv: []string{"ibdiagnet"}}
	if got := c.Tried(); !slices.Equal(got, []string{"ibdiagnet"}) {
		t.Errorf("without a trial: %q", got)
	}
	c.Trial = hostcommand.Installed("ibdiagnet")
	if got, want := c.Tried(), []string{"sh", "-c", "command -v ibdiagnet"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
