package evidence

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/spf13/cobra"

	"github.com/firstlight/firstlight/internal/cli/cmdutil"
	"github.com/firstlight/firstlight/internal/evidence/attest"
)

// generatedKey is the -o json form of keygen.
type generatedKey struct {
	Private string `json:"private"`
	Public  string `json:"public"`
	KeyID   string `json:"keyID"`
}

func newKeygen(s cmdutil.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "keygen [NAME]",
		Short: "Generate an ed25519 key pair for signing evidence",
		Long: `Write NAME.key, the private key, readable by its owner only, and NAME.pub, the public key
for verifiers. The default NAME is firstlight. Existing files are never overwritten.`,
		Example: `  firstlight evidence keygen
  firstlight evidence keygen /etc/firstlight/acceptance`,
		Args: cobra.MaximumNArgs(1),
	}
	out := cmdutil.AddOutputFlag(cmd)
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		name := "firstlight"
		if len(args) > 0 {
			name = args[0]
		}
		made := generatedKey{Private: name + ".key", Public: name + ".pub"}
		key, err := attest.Generate(rand.Reader)
		if err != nil {
			return cmdutil.Unobserved(err)
		}
		if err := key.Write(made.Private, made.Public); errors.Is(err, fs.ErrExist) {
			return cmdutil.UsageErrorf("%w: keys are never overwritten, choose another name", err)
		} else if err != nil {
			return cmdutil.UsageErrorf("%w", err)
		}
		if made.KeyID, err = key.KeyID(); err != nil {
			return cmdutil.Unobserved(err)
		}
		return out.Write(s.Out, made, func(w io.Writer) {
			fmt.Fprintf(w, "private key  %s (keep it secret)\npublic key   %s (for verifiers)\nkey ID       %s\n", made.Private, made.Public, made.KeyID)
		})
	}
	return cmd
}
