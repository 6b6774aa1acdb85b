package site

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/firstlight/firstlight/internal/site"
)

func newSite(s Streams) *cobra.Command {
	cmd := &cobra.Command{Use: "site", Short: "Write and check site files"}
	cmd.AddCommand(newSiteInit(s), newSiteCheck(s))
	return cmd
}

func newSiteInit(s Streams) *cobra.Command {
	return &cobra.Command{
		Use:   "init [FILE]",
		Short: "Write a commented example site to FILE, or to standard output",
		Example: `  firstlight site init prod.yaml
  firstlight site init > prod.yaml`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 || args[0] == "-" {
				if _, err := s.Out.Write(site.Example()); err != nil {
					return fmt.Errorf("write example: %w", err)
				}
				return nil
			}
			f, err := os.OpenFile(args[0], os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644) //nolint:gosec // the user names the file
			if errors.Is(err, os.ErrExist) {
				return usage("%s is there already: remove it first, or name another file", args[0])
			}
			if err != nil {
				return usage("create site: %w", err)
			}
			_, err = f.Write(site.Example())
			if err = errors.Join(err, f.Close()); err != nil {
				return fmt.Errorf("write %s: %w", args[0], err)
			}
			fmt.Fprintf(s.Err, "wrote %s: edit it, then run firstlight site check %s\n", args[0], args[0])
			return nil
		},
	}
}

// siteReport is the -o json form of site check.
type siteReport struct {
	File     string         `json:"file"`
	Valid    bool           `json:"valid"`
	Nodes    int            `json:"nodes,omitempty"`
	Profile  string         `json:"profile,omitempty"`
	Problems []site.Problem `json:"problems,omitempty"`
}

func newSiteCheck(s Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "check FILE",
		Short:   "Validate a site file: every problem at once, with its line",
		Example: "  firstlight site check prod.yaml",
		Args:    cobra.ExactArgs(1),
	}
	out := addOutputFlag(cmd)
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		report := siteReport{File: args[0]}
		loaded, err := site.Load(args[0])
		if invalid, ok := errors.AsType[*site.InvalidError](err); ok {
			report.Problems = invalid.Problems
		} else if err != nil {
			return usage("%w", err)
		} else {
			report.Valid, report.Nodes, report.Profile = true, len(loaded.Inventory.Nodes), loaded.Profile
		}
		writeErr := out.write(s.Out, report, func(w io.Writer) error {
			if report.Valid {
				_, err := fmt.Fprintf(w, "%s is valid: %d GPU nodes, profile %s\n", report.File, report.Nodes, report.Profile)
				return err
			}
			_, printErr := fmt.Fprintf(w, "%v\n%d problems\n", err, len(report.Problems))
			return printErr
		})
		if writeErr != nil {
			return writeErr
		}
		if !report.Valid {
			return &exitError{code: ExitUsage}
		}
		return nil
	}
	return cmd
}
