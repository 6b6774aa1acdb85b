package evidence

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/cli/cmdutil"
	"github.com/firstlight/firstlight/internal/evidence/keyless/sigstoretest"
)

// From an identity token to a packed run that a stranger verifies with the bundle, without a
// network.
func TestEvidenceSignedByAnIdentity(t *testing.T) {
	t.Setenv("FIRSTLIGHT_HOME", t.TempDir())
	const identity = "acceptance@example.com"
	sigstore, dir, files := sigstoretest.Start(t, identity), blindRun(t, false), t.TempDir()
	file := func(name string, text []byte) string {
		path := filepath.Join(files, name)
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	token, root := file("token.jwt", []byte(sigstore.Token+"\n")), file("trusted_root.json", sigstore.Root)
	bundle := filepath.Join(files, "run.sigstore.json")
	sign := []string{"evidence", "sign", dir, "--identity-token-file", token, "--bundle", bundle, "--fulcio-url", sigstore.Fulcio, "--rekor-url", sigstore.Rekor}

	ours(t, cmdutil.ExitUsage, sign[:len(sign)-2]...)
	_, stderr := ours(t, cmdutil.ExitUnobserved, "evidence", "sign", dir, "--identity-token-file", token, "--bundle", bundle, "--fulcio-url", "http://127.0.0.1:1", "--rekor-url", sigstore.Rekor)
	if _, err := os.Stat(bundle); err == nil || strings.Contains(stderr, sigstore.Token) {
		t.Errorf("without Fulcio the bundle exists, or stderr contains the token: %s", stderr)
	}
	out, _ := ours(t, cmdutil.ExitPassed, sign...)
	if !strings.Contains(out, bundle+", identity of the token") {
		t.Errorf("signed: %s", out)
	}
	ours(t, cmdutil.ExitUsage, sign...) // the bundle exists
	ours(t, cmdutil.ExitPassed, append(sign, "--replace")...)
	before, err := os.ReadFile(bundle)
	if err != nil {
		t.Fatal(err)
	}
	ours(t, cmdutil.ExitUnobserved, "evidence", "sign", dir, "--identity-token-file", token, "--bundle", bundle, "--fulcio-url", "http://127.0.0.1:1", "--rekor-url", sigstore.Rekor, "--replace")
	if after, err := os.ReadFile(bundle); err != nil || string(after) != string(before) {
		t.Errorf("a failed signature changed the bundle: %v", err)
	}
	if left, err := filepath.Glob(filepath.Join(files, ".run.sigstore.json*")); err != nil || len(left) > 0 {
		t.Errorf("temporary files are left: %v, %v", left, err)
	}

	packed := filepath.Join(files, "run.tar.gz")
	ours(t, cmdutil.ExitPassed, "evidence", "pack", dir, "--to", packed, "--unsigned")
	for _, given := range []string{dir, packed} {
		verify := func(identity, root string) []string {
			return []string{"evidence", "verify", given, "--bundle", bundle, "--trusted-root", root, "--certificate-identity", identity, "--certificate-oidc-issuer", sigstoretest.Issuer}
		}
		out, _ := ours(t, cmdutil.ExitPassed, verify(identity, root)...)
		if !strings.Contains(out, "of "+identity+", issued by "+sigstoretest.Issuer) || !strings.Contains(out, given+" is intact") {
			t.Errorf("verify %s: %s", given, out)
		}
		ours(t, cmdutil.ExitFailed, verify("mallory@example.com", root)...)
		ours(t, cmdutil.ExitFailed, verify(identity, file("other.json", sigstoretest.Start(t, identity).Root))...)
		ours(t, cmdutil.ExitUsage, verify(identity, token)...)
		ours(t, cmdutil.ExitUsage, append(verify(identity, root), "--unsigned")...)
		ours(t, cmdutil.ExitUsage, "evidence", "verify", given, "--bundle", bundle)
	}
}
