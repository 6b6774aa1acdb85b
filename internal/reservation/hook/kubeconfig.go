package hook

import (
	"cmp"
	"fmt"

	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
)

const execVersion = "client.authentication.k8s.io/v1"

// Kubeconfig returns a kubeconfig that uses the identity of its user. It has no credential.
func (d Deployment) Kubeconfig() ([]byte, error) {
	if d.Access == nil {
		return nil, fmt.Errorf("write a kubeconfig for %s: it is not reachable (yet)", d.Name)
	}
	c := api.NewConfig()
	c.Clusters[d.Name] = &api.Cluster{Server: d.Access.Server, CertificateAuthorityData: []byte(d.Access.CA)}
	c.AuthInfos[d.Name] = &api.AuthInfo{Exec: &api.ExecConfig{
		APIVersion: cmp.Or(d.Access.Exec.APIVersion, execVersion),
		Command:    d.Access.Exec.Command, Args: d.Access.Exec.Args,
		InteractiveMode:    api.IfAvailableExecInteractiveMode,
		ProvideClusterInfo: true,
	}}
	c.Contexts[d.Name] = &api.Context{Cluster: d.Name, AuthInfo: d.Name}
	c.CurrentContext = d.Name
	data, err := clientcmd.Write(*c)
	if err != nil {
		return nil, fmt.Errorf("write a kubeconfig for %s: %w", d.Name, err)
	}
	return data, nil
}
