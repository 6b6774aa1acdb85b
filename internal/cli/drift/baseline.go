// Package drift has the commands baseline and drift.
package drift

import (
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/firstlight/firstlight/internal/atomicfile"
	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/cli/cmdutil"
	clievidence "github.com/firstlight/firstlight/internal/cli/evidence"
	"github.com/firstlight/firstlight/internal/display"
	"github.com/firstlight/firstlight/internal/drift"
	"github.com/firstlight/firstlight/internal/evidence"
)

// NewBaseline is the command baseline.
func NewBaseline(s cmdutil.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "baseline",
		Short: "Show or record the figures of an accepted run, which drift compares with",
		Example: `  # Show the figures of an accepted run
  firstlight baseline show evidence/20261121-014233-7f3a

  # Record them in a file, to keep it longer than the evidence
  firstlight baseline record evidence/20261121-014233-7f3a --file prod.baseline.json`,
	}
	cmd.AddCommand(newShow(s), newRecord(s))
	return cmd
}

const verified = `The evidence is verified first: files, verdicts and, with --key, the signature. Evidence
that does not verify, and a run that was not accepted, are refused (exit 1 and 2).`

func newShow(s cmdutil.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "show DIR",
		Short: "Print the figures of an accepted run with their spread, and the stack that they are valid for",
		Long: `Print the baseline of an accepted run: the stack (profile, drivers, firmware, NCCL, images)
and each figure as the median of its repetitions, steps or requests.

` + verified,
		Example: "  firstlight baseline show evidence/20261121-014233-7f3a",
		Args:    cobra.ExactArgs(1),
	}
	keys := addKeys(cmd)
	out := cmdutil.AddOutputFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		b, err := fromRun(cmd.Context(), args[0], *keys)
		if err != nil {
			return err
		}
		return out.Write(s.Out, b, func(w io.Writer) { printBaseline(w, b) })
	}
	return cmd
}

func newRecord(s cmdutil.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "record DIR",
		Short: "Write the baseline of an accepted run to a file",
		Long: `Write the baseline of an accepted run to a file, for firstlight drift --against FILE.

` + verified,
		Example: "  firstlight baseline record evidence/20261121-014233-7f3a --file prod.baseline.json",
		Args:    cobra.ExactArgs(1),
	}
	keys := addKeys(cmd)
	file := cmd.Flags().String("file", "baseline.json", "file to write")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		b, err := fromRun(cmd.Context(), args[0], *keys)
		if err != nil {
			return err
		}
		data, err := b.Encode()
		if err != nil {
			return cmdutil.Unobserved(err)
		}
		if err := atomicfile.Write(*file, data, 0o644); err != nil {
			return cmdutil.UsageErrorf("write the baseline: %w", err)
		}
		_, err = fmt.Fprintf(s.Out, "baseline of run %s: %s\n", b.Run, *file)
		return err
	}
	return cmd
}

func addKeys(cmd *cobra.Command) *[]string {
	return cmd.Flags().StringArray("key", nil, "public key of an accepted signer of the run (repeatable; one must match)")
}

// fromRun is the baseline of verified evidence.
func fromRun(ctx context.Context, path string, keyFiles []string) (drift.Baseline, error) {
	b, _, err := clievidence.Verified(ctx, path, keyFiles, "a baseline")
	if err != nil {
		return drift.Baseline{}, err
	}
	out, err := drift.Of(b)
	if err != nil {
		return drift.Baseline{}, cmdutil.UsageErrorf("%w", err)
	}
	return out, nil
}

// against is the baseline of a run's directory or of a recorded file.
func against(ctx context.Context, path string, keyFiles []string) (drift.Baseline, error) {
	info, err := os.Stat(path)
	if err != nil {
		return drift.Baseline{}, cmdutil.UsageErrorf("cannot read --against: %w", err)
	}
	if info.IsDir() {
		return fromRun(ctx, path, keyFiles)
	}
	if len(keyFiles) > 0 {
		return drift.Baseline{}, cmdutil.UsageErrorf("--key verifies a run, and %s is a recorded baseline", path)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return drift.Baseline{}, cmdutil.UsageErrorf("cannot read --against: %w", err)
	}
	b, err := drift.Parse(data)
	if err != nil {
		return drift.Baseline{}, cmdutil.UsageErrorf("%s: %w", path, err)
	}
	return b, nil
}

func printBaseline(w io.Writer, b drift.Baseline) {
	hardware := ""
	if b.Simulated != evidence.HardwareReal {
		hardware = ", simulated: " + b.Simulated.String()
	}
	fmt.Fprintf(w, "baseline of run %s  site %s, profile %s, %s%s\n", display.Escape(b.Run), display.Escape(b.Site), display.Escape(b.Profile), b.Accepted.UTC().Format("2006-01-02"), hardware)
	for _, reason := range b.NarrowedBy {
		fmt.Fprintf(w, "  narrowed: %s\n", display.Escape(reason))
	}
	table := display.NewTable(w, "\nSTACK", "VALUE")
	for _, component := range slices.Sorted(maps.Keys(b.Stack)) {
		table.Line(display.Escape(component), display.Escape(strings.Join(b.Stack[component], ", ")))
	}
	table.Flush()
	table = display.NewTable(w, "\nGATE", "FIGURE", "MEDIAN", "MIN TO MAX", "N")
	for _, f := range b.Figures {
		sorted := slices.Sorted(slices.Values(f.Values))
		n := max(len(sorted), f.Requests)
		table.Line(f.Gate, display.Escape(f.Name), fmt.Sprintf("%.4g %s", check.Percentile(sorted, 50), f.Unit), fmt.Sprintf("%.4g to %.4g", sorted[0], sorted[len(sorted)-1]), fmt.Sprint(n))
	}
	table.Flush()
}
