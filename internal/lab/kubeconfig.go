package lab

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"

	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"

	"github.com/firstlight/firstlight/internal/lab/component"
	"github.com/firstlight/firstlight/internal/lab/pki"
)

// writeKubeconfigs writes a kubeconfig for each identity.
func writeKubeconfigs(name string, c component.Config) error {
	for _, identity := range []string{
		pki.ControllerManager, pki.Scheduler, pki.Kwok, pki.Adapter,
		pki.Karpenter, pki.KAIScheduler, pki.KAIBinder, pki.KAIPodGrouper,
		pki.VolcanoScheduler, pki.VolcanoControllers, pki.Kueue,
		pki.JobSet, pki.KubeflowTrainer, pki.MPIOperator, pki.KubeRay, pki.GPUOperator, pki.NFDMaster,
	} {
		if err := writeKubeconfig(name, c, identity, c.Kubeconfig(identity)); err != nil {
			return err
		}
	}
	return writeKubeconfig(name, c, pki.Admin, c.AdminKubeconfig())
}

func writeKubeconfig(name string, c component.Config, identity, path string) error {
	p := c.PKI()
	read := func(file string) []byte {
		raw, err := os.ReadFile(file)
		if err != nil {
			return nil // the check below names the file
		}
		return raw
	}
	ca, cert, key := read(p.Cert(pki.CA)), read(p.Cert(identity)), read(p.Key(identity))
	if ca == nil || cert == nil || key == nil {
		return fmt.Errorf("write kubeconfig %s: certificate of %s is missing", path, identity)
	}
	context := "firstlight-" + name
	cfg := api.NewConfig()
	cfg.Clusters[context] = &api.Cluster{Server: c.APIServerURL(), CertificateAuthorityData: ca}
	cfg.AuthInfos[context] = &api.AuthInfo{ClientCertificateData: cert, ClientKeyData: key}
	if token := c.Tokens[identity]; token != "" {
		cfg.AuthInfos[context] = &api.AuthInfo{Token: token}
	}
	cfg.Contexts[context] = &api.Context{Cluster: context, AuthInfo: context}
	cfg.CurrentContext = context
	raw, err := clientcmd.Write(*cfg)
	if err != nil {
		return fmt.Errorf("write kubeconfig %s: %w", path, err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("write kubeconfig: %w", err)
	}
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		return fmt.Errorf("write kubeconfig: %w", err)
	}
	return nil
}

// tokensFor generates a random token for each identity.
func tokensFor(identities []string) (map[string]string, error) {
	out := map[string]string{}
	for _, identity := range identities {
		secret := make([]byte, 16)
		if _, err := rand.Read(secret); err != nil {
			return nil, fmt.Errorf("generate token: %w", err)
		}
		out[identity] = hex.EncodeToString(secret)
	}
	return out, nil
}
