// Package clitest runs commands in tests and compares their output with goldens.
package clitest

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"github.com/firstlight/firstlight/internal/cli/cmdutil"
)

var update = flag.Bool("update", false, "rewrite the goldens")

// Golden compares got with testdata/golden/NAME of the test's package. With -update it
// writes the file.
func Golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", "golden", name)
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-golden +got; go test -update rewrites it):\n%s", name, diff)
	}
}

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
