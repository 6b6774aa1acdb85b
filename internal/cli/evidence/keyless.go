package evidence

import (
	"context"
	"errors"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/firstlight/firstlight/internal/cli/cmdutil"
	"github.com/firstlight/firstlight/internal/evidence/attest"
	"github.com/firstlight/firstlight/internal/evidence/keyless"
)

// keylessSign has the flags for signing with an OpenID Connect identity.
type keylessSign struct{ token, bundle, fulcio, rekor string }

func (k *keylessSign) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&k.token, "identity-token-file", "", "file with an OpenID Connect identity token, for signing without a key")
	flags.StringVar(&k.bundle, "bundle", "", "file for the Sigstore bundle")
	flags.StringVar(&k.fulcio, "fulcio-url", "", "URL of the Fulcio that certifies the identity")
	flags.StringVar(&k.rekor, "rekor-url", "", "URL of the Rekor that logs the signature")
	cmd.MarkFlagsRequiredTogether("identity-token-file", "bundle", "fulcio-url", "rekor-url")
	cmd.MarkFlagsMutuallyExclusive("identity-token-file", "key")
}

// sign writes the bundle last. An existing bundle is replaced only if o.Replace is set.
func (k *keylessSign) sign(ctx context.Context, dir string, o attest.SignOptions) (signed, error) {
	done := signed{Attestation: k.bundle}
	token, err := os.ReadFile(k.token)
	if err != nil {
		return done, cmdutil.UsageErrorf("cannot read --identity-token-file: %w", err)
	}
	mode := os.O_WRONLY | os.O_CREATE | os.O_EXCL
	if o.Replace {
		mode = os.O_WRONLY | os.O_CREATE
	}
	f, err := os.OpenFile(k.bundle, mode, 0o644) //nolint:gosec // a bundle is public
	if err != nil {
		return done, cmdutil.UsageErrorf("cannot write --bundle: %w", err)
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
		return done, cmdutil.Unobserved(err)
	}
	return done, nil
}

func write(f *os.File, data []byte) error {
	_, err := f.Write(data)
	return err
}

// keylessVerify has the flags for verifying the signature of an identity.
type keylessVerify struct{ bundle, root, identity, issuer string }

func (k *keylessVerify) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&k.bundle, "bundle", "", "Sigstore bundle with the signature of an identity")
	flags.StringVar(&k.root, "trusted-root", "", "trusted root of the Sigstore (trusted_root.json)")
	flags.StringVar(&k.identity, "certificate-identity", "", "expected identity: an e-mail address or the URI of a workflow")
	flags.StringVar(&k.issuer, "certificate-oidc-issuer", "", "OpenID Connect issuer of the expected identity")
	cmd.MarkFlagsRequiredTogether("bundle", "trusted-root", "certificate-identity", "certificate-oidc-issuer")
	for _, other := range []string{"key", "unsigned"} {
		cmd.MarkFlagsMutuallyExclusive("bundle", other)
	}
}

// options reads the files of the flags into o.
func (k *keylessVerify) options(o *attest.Options) error {
	if k.bundle == "" {
		return nil
	}
	var err error
	if o.Bundle, err = os.ReadFile(k.bundle); err != nil {
		return cmdutil.UsageErrorf("cannot read --bundle: %w", err)
	}
	root, err := os.ReadFile(k.root)
	if err != nil {
		return cmdutil.UsageErrorf("cannot read --trusted-root: %w", err)
	}
	if o.Trust, err = keyless.NewTrust(root, k.identity, k.issuer); err != nil {
		return cmdutil.UsageErrorf("%w", err)
	}
	return nil
}
