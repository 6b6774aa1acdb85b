package pki

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func written(t *testing.T) (Dir, time.Time) {
	t.Helper()
	d, now := Dir(filepath.Join(t.TempDir(), "pki")), time.Now()
	if err := d.Write("test", "127.20.30.1", now); err != nil {
		t.Fatal(err)
	}
	return d, now
}

func pool(t *testing.T, d Dir, name string) *x509.CertPool {
	t.Helper()
	raw, err := os.ReadFile(d.Cert(name))
	if err != nil {
		t.Fatal(err)
	}
	p := x509.NewCertPool()
	if !p.AppendCertsFromPEM(raw) {
		t.Fatalf("no certificate in %s", name)
	}
	return p
}

func leaf(t *testing.T, d Dir, name string) *x509.Certificate {
	t.Helper()
	pair, err := tls.LoadX509KeyPair(d.Cert(name), d.Key(name))
	if err != nil {
		t.Fatal(err)
	}
	return pair.Leaf
}

func TestKeyFileModes(t *testing.T) {
	t.Parallel()
	d, _ := written(t)
	entries, err := os.ReadDir(string(d))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v, want 0600", e.Name(), info.Mode())
		}
	}
	info, err := os.Stat(string(d))
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the directory has mode %v, %v, want 0700", info.Mode(), err)
	}
	for _, ca := range []string{EtcdCA, FrontProxyCA} {
		if _, err := os.Stat(d.Key(ca)); err == nil {
			t.Errorf("the key of %s is on disk", ca)
		}
	}
}

// A certificate is valid for its own CA only.
func TestCertificatesNeedTheirCA(t *testing.T) {
	t.Parallel()
	d, now := written(t)
	authorities := []string{CA, EtcdCA, FrontProxyCA}
	for _, c := range certificates("127.20.30.1") {
		cert := leaf(t, d, c.file)
		for _, ca := range authorities {
			_, err := cert.Verify(x509.VerifyOptions{
				Roots: pool(t, d, ca), CurrentTime: now, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageAny},
			})
			if (err == nil) != (ca == c.signer) {
				t.Errorf("%s against %s: %v; it is signed by %s", c.file, ca, err, c.signer)
			}
		}
	}
}

func TestExtendedKeyUsage(t *testing.T) {
	t.Parallel()
	d, now := written(t)
	server := leaf(t, d, APIServer)
	for _, name := range []string{"127.20.30.1", "localhost", "kubernetes.default.svc"} {
		if err := server.VerifyHostname(name); err != nil {
			t.Errorf("the API server's certificate does not name %s: %v", name, err)
		}
	}
	if err := server.VerifyHostname("127.20.30.2"); err == nil {
		t.Error("the API server's certificate names an address that is not its own")
	}
	roots := pool(t, d, CA)
	as := func(usage x509.ExtKeyUsage) x509.VerifyOptions {
		return x509.VerifyOptions{Roots: roots, CurrentTime: now, KeyUsages: []x509.ExtKeyUsage{usage}}
	}
	if _, err := server.Verify(as(x509.ExtKeyUsageClientAuth)); err == nil {
		t.Error("the API server's certificate identifies a client")
	}
	if _, err := leaf(t, d, Admin).Verify(as(x509.ExtKeyUsageServerAuth)); err == nil {
		t.Error("the administrator's certificate is valid for servers")
	}
}

func TestServiceAccountKeys(t *testing.T) {
	t.Parallel()
	d, _ := written(t)
	raw, err := os.ReadFile(d.Cert(ServiceAccount))
	if err != nil {
		t.Fatal(err)
	}
	block, _ := pem.Decode(raw)
	if block == nil || block.Type != "PUBLIC KEY" {
		t.Fatalf("the public key is %v", block)
	}
	if _, err := x509.ParsePKIXPublicKey(block.Bytes); err != nil {
		t.Error(err)
	}
}

func TestWriteReplaces(t *testing.T) {
	t.Parallel()
	d, now := written(t)
	before := leaf(t, d, Admin).SerialNumber
	if err := d.Write("test", "127.20.30.1", now); err != nil {
		t.Fatal(err)
	}
	if leaf(t, d, Admin).SerialNumber.Cmp(before) == 0 {
		t.Error("the certificates of an earlier lab exist")
	}
}

// A running store ends with the certificate that kube-apiserver keeps for itself, 3*365+1 days after its start
// (pkg/server/options/serving_with_loopback.go of k8s.io/apiserver), and not with one of these.
func TestCertificatesOutliveThatOfKubeAPIServer(t *testing.T) {
	t.Parallel()
	d, now := written(t)
	names := []string{CA, EtcdCA, FrontProxyCA}
	for _, c := range certificates("127.20.30.1") {
		names = append(names, c.file)
	}
	for _, name := range names {
		raw, err := os.ReadFile(d.Cert(name))
		if err != nil {
			t.Fatal(err)
		}
		block, _ := pem.Decode(raw)
		cert, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			t.Fatal(err)
		}
		if end := now.Add((3*365 + 1) * 24 * time.Hour); !cert.NotAfter.After(end) {
			t.Errorf("%s ends at %s, kube-apiserver's own at %s", name, cert.NotAfter, end)
		}
	}
}
