package lab

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/firstlight/firstlight/internal/atomicfile"
	"github.com/firstlight/firstlight/internal/cli/cmdutil"
	"github.com/firstlight/firstlight/internal/display"
	"github.com/firstlight/firstlight/internal/upstream"
)

func newPrograms(s cmdutil.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "programs",
		Short: "List, build, export and import the upstream programs of a lab",
		Long: `A lab runs upstream programs, which are built from pinned Go modules on first use. Build
them in advance, or export them to a machine without network or Go.`,
		Example: `  firstlight lab programs list

  # Build all programs, which takes minutes
  firstlight lab programs build

  # Copy the programs to another machine
  firstlight lab programs export programs.tar.gz
  firstlight lab programs import programs.tar.gz`,
	}
	cmd.AddCommand(newProgramsList(s), newProgramsBuild(s), newProgramsExport(s), newProgramsImport(s))
	return cmd
}

func newProgramsList(s cmdutil.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use: "list", Short: "List the pinned programs with version and build state", Example: "  firstlight lab programs list", Args: cobra.NoArgs,
	}
	out := cmdutil.AddOutputFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		all, err := upstream.Builder{}.List(cmd.Context())
		if err != nil {
			return cmdutil.Unobserved(err)
		}
		return out.Write(s.Out, all, func(w io.Writer) {
			table := display.NewTable(w, "PROGRAM", "VERSION", "MODULE", "PINS", "BUILT")
			for _, p := range all {
				built := "no"
				if p.Path != "" {
					built = "yes"
				}
				table.Row(p.Program, p.Version, p.Module, p.Group, built)
			}
			table.Flush()
		})
	}
	return cmd
}

func newProgramsBuild(s cmdutil.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use: "build [PROGRAM...]", Short: "Build missing programs (default: all of them)",
		Example: `  firstlight lab programs build
  firstlight lab programs build karpenter prometheus-adapter`,
		Args: cobra.ArbitraryArgs,
	}
	cmd.RunE = func(cmd *cobra.Command, names []string) error {
		names, err := programNames(names)
		if err != nil {
			return err
		}
		return cmdutil.Unobserved(withBuilds(s, func(report func(upstream.Event)) error {
			_, err := upstream.Builder{}.Ensure(cmd.Context(), names, report)
			return err
		}))
	}
	return cmd
}

func newProgramsExport(s cmdutil.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use: "export FILE [PROGRAM...]", Short: "Write programs (default: all of them) with their digests to an archive, building missing ones",
		Example: `  firstlight lab programs export programs.tar.gz
  firstlight lab programs export store.tar.gz etcd kube-apiserver`,
		Args: cobra.MinimumNArgs(1),
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		names, err := programNames(args[1:])
		if err != nil {
			return err
		}
		return cmdutil.Unobserved(withBuilds(s, func(report func(upstream.Event)) error {
			m, err := exportPrograms(cmd.Context(), names, args[0], report)
			if err == nil {
				fmt.Fprintf(s.Err, "%d programs for %s/%s exported to %s\n", len(m.Programs), m.OS, m.Arch, args[0])
			}
			return err
		}))
	}
	return cmd
}

func exportPrograms(ctx context.Context, names []string, path string, report func(upstream.Event)) (m upstream.Manifest, err error) {
	f, err := atomicfile.Create(path, 0o644)
	if err != nil {
		return m, fmt.Errorf("export programs: %w", err)
	}
	defer func() { err = errors.Join(err, f.Discard()) }()
	if m, err = (upstream.Builder{}).Export(ctx, names, f, report); err != nil {
		return m, err
	}
	if err := f.Commit(true); err != nil {
		return m, fmt.Errorf("export programs: %w", err)
	}
	return m, nil
}

func newProgramsImport(s cmdutil.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use: "import FILE", Short: "Import programs from an archive after verifying digests and pinned versions",
		Example: "  firstlight lab programs import programs.tar.gz",
		Args:    cobra.ExactArgs(1),
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		f, err := os.Open(args[0])
		if err != nil {
			return cmdutil.UsageErrorf("import programs: %w", err)
		}
		defer f.Close()
		m, err := upstream.Builder{}.Import(cmd.Context(), f)
		if errors.Is(err, upstream.ErrArchive) {
			return cmdutil.UsageErrorf("%s: %w", args[0], err)
		}
		if err != nil {
			return cmdutil.Unobserved(err)
		}
		fmt.Fprintf(s.Err, "%d programs imported, built with %s\n", len(m.Programs), m.Toolchain)
		return nil
	}
	return cmd
}

// programNames validates names; no names are all programs.
func programNames(names []string) ([]string, error) {
	if len(names) > 0 {
		if err := upstream.CheckNames(names); err != nil {
			return nil, cmdutil.UsageErrorf("%w", err)
		}
		return names, nil
	}
	pins, err := upstream.Pins()
	if err != nil {
		return nil, cmdutil.Unobserved(err)
	}
	for _, p := range pins {
		names = append(names, p.Program)
	}
	return names, nil
}

// withBuilds runs do and shows its builds.
func withBuilds(s cmdutil.Streams, do func(report func(upstream.Event)) error) error {
	board := cmdutil.NewBoard(s.Err)
	defer board.Close()
	return do(func(e upstream.Event) {
		cmdutil.ShowBuild(board, e)
	})
}
