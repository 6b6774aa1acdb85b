package reservation

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/firstlight/firstlight/internal/reservation/config"
	"github.com/firstlight/firstlight/internal/reservation/controller"
)

func newReservationFloors(s Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "floors",
		Short: "From which release on an intent is run on a cloud",
		Long: `Floors keep the nightly batch from running releases that can't pass: what is tested comes
from the main branch, and may need more than an old release has.`,
		Example: `  firstlight reservation floors check --compat examples/compat.yaml --tags examples/releases.txt`,
	}
	cmd.AddCommand(newFloorsCheck(s))
	return cmd
}

func newFloorsCheck(s Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Hold floors against the releases that there are; exits 1 when one can't be right",
		Long: `check says what each floor comes to: it holds, it is awaited (it is the next release), it is
inert (no release is below it), or it is over-high: there is no such release, and it can't be
the next. With no release known, all are inconclusive. Of the last two nothing runs at night
on the whole cloud.

Exit codes: 0 none of them is wrong; 1 one is; 2 a file can't be used.`,
		Example: `  firstlight reservation floors check --compat examples/compat.yaml --tags examples/releases.txt
  git tag --list 'v*' | firstlight reservation floors check --compat examples/compat.yaml --tags -`,
		Args: cobra.NoArgs,
	}
	compat := cmd.Flags().String("compat", "compat.yaml", "the floors")
	file := cmd.Flags().String("tags", "", "the tags that there are, one a line; - is standard input; without it, no release is known")
	out := addChoice(cmd, "table", "json")
	cmd.RunE = func(*cobra.Command, []string) error {
		if *compat == "-" && *file == "-" {
			return usage("--compat and --tags can't both be standard input")
		}
		f, err := reservationFile(s, *compat, config.ParseCompat)
		if err != nil {
			return err
		}
		var tags []string
		if *file != "" {
			if tags, err = reservationFile(s, *file, controller.ParseTags); err != nil {
				return err
			}
		}
		judged := f.Status(tags)
		if err := writeWhole(s.Out, func(w io.Writer) error {
			if out.value == "json" {
				return writeJSON(w, judged, "  ")
			}
			return printJudgements(w, judged)
		}); err != nil {
			return err
		}
		for _, j := range judged {
			if j.State.Invalid() && *file == "" {
				return &exitError{code: ExitFailed, err: errors.New("no releases were given: --tags names a file of them, - is standard input")}
			}
			if j.State.Invalid() {
				return &exitError{code: ExitFailed}
			}
		}
		return nil
	}
	return cmd
}

func printJudgements(w io.Writer, judged []config.FloorStatus) error {
	if len(judged) == 0 {
		_, err := fmt.Fprintln(w, "there are no floors: nothing is held back")
		return err //nolint:wrapcheck // into memory
	}
	tw := tabwriter.NewWriter(w, 2, 8, 2, ' ', 0)
	fmt.Fprintln(tw, "LANE\tINTENTS\tFLOOR\tSTANDING\tWHY")
	for _, j := range judged {
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%s\n", j.Floor.Lane, names(j.Floor.Intents), j.Floor.MinRelease, j.State, j.Reason)
	}
	return tw.Flush() //nolint:wrapcheck // into memory
}

func names(intents []config.Intent) string {
	out := make([]string, len(intents))
	for i, intent := range intents {
		out[i] = string(intent)
	}
	return strings.Join(out, ",")
}
