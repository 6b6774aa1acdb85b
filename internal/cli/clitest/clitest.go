// Package clitest runs commands in tests.
package clitest

import (
	"bytes"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/firstlight/firstlight/internal/cli/cmdutil"
)

// Run runs the command line "firstlight ARGS" of one command group.
func Run(t *testing.T, group func(cmdutil.Streams) *cobra.Command, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	var out, errs bytes.Buffer
	s := cmdutil.Streams{In: strings.NewReader(""), Out: &out, Err: &errs}
	code = cmdutil.Execute(t.Context(), Root(group(s)), args, s)
	return out.String(), errs.String(), code
}

// Root is a root command with one group.
func Root(group *cobra.Command) *cobra.Command {
	root := &cobra.Command{Use: "firstlight"}
	root.AddCommand(group)
	return root
}
