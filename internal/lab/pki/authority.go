package pki

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"time"
)

// lifetime of certificates: ten years, as those of kubeadm's authorities (kubernetes.io, tasks/administer-cluster/kubeadm/
// kubeadm-certs). Each start of a lab or of the local store creates new ones. They outlive every start: the certificate that
// kube-apiserver keeps for itself ends after three years (pkg/server/options/serving_with_loopback.go of k8s.io/apiserver),
// and it is not healthy afterwards.
const lifetime = 10 * 365 * 24 * time.Hour

// Authority is a certificate authority.
type Authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	now  time.Time
	pem  []byte
}

// NewAuthority returns a self-signed CA that is valid from an hour before now.
func NewAuthority(name string, now time.Time) (*Authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make authority %s: %w", name, err)
	}
	template, err := template(pkix.Name{CommonName: name}, now)
	if err != nil {
		return nil, fmt.Errorf("make authority %s: %w", name, err)
	}
	template.IsCA, template.BasicConstraintsValid = true, true
	template.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, fmt.Errorf("make authority %s: %w", name, err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, fmt.Errorf("make authority %s: %w", name, err)
	}
	return &Authority{cert: cert, key: key, now: now, pem: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})}, nil
}

// Request describes a certificate: a server certificate with Hosts, a client certificate with
// Client.
type Request struct {
	// CommonName is the Kubernetes user, Organizations are the groups.
	CommonName    string
	Organizations []string
	// Hosts are names and addresses of the server.
	Hosts  []string
	Client bool
}

// Pair is a PEM certificate and its PEM key.
type Pair struct {
	Cert, Key []byte
}

// Issue signs a certificate for a new key.
func (a *Authority) Issue(req Request) (Pair, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return Pair{}, fmt.Errorf("issue %s: %w", req.CommonName, err)
	}
	t, err := template(pkix.Name{CommonName: req.CommonName, Organization: req.Organizations}, a.now)
	if err != nil {
		return Pair{}, fmt.Errorf("issue %s: %w", req.CommonName, err)
	}
	t.KeyUsage = x509.KeyUsageDigitalSignature
	for _, h := range req.Hosts {
		if ip := net.ParseIP(h); ip != nil {
			t.IPAddresses = append(t.IPAddresses, ip)
		} else {
			t.DNSNames = append(t.DNSNames, h)
		}
	}
	if len(req.Hosts) > 0 {
		t.ExtKeyUsage = append(t.ExtKeyUsage, x509.ExtKeyUsageServerAuth)
	}
	if req.Client {
		t.ExtKeyUsage = append(t.ExtKeyUsage, x509.ExtKeyUsageClientAuth)
	}
	der, err := x509.CreateCertificate(rand.Reader, t, a.cert, key.Public(), a.key)
	if err != nil {
		return Pair{}, fmt.Errorf("issue %s: %w", req.CommonName, err)
	}
	keyPEM, err := encodeKey(key)
	if err != nil {
		return Pair{}, fmt.Errorf("issue %s: %w", req.CommonName, err)
	}
	return Pair{Cert: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), Key: keyPEM}, nil
}

// PEM returns the CA certificate.
func (a *Authority) PEM() []byte { return a.pem }

func encodeKey(key *ecdsa.PrivateKey) ([]byte, error) {
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return nil, fmt.Errorf("encode key: %w", err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der}), nil
}

func template(subject pkix.Name, now time.Time) (*x509.Certificate, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return nil, fmt.Errorf("generate serial number: %w", err)
	}
	return &x509.Certificate{
		SerialNumber: serial, Subject: subject,
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(lifetime),
	}, nil
}
