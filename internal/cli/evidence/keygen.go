package evidence

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/spf13/cobra"

	"github.com/firstlight/firstlight/internal/evidence/attest"
)

// keyMade is the -o json form of keygen.
type keyMade struct {
	Private string `json:"private"`
	Public  string `json:"public"`
	KeyID   string `json:"keyID"`
}

func newEvidenceKeygen(s Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "keygen [NAME]",
		Short: "Make an ed25519 key to sign evidence with",
		Long: `keygen writes NAME.key, which signs and which only its owner can read, and
NAME.pub, which verifies and which you give to others. NAME is firstlight when
it is left out. Files that are there are never written over.`,
		Example: `  firstlight evidence keygen
  firstlight evidence keygen /etc/firstlight/acceptance`,
		Args: cobra.MaximumNArgs(1),
	}
	out := addOutputFlag(cmd)
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		name := "firstlight"
		if len(args) > 0 {
			name = args[0]
		}
		made := keyMade{Private: name + ".key", Public: name + ".pub"}
		key, err := attest.Generate(rand.Reader)
		if err != nil {
			return infrastructure(err)
		}
		if err := key.Write(made.Private, made.Public); errors.Is(err, fs.ErrExist) {
			return usage("%w: a key is never written over, give another name", err)
		} else if err != nil {
			return usage("%w", err)
		}
		if made.KeyID, err = key.KeyID(); err != nil {
			return infrastructure(err)
		}
		return out.write(s.Out, made, func(w io.Writer) error {
			_, err := fmt.Fprintf(w, "private key  %s (keep it)\npublic key   %s (give it to those who verify)\nkey ID       %s\n", made.Private, made.Public, made.KeyID)
			return err
		})
	}
	return cmd
}
