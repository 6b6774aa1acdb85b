package cmdutil

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/firstlight/firstlight/internal/reservation/config"
)

// writeWhole builds output and writes it at once: where it can't be built, nothing
// of it is written, and where it can't be written, that is an error. What reads it
// takes half a list for a list.
func writeWhole(out io.Writer, build func(io.Writer) error) error {
	var b bytes.Buffer
	if err := build(&b); err != nil {
		return infrastructure(fmt.Errorf("build output: %w", err))
	}
	n, err := out.Write(b.Bytes())
	if err == nil && n < b.Len() {
		err = io.ErrShortWrite
	}
	if err != nil {
		return infrastructure(fmt.Errorf("write output: %w", err))
	}
	return nil
}

// choice is a flag with a few values.
type choice struct {
	value  string
	values []string
}

func (c *choice) String() string { return c.value }

// Set refuses unknown values.
func (c *choice) Set(text string) error {
	if !slices.Contains(c.values, text) {
		return fmt.Errorf("%q is not one of %s", text, strings.Join(c.values, ", "))
	}
	c.value = text
	return nil
}

// Type names the value in help texts.
func (c *choice) Type() string { return strings.Join(c.values, "|") }

// addChoice adds -o with values, the first of which is the default.
func addChoice(cmd *cobra.Command, values ...string) *choice {
	c := &choice{values[0], values}
	cmd.Flags().VarP(c, "output", "o", "output format: "+strings.Join(values, ", "))
	if err := cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic(err) // the flag was added one line above
	}
	return c
}

// reservationFile reads a file that the user named; - is standard input.
func reservationFile[T any](s Streams, name string, parse func(string, []byte) (T, error)) (T, error) {
	var none T
	read := func() ([]byte, error) { return config.ReadFile(name) }
	if name == "-" {
		name, read = "standard input", func() ([]byte, error) { return config.ReadAll(s.In) }
	}
	data, err := read()
	if errors.Is(err, fs.ErrNotExist) {
		return none, usage("%w: --file names the file; examples/ has one of each kind", err)
	}
	if err != nil {
		return none, usage("%w", err)
	}
	v, err := parse(name, data)
	if err != nil {
		return none, usage("%w", err)
	}
	return v, nil
}
