package reservation

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/firstlight/firstlight/internal/cli/cmdutil"
	"github.com/firstlight/firstlight/internal/display"
	"github.com/firstlight/firstlight/internal/reservation/config"
	"github.com/firstlight/firstlight/internal/reservation/controller"
)

func newCompat(s cmdutil.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "compat",
		Short: "Check which releases support an intent on a cloud",
		Long: `Floors keep the nightly batch from running releases that cannot pass: the tests come from
the main branch and may need features that old releases lack.`,
		Example: `  firstlight reservation compat check --compat examples/compat.yaml --tags examples/releases.txt`,
	}
	cmd.AddCommand(newCompatCheck(s))
	return cmd
}

func newCompatCheck(s cmdutil.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Check floors against the existing releases; exit 1 if a floor is invalid",
		Long: `Print the state of each floor: active (older releases are held back), pending (it is the
next release), unused (no release is below it), or too-high (the release does not exist and
cannot be the next one). Without known releases every floor is unknown. The last two stop
the nightly batch on the whole cloud.

Exit codes: 0 all floors are valid; 1 one is not; 2 a file is invalid.`,
		Example: `  firstlight reservation compat check --compat examples/compat.yaml --tags examples/releases.txt

  # With the tags of a repository
  git tag --list 'v*' | firstlight reservation compat check --compat examples/compat.yaml --tags -`,
		Args: cobra.NoArgs,
	}
	compat := cmd.Flags().String("compat", "compat.yaml", "file with the floors")
	file := cmd.Flags().String("tags", "", "file with the existing tags, one per line (-: standard input)")
	out := cmdutil.AddOutputFlag(cmd)
	cmd.RunE = func(*cobra.Command, []string) error {
		if *compat == "-" && *file == "-" {
			return cmdutil.UsageErrorf("--compat and --tags cannot both be standard input")
		}
		f, err := cmdutil.ParseFile(s, *compat, config.ParseCompat)
		if err != nil {
			return err
		}
		var tags []string
		if *file != "" {
			if tags, err = cmdutil.ParseFile(s, *file, controller.ParseTags); err != nil {
				return err
			}
		}
		judged := f.Status(tags)
		if err := out.Write(s.Out, judged, func(w io.Writer) { printJudgements(w, judged) }); err != nil {
			return err
		}
		for _, j := range judged {
			if j.State.Invalid() && *file == "" {
				return &cmdutil.ExitError{Code: cmdutil.ExitFailed, Err: errors.New("no releases given: want --tags FILE (-: standard input)")}
			}
			if j.State.Invalid() {
				return &cmdutil.ExitError{Code: cmdutil.ExitFailed}
			}
		}
		return nil
	}
	return cmd
}

func printJudgements(w io.Writer, judged []config.FloorStatus) {
	if len(judged) == 0 {
		fmt.Fprintln(w, "no floors: every release runs")
	}
	table := display.NewTable(w, "LANE", "INTENTS", "FLOOR", "STATE", "REASON")
	for _, j := range judged {
		table.Row(j.Floor.Lane, names(j.Floor.Intents), j.Floor.MinRelease, j.State, j.Reason)
	}
	table.Flush()
}

func names(intents []config.Intent) string {
	out := make([]string, len(intents))
	for i, intent := range intents {
		out[i] = string(intent)
	}
	return strings.Join(out, ",")
}
