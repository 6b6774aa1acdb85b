package hookprovider

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientauth "k8s.io/client-go/pkg/apis/clientauthentication/v1"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/firstlight/firstlight/internal/lab"
	"github.com/firstlight/firstlight/internal/reservation/hook"
)

// access returns how a lab is reached.
func (p *Provider) access(info lab.Info) (*hook.Access, error) {
	config, err := clientcmd.BuildConfigFromFlags("", info.Kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("read the access of %s: %w", info.Name, err)
	}
	ca := config.CAData
	if len(ca) == 0 {
		if ca, err = os.ReadFile(info.CA); err != nil {
			return nil, fmt.Errorf("read the access of %s: %w", info.Name, err)
		}
	}
	command := append(slices.Clone(p.opts.Credential), info.Name)
	return &hook.Access{Server: config.Host, CA: string(ca), Exec: hook.Exec{Command: command[0], Args: command[1:]}}, nil
}

// Credential returns the ExecCredential of a deployment, for users who can read the lab's files.
func (p *Provider) Credential(ctx context.Context, name string) ([]byte, error) {
	rec, err := p.record(name)
	if err == nil && rec == nil {
		err = fmt.Errorf("deployment %s not found", name)
	}
	if err != nil {
		return nil, err
	}
	handle, err := lab.Attach(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("get the credential of %s: %w", name, err)
	}
	status, err := handle.Status(ctx)
	if err != nil {
		return nil, fmt.Errorf("get the credential of %s: %w", name, err)
	}
	config, err := clientcmd.BuildConfigFromFlags("", status.Info.Kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("get the credential of %s: %w", name, err)
	}
	raw, err := json.Marshal(clientauth.ExecCredential{
		TypeMeta: metav1.TypeMeta{APIVersion: clientauth.SchemeGroupVersion.String(), Kind: "ExecCredential"},
		Status: &clientauth.ExecCredentialStatus{
			ClientCertificateData: string(config.CertData), ClientKeyData: string(config.KeyData),
		},
	})
	if err != nil {
		return nil, fmt.Errorf("get the credential of %s: %w", name, err)
	}
	return append(raw, '\n'), nil
}
