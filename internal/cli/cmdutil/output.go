package cmdutil

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"

	"github.com/firstlight/firstlight/internal/display"
)

// format is the -o flag: text, json or yaml.
type format string

func (f *format) String() string { return string(*f) }

// Set refuses unknown formats.
func (f *format) Set(s string) error {
	if !slices.Contains(formats, s) {
		return fmt.Errorf("%q is not one of text, json, yaml", s)
	}
	*f = format(s)
	return nil
}

// Type names the value in help texts.
func (f *format) Type() string { return "text|json|yaml" }

var formats = []string{"text", "json", "yaml"}

func addOutputFlag(cmd *cobra.Command) *format {
	f := format("text")
	cmd.Flags().VarP(&f, "output", "o", "output format: text, json or yaml")
	if err := cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(formats, cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic(err) // the flag was added one line above
	}
	return &f
}

// write prints v in the format asked for; text renders it for people.
func (f *format) write(out io.Writer, v any, text func(io.Writer) error) error {
	var err error
	switch *f {
	case "json":
		enc := json.NewEncoder(display.PlainJSON(out))
		enc.SetIndent("", "  ")
		enc.SetEscapeHTML(false)
		err = enc.Encode(v)
	case "yaml":
		// By way of escaped JSON: control characters are no YAML.
		var doc bytes.Buffer
		var data []byte
		if err = json.NewEncoder(display.PlainJSON(&doc)).Encode(v); err == nil {
			data, err = yaml.JSONToYAML(doc.Bytes())
		}
		if err == nil {
			_, err = display.Plain(out, false).Write(data)
		}
	default:
		err = text(display.Plain(out, colourOf(out)))
	}
	if err != nil {
		return fmt.Errorf("write output: %w", err)
	}
	return nil
}
