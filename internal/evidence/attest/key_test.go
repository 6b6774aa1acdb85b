package attest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestAWrittenKeyIsReadUnchanged(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	private, public := filepath.Join(dir, "a.key"), filepath.Join(dir, "a.pub")
	k := key(t, 'a')
	if err := k.Write(private, public); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(private); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	back, err := LoadPrivate(private)
	if err != nil {
		t.Fatal(err)
	}
	pub, err := LoadPublic(public)
	if err != nil {
		t.Fatal(err)
	}
	sig, err := back.Sign(t.Context(), []byte("x"))
	if err != nil {
		t.Fatal(err)
	}
	if err := pub.Verify(t.Context(), []byte("x"), sig); err != nil {
		t.Error(err)
	}
	if pub.Verify(t.Context(), []byte("y"), sig) == nil || (PublicKey{}).Verify(t.Context(), []byte("x"), sig) == nil {
		t.Error("anything verifies")
	}
	a, errA := k.KeyID()
	b, errB := pub.KeyID()
	if a != b || !strings.HasPrefix(a, "SHA256:") || errA != nil || errB != nil {
		t.Errorf("IDs %q %q, %v %v", a, b, errA, errB)
	}
}

func TestAKeyIsNeverWrittenOver(t *testing.T) {
	t.Parallel()
	for _, there := range []string{"a.key", "a.pub"} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, there), []byte("precious"), 0o600); err != nil {
			t.Fatal(err)
		}
		err := key(t, 'a').Write(filepath.Join(dir, "a.key"), filepath.Join(dir, "a.pub"))
		if !errors.Is(err, fs.ErrExist) {
			t.Errorf("%s existed: %v", there, err)
		}
		names, err := os.ReadDir(dir)
		if err != nil || len(names) != 1 {
			t.Errorf("%s existed, and now %v", there, names)
		}
		if data, err := os.ReadFile(filepath.Join(dir, there)); err != nil || string(data) != "precious" {
			t.Errorf("%s is %q, %v", there, data, err)
		}
	}
}

func TestKeysThatAreRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := func(name string, data []byte, mode fs.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, data, mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	if err := key(t, 'a').Write(filepath.Join(dir, "good.key"), filepath.Join(dir, "good.pub")); err != nil {
		t.Fatal(err)
	}
	good, err := os.ReadFile(filepath.Join(dir, "good.key"))
	if err != nil {
		t.Fatal(err)
	}
	public, err := os.ReadFile(filepath.Join(dir, "good.pub"))
	if err != nil {
		t.Fatal(err)
	}
	other, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(other)
	if err != nil {
		t.Fatal(err)
	}
	otherPublic, err := x509.MarshalPKIXPublicKey(other.Public())
	if err != nil {
		t.Fatal(err)
	}
	encode := func(kind string, der []byte) []byte { return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}) }
	for name, tt := range map[string]struct {
		path    string
		private bool
		want    string
	}{
		"none":                    {filepath.Join(dir, "none"), true, "no such file"},
		"readable by others":      {file("open", good, 0o644), true, "chmod 600"},
		"public as private":       {file("pub", public, 0o600), true, "has a PUBLIC KEY, want a"},
		"private as public":       {filepath.Join(dir, "good.key"), false, "has a PRIVATE KEY, want a"},
		"no PEM":                  {file("text", []byte("hello"), 0o600), true, "evidence keygen"},
		"two":                     {file("two", append(append([]byte{}, good...), good...), 0o600), true, "more than one key"},
		"too large":               {file("large", append(append([]byte{}, good...), make([]byte, maxKeyFile)...), 0o600), true, "too large"},
		"of another kind":         {file("ecdsa", encode(privateType, der), 0o600), true, "not ed25519"},
		"public of another kind":  {file("ecdsa.pub", encode(publicType, otherPublic), 0o600), false, "not ed25519"},
		"private that is garbage": {file("garbage", encode(privateType, []byte("x")), 0o600), true, "not PKCS#8"},
		"public that is garbage":  {file("garbage.pub", encode(publicType, []byte("x")), 0o600), false, "read the public key"},
	} {
		load := func(path string) error { _, err := LoadPublic(path); return err }
		if tt.private {
			load = func(path string) error { _, err := LoadPrivate(path); return err }
		}
		if err := load(tt.path); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
