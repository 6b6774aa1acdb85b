package evidence

import (
	"context"
	"errors"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/firstlight/firstlight/internal/evidence/attest"
	"github.com/firstlight/firstlight/internal/evidence/keyless"
)

// keylessSign are the flags of signing with an identity.
type keylessSign struct{ token, bundle, fulcio, rekor string }

func (k *keylessSign) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&k.token, "identity-token-file", "", "file with an OpenID Connect identity token, to sign without a key")
	flags.StringVar(&k.bundle, "bundle", "", "file to write the Sigstore bundle to")
	flags.StringVar(&k.fulcio, "fulcio-url", "", "Fulcio that certifies the identity")
	flags.StringVar(&k.rekor, "rekor-url", "", "Rekor that logs the signature")
	cmd.MarkFlagsRequiredTogether("identity-token-file", "bundle", "fulcio-url", "rekor-url")
	cmd.MarkFlagsMutuallyExclusive("identity-token-file", "key")
}

// sign writes the bundle last, and only where there is none or o replaces it.
func (k *keylessSign) sign(ctx context.Context, dir string, o attest.SignOptions) (signed, error) {
	done := signed{Attestation: k.bundle}
	token, err := os.ReadFile(k.token)
	if err != nil {
		return done, usage("read --identity-token-file: %w", err)
	}
	mode := os.O_WRONLY | os.O_CREATE | os.O_EXCL
	if o.Replace {
		mode = os.O_WRONLY | os.O_CREATE
	}
	f, err := os.OpenFile(k.bundle, mode, 0o644) //nolint:gosec // a bundle is handed on
	if err != nil {
		return done, usage("write --bundle: %w", err)
	}
	service := keyless.Service{Fulcio: k.fulcio, Rekor: k.rekor, Token: strings.TrimSpace(string(token))}
	var bundle []byte
	done.Statement, bundle, err = attest.SignKeyless(ctx, dir, service, o)
	if err != nil {
		err = errors.Join(signError(err), f.Close())
		if !o.Replace {
			err = errors.Join(err, os.Remove(k.bundle))
		}
		return done, err
	}
	if err := errors.Join(f.Truncate(0), write(f, bundle), f.Close()); err != nil {
		return done, infrastructure(err)
	}
	return done, nil
}

func write(f *os.File, data []byte) error {
	_, err := f.Write(data)
	return err //nolint:wrapcheck // names the file
}

// keylessVerify are the flags of verifying what an identity signed.
type keylessVerify struct{ bundle, root, identity, issuer string }

func (k *keylessVerify) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&k.bundle, "bundle", "", "Sigstore bundle of a run that an identity signed")
	flags.StringVar(&k.root, "trusted-root", "", "Sigstore's trusted root (trusted_root.json)")
	flags.StringVar(&k.identity, "certificate-identity", "", "identity that has to have signed: an e-mail address, or the URI of a workflow")
	flags.StringVar(&k.issuer, "certificate-oidc-issuer", "", "OpenID Connect issuer of that identity")
	cmd.MarkFlagsRequiredTogether("bundle", "trusted-root", "certificate-identity", "certificate-oidc-issuer")
	for _, other := range []string{"key", "unsigned"} {
		cmd.MarkFlagsMutuallyExclusive("bundle", other)
	}
}

// options reads the files that the flags name into o; without the flags nothing is done.
func (k *keylessVerify) options(o *attest.Options) error {
	if k.bundle == "" {
		return nil
	}
	var err error
	if o.Bundle, err = os.ReadFile(k.bundle); err != nil {
		return usage("read --bundle: %w", err)
	}
	root, err := os.ReadFile(k.root)
	if err != nil {
		return usage("read --trusted-root: %w", err)
	}
	if o.Trust, err = keyless.NewTrust(root, k.identity, k.issuer); err != nil {
		return usage("%w", err)
	}
	return nil
}
