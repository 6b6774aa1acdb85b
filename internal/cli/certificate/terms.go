package certificate

import (
	_ "embed" // the form
	"io"

	"github.com/spf13/cobra"

	"github.com/firstlight/firstlight/internal/cli/cmdutil"
)

// Form is a file of terms with an explanation of each key.
//
//go:embed terms.yaml
var Form string

func newTerms(s cmdutil.Streams) *cobra.Command {
	return &cobra.Command{
		Use:   "terms",
		Short: "Print a template of the terms, with an explanation of each key",
		Long: `Print a template of the terms, with an explanation of each key: contract, ordered
inventory, limits of figures, waivers, signatories. Fill it in and pass it to certificate
issue as --terms.`,
		Example: "  firstlight certificate terms > terms.yaml",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := io.WriteString(s.Out, Form)
			return err
		},
	}
}
