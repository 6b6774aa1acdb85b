// Package site has the command site.
package site

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/firstlight/firstlight/internal/cli/cmdutil"
	"github.com/firstlight/firstlight/internal/gate"
	"github.com/firstlight/firstlight/internal/pregate"
	"github.com/firstlight/firstlight/internal/probe/ssh"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
)

// New is the command site.
func New(s cmdutil.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "site",
		Short: "Write and check site files",
		Example: `  firstlight site detect prod.yaml --kubeconfig ~/.kube/prod
  firstlight site init prod.yaml
  firstlight site check prod.yaml`,
	}
	cmd.AddCommand(newDetect(s), newInit(s), newCheck(s))
	return cmd
}

func newInit(s cmdutil.Streams) *cobra.Command {
	return &cobra.Command{
		Use:   "init [FILE]",
		Short: "Write a commented example site file to FILE or standard output",
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
			if err := create(args[0], site.Example()); err != nil {
				return err
			}
			fmt.Fprintf(s.Err, "wrote %s: edit it, then run firstlight site check %s\n", args[0], args[0])
			return nil
		},
	}
}

// create writes a new file; an existing one is kept.
func create(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644) //nolint:gosec // a site file is not secret
	if errors.Is(err, os.ErrExist) {
		return cmdutil.UsageErrorf("%s already exists: remove it first, or name another file", path)
	}
	if err != nil {
		return cmdutil.UsageErrorf("create site: %w", err)
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

// checkReport is the -o json form of site check.
type checkReport struct {
	File     string         `json:"file"`
	Valid    bool           `json:"valid"`
	Nodes    int            `json:"nodes,omitempty"`
	Profile  string         `json:"profile,omitempty"`
	Problems []site.Problem `json:"problems,omitempty"`
}

// planned returns the error of the site's plan: of patches that a gate's pods do not allow.
func planned(s *site.Site) error {
	p, err := profile.Load(s.Profile)
	if err != nil {
		return fmt.Errorf("load the profile: %w", err)
	}
	_, err = gate.Playbook(s, p, gate.Access{})
	return err
}

func newCheck(s cmdutil.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "check FILE",
		Short:   "Validate a site file and print every problem with its line",
		Example: "  firstlight site check prod.yaml",
		Args:    cobra.ExactArgs(1),
	}
	out := cmdutil.AddOutputFlag(cmd)
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		report := checkReport{File: args[0]}
		loaded, err := site.Load(args[0])
		if invalid, ok := errors.AsType[*site.InvalidError](err); ok {
			report.Problems = invalid.Problems
		} else if err != nil {
			return cmdutil.UsageErrorf("%w", err)
		} else {
			report.Nodes, report.Profile = len(loaded.Inventory.Nodes), loaded.Profile
			err = errors.Join(ssh.CheckConfig(loaded), pregate.CheckFiles(loaded), planned(loaded))
			if report.Valid = err == nil; !report.Valid {
				for text := range strings.SplitSeq(err.Error(), "\n") {
					report.Problems = append(report.Problems, site.Problem{Message: text})
				}
			}
		}
		writeErr := out.Write(s.Out, report, func(w io.Writer) {
			if report.Valid {
				fmt.Fprintf(w, "%s is valid: %s, profile %s\n", report.File, cmdutil.Count(report.Nodes, "GPU node"), report.Profile)
				return
			}
			fmt.Fprintf(w, "%v\n%s\n", err, cmdutil.Count(len(report.Problems), "problem"))
		})
		if writeErr == nil && !report.Valid {
			return &cmdutil.ExitError{Code: cmdutil.ExitUsage}
		}
		return writeErr
	}
	return cmd
}
