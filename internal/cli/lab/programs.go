package lab

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/firstlight/firstlight/internal/lab"
	"github.com/firstlight/firstlight/internal/upstream"
)

func newLabPrograms(s Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "programs",
		Short: "List, build, export and import the upstream programs of a lab",
		Long: `A lab runs upstream programs that are built from pinned Go modules when they are
first needed. They can be built beforehand, and handed to a machine that has no
network or no Go.`,
		Example: `  firstlight lab programs list
  firstlight lab programs build                       # all; takes minutes
  firstlight lab programs export programs.tar.gz
  firstlight lab programs import programs.tar.gz      # on another machine`,
	}
	cmd.AddCommand(newProgramsList(s), newProgramsBuild(s), newProgramsExport(s), newProgramsImport(s))
	return cmd
}

func newProgramsList(s Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use: "list", Short: "List the pinned programs with their versions and whether they are built", Args: cobra.NoArgs,
	}
	out := addOutputFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		all, err := upstream.Builder{}.List(cmd.Context())
		if err != nil {
			return infrastructure(err)
		}
		return out.write(s.Out, all, func(w io.Writer) error {
			table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
			fmt.Fprintln(table, "PROGRAM\tVERSION\tMODULE\tPINS\tBUILT")
			for _, p := range all {
				built := "no"
				if p.Path != "" {
					built = "yes"
				}
				fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\n", p.Program, p.Version, p.Module, p.Group, built)
			}
			return table.Flush()
		})
	}
	return cmd
}

func newProgramsBuild(s Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use: "build [PROGRAM...]", Short: "Build programs that are not built yet; without names, all of them",
		Example: `  firstlight lab programs build
  firstlight lab programs build karpenter prometheus-adapter`,
	}
	cmd.RunE = func(cmd *cobra.Command, names []string) error {
		names, err := programNames(names)
		if err != nil {
			return err
		}
		return infrastructure(withBuilds(s, func(tell func(upstream.Event)) error {
			_, err := upstream.Builder{}.Ensure(cmd.Context(), names, tell)
			return err //nolint:wrapcheck // says which program
		}))
	}
	return cmd
}

func newProgramsExport(s Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use: "export FILE [PROGRAM...]", Short: "Write built programs with their digests to an archive; build those that are missing",
		Example: `  firstlight lab programs export programs.tar.gz
  firstlight lab programs export store.tar.gz etcd kube-apiserver`,
		Args: cobra.MinimumNArgs(1),
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		names, err := programNames(args[1:])
		if err != nil {
			return err
		}
		return infrastructure(withBuilds(s, func(tell func(upstream.Event)) error {
			m, err := exportPrograms(cmd.Context(), names, args[0], tell)
			if err == nil {
				fmt.Fprintf(s.Err, "%d programs for %s/%s exported to %s\n", len(m.Programs), m.OS, m.Arch, args[0])
			}
			return err
		}))
	}
	return cmd
}

// exportPrograms writes the archive beside its place and renames it when it is whole.
func exportPrograms(ctx context.Context, names []string, path string, tell func(upstream.Event)) (m upstream.Manifest, err error) {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return m, fmt.Errorf("export programs: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	m, err = upstream.Builder{}.Export(ctx, names, f, tell)
	if err = errors.Join(err, f.Chmod(0o644), f.Sync(), f.Close()); err != nil {
		return m, err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return m, fmt.Errorf("export programs: %w", err)
	}
	return m, nil
}

func newProgramsImport(s Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use: "import FILE", Short: "Take programs from an archive, after checking each against its digest and pins",
		Args: cobra.ExactArgs(1),
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		f, err := os.Open(args[0])
		if err != nil {
			return usage("import programs: %w", err)
		}
		defer f.Close()
		m, err := upstream.Builder{}.Import(cmd.Context(), f)
		if errors.Is(err, upstream.ErrArchive) {
			return usage("%s: %w", args[0], err)
		}
		if err != nil {
			return infrastructure(err)
		}
		fmt.Fprintf(s.Err, "%d programs imported, built with %s\n", len(m.Programs), m.Toolchain)
		return nil
	}
	return cmd
}

// programNames refuses unknown names; none means all.
func programNames(names []string) ([]string, error) {
	if len(names) > 0 {
		if err := upstream.CheckNames(names); err != nil {
			return nil, usage("%w", err)
		}
		return names, nil
	}
	pins, err := upstream.Pins()
	if err != nil {
		return nil, infrastructure(err)
	}
	for _, p := range pins {
		names = append(names, p.Program)
	}
	return names, nil
}

// withBuilds shows the builds on a board.
func withBuilds(s Streams, do func(tell func(upstream.Event)) error) error {
	board := newBoard(s.Err)
	defer board.Close()
	return do(func(e upstream.Event) {
		showBuild(board, lab.Event{Kind: lab.KindBuild, Name: e.Program, Build: &e})
	})
}
