package evidence

import (
	"context"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/firstlight/firstlight/internal/atomicfile"
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
	flags.StringVar(&k.fulcio, "fulcio-url", "", "URL of the Fulcio instance that certifies the identity")
	flags.StringVar(&k.rekor, "rekor-url", "", "URL of the Rekor instance that logs the signature")
	cmd.MarkFlagsRequiredTogether("identity-token-file", "bundle", "fulcio-url", "rekor-url")
	cmd.MarkFlagsMutuallyExclusive("identity-token-file", "key")
}

// sign writes the bundle last and as a whole. An existing bundle is replaced only if o.Replace
// is set.
func (k *keylessSign) sign(ctx context.Context, dir string, o attest.SignOptions) (signed, error) {
	done := signed{Attestation: k.bundle}
	token, err := os.ReadFile(k.token)
	if err != nil {
		return done, cmdutil.UsageErrorf("cannot read --identity-token-file: %w", err)
	}
	if _, err := os.Lstat(k.bundle); err == nil && !o.Replace {
		return done, cmdutil.UsageErrorf("cannot write --bundle: %s exists: --replace replaces it", k.bundle)
	}
	// Created first: a signature in a public log cannot be undone.
	f, err := atomicfile.Create(k.bundle, bundleMode)
	if err != nil {
		return done, cmdutil.UsageErrorf("cannot write --bundle: %w", err)
	}
	defer func() { _ = f.Discard() }() // no effect if signed
	service := keyless.Service{Fulcio: k.fulcio, Rekor: k.rekor, Token: strings.TrimSpace(string(token))}
	var bundle []byte
	done.Statement, bundle, err = attest.SignKeyless(ctx, dir, service, o)
	if err != nil {
		return done, signError(err)
	}
	if _, err = f.Write(bundle); err == nil {
		err = f.Commit(o.Replace) // fails if another signer wrote the bundle meanwhile
	}
	return done, cmdutil.Unobserved(err)
}

// bundleMode: a bundle is public.
const bundleMode = 0o644

// keylessVerify has the flags for verifying the signature of an identity.
type keylessVerify struct{ bundle, root, identity, issuer string }

func (k *keylessVerify) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&k.bundle, "bundle", "", "Sigstore bundle with the signature of an identity")
	flags.StringVar(&k.root, "trusted-root", "", "Sigstore trusted root (trusted_root.json)")
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
