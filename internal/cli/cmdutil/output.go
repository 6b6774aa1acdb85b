package cmdutil

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"
	"sigs.k8s.io/yaml"

	"github.com/firstlight/firstlight/internal/display"
)

// Output is the -o flag: text, json, yaml, and formats of the command's own.
type Output struct {
	format  string
	formats []string
}

// AddOutputFlag adds -o with text (the default), json, yaml and more formats.
func AddOutputFlag(cmd *cobra.Command, more ...string) *Output {
	o := &Output{format: "text", formats: append([]string{"text", "json", "yaml"}, more...)}
	cmd.Flags().VarP(o, "output", "o", "output format: "+strings.Join(o.formats, ", "))
	CompleteFlag(cmd, "output", o.formats)
	return o
}

// String returns the format.
func (o *Output) String() string { return o.format }

// Set implements pflag.Value.
func (o *Output) Set(s string) error {
	if !slices.Contains(o.formats, s) {
		return fmt.Errorf("unknown format %q: want one of %s", s, strings.Join(o.formats, ", "))
	}
	o.format = s
	return nil
}

// Type is the value's name in help texts.
func (o *Output) Type() string { return strings.Join(o.formats, "|") }

// Write prints v as json or yaml, or else what text prints. The output is built before
// the first byte of it is written: a reader must not take half a list for a list.
func (o *Output) Write(out io.Writer, v any, text func(io.Writer)) error {
	return WriteWhole(out, func(w io.Writer) error {
		switch o.format {
		case "json":
			return WriteJSON(w, v)
		case "yaml":
			// JSON first: it escapes the control characters that are invalid in YAML.
			var doc bytes.Buffer
			if err := WriteJSON(&doc, v); err != nil {
				return err
			}
			data, err := yaml.JSONToYAML(doc.Bytes())
			if err != nil {
				return err
			}
			_, err = display.Plain(w, false).Write(data)
			return err
		default:
			text(display.Plain(w, IsColor(out)))
			return nil
		}
	})
}

// WriteJSON prints v as indented JSON, with control characters escaped.
func WriteJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(display.PlainJSON(w))
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// WriteWhole builds the output in memory, then writes it with one call. It writes nothing
// when build fails. All its errors exit with ExitUnobserved.
func WriteWhole(out io.Writer, build func(io.Writer) error) error {
	var b bytes.Buffer
	if err := build(&b); err != nil {
		return Unobserved(fmt.Errorf("build output: %w", err))
	}
	n, err := out.Write(b.Bytes())
	if err == nil && n < b.Len() {
		err = io.ErrShortWrite
	}
	if err != nil {
		return Unobserved(fmt.Errorf("write output: %w", err))
	}
	return nil
}

// IsColor reports whether out is a terminal that shows colors. NO_COLOR and TERM=dumb
// turn them off.
func IsColor(out io.Writer) bool {
	return isTerminal(out) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}

func isTerminal(out io.Writer) bool {
	f, ok := out.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// StyleOf is the style for text that is written to out.
func StyleOf(out io.Writer) display.Style { return display.Style{Color: IsColor(out)} }
