package cli

import (
	"bytes"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/cli/cmdutil"
	"github.com/firstlight/firstlight/internal/golden"
)

func run(t *testing.T, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	var out, errs bytes.Buffer
	code = Main(t.Context(), args, Streams{In: strings.NewReader(""), Out: &out, Err: &errs})
	return out.String(), errs.String(), code
}

// TestHelp compares the help of every command with its golden. pflag's empty defaults and
// type names of maps are defects.
func TestHelp(t *testing.T) {
	t.Setenv("FIRSTLIGHT_HOME", t.TempDir())
	var visit func(cmd *cobra.Command, path []string)
	visit = func(cmd *cobra.Command, path []string) {
		if cmd.Hidden {
			return
		}
		out, _, code := run(t, append(append([]string{}, path...), "--help")...)
		if code != cmdutil.ExitPassed {
			t.Errorf("%v --help exits %d", path, code)
		}
		for _, defect := range []string{"(default )", "(default [])", "stringToString"} {
			if strings.Contains(out, defect) {
				t.Errorf("%v --help has a flag with %q", path, defect)
			}
		}
		golden.Compare(t, "testdata/golden/help/"+strings.Join(append([]string{"firstlight"}, path...), "-")+".txt", []byte(out))
		for _, c := range cmd.Commands() {
			visit(c, append(append([]string{}, path...), c.Name()))
		}
	}
	visit(Root(Streams{}), nil)
}

func TestExitCodes(t *testing.T) {
	t.Parallel()
	for verdict, want := range map[check.Verdict]int{
		check.Passed: 0, check.NotApplicable: 0, check.Failed: 1, check.Unobserved: 3, check.Blocked: 3, "": 3, "fine": 3,
	} {
		if got := cmdutil.ExitCode(cmdutil.VerdictError(verdict)); got != want {
			t.Errorf("verdict %q exits %d, want %d", verdict, got, want)
		}
	}
}
