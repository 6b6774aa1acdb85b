package pki

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// Dir is the directory of a lab's certificates.
type Dir string

// Cert is the path of a certificate.
func (d Dir) Cert(name string) string { return filepath.Join(string(d), name+".crt") }

// Key is the path of a private key.
func (d Dir) Key(name string) string { return filepath.Join(string(d), name+".key") }

// Names of the pairs that Write creates.
const (
	CA           = "ca"
	EtcdCA       = "etcd-ca"
	FrontProxyCA = "front-proxy-ca"

	ServiceAccount     = "service-account" // the .crt is a public key
	Etcd               = "etcd"
	EtcdPeer           = "etcd-peer"
	EtcdClient         = "apiserver-etcd-client"
	APIServer          = "apiserver"
	KubeletClient      = "apiserver-kubelet-client"
	FrontProxyClient   = "front-proxy-client"
	ControllerManager  = "controller-manager"
	Scheduler          = "scheduler"
	Kwok               = "kwok"
	Prometheus         = "prometheus"
	Alertmanager       = "alertmanager"
	Adapter            = "adapter"
	Karpenter          = "karpenter"
	KAIScheduler       = "kai-scheduler"
	KAIBinder          = "kai-binder"
	KAIPodGrouper      = "kai-podgrouper"
	VolcanoScheduler   = "volcano-scheduler"
	VolcanoControllers = "volcano-controllers"
	Kueue              = "kueue"
	JobSet             = "jobset"
	KubeflowTrainer    = "kubeflow-trainer"
	MPIOperator        = "mpi-operator"
	KubeRay            = "kuberay-operator"
	GPUOperator        = "gpu-operator"
	NFDMaster          = "nfd-master"
	Admin              = "admin"
)

// Write replaces the directory with new certificates of a lab whose components listen on addr.
func (d Dir) Write(lab, addr string, now time.Time) error {
	if err := os.RemoveAll(string(d)); err != nil {
		return fmt.Errorf("write certificates: %w", err)
	}
	if err := os.MkdirAll(string(d), 0o700); err != nil {
		return fmt.Errorf("write certificates: %w", err)
	}
	signers := map[string]*Authority{}
	for _, name := range []string{CA, EtcdCA, FrontProxyCA} {
		a, err := NewAuthority("firstlight-lab-"+lab+"-"+name, now)
		if err != nil {
			return err
		}
		signers[name] = a
		if err := d.put(name, Pair{Cert: a.PEM()}); err != nil {
			return err
		}
	}
	caKey, err := encodeKey(signers[CA].key)
	if err != nil {
		return err
	}
	if err := write(d.Key(CA), caKey); err != nil {
		return err
	}
	for _, c := range certificates(addr) {
		pair, err := signers[c.signer].Issue(c.Request)
		if err != nil {
			return err
		}
		if err := d.put(c.file, pair); err != nil {
			return err
		}
	}
	pair, err := serviceAccountPair()
	if err != nil {
		return err
	}
	return d.put(ServiceAccount, pair)
}

func (d Dir) put(name string, pair Pair) error {
	if err := write(d.Cert(name), pair.Cert); err != nil {
		return err
	}
	if pair.Key == nil {
		return nil
	}
	return write(d.Key(name), pair.Key)
}

func write(path string, data []byte) error {
	if err := os.WriteFile(path, data, 0o600); err != nil {
		return fmt.Errorf("write certificates: %w", err)
	}
	return nil
}

// serviceAccountPair signs service account tokens.
func serviceAccountPair() (Pair, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return Pair{}, fmt.Errorf("make service account key: %w", err)
	}
	der, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		return Pair{}, fmt.Errorf("make service account key: %w", err)
	}
	keyPEM, err := encodeKey(key)
	if err != nil {
		return Pair{}, err
	}
	return Pair{Cert: pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}), Key: keyPEM}, nil
}
