// Package certificate has the command certificate.
package certificate

import (
	"github.com/spf13/cobra"

	"github.com/firstlight/firstlight/internal/cli/cmdutil"
)

// New is the command certificate.
func New(s cmdutil.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "certificate",
		Short: "Issue and verify a certificate of acceptance",
		Long: `A certificate of acceptance compares a run with the terms of a contract: the ordered
inventory with serial numbers, the figures of the contract, and each deviation with its
waiver, owner and expiry. It is derived from signed evidence, printable as HTML and PDF,
and signed.`,
		Example: `  # Print a template of the terms
  firstlight certificate terms > terms.yaml

  # Read the certificate before it is issued
  firstlight certificate issue evidence/20261121-014233-7f3a --terms terms.yaml --specimen

  # Issue it
  firstlight certificate issue evidence/20261121-014233-7f3a --terms terms.yaml --run-key firstlight.pub --key acceptance.key

  # Verify it, and compare it with its run
  firstlight certificate verify certificate --key acceptance.pub --run evidence/20261121-014233-7f3a --run-key firstlight.pub`,
	}
	cmd.AddCommand(newIssue(s), newVerify(s), newTerms(s))
	return cmd
}
