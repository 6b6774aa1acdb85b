package pregate

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"k8s.io/client-go/tools/clientcmd"
)

// Kubeconfig is the cluster of the hooks. It may wait until the cluster is ready.
type Kubeconfig func(ctx context.Context) (path, context string, err error)

// environment returns KUBECONFIG for a program that has no setting for the context: where the site
// chooses one, a temporary file in which it is the current one. remove deletes it. Empty: the program finds the
// same file as firstlight.
func (k Kubeconfig) environment(ctx context.Context) (env []string, remove func(), err error) {
	remove = func() {}
	if k == nil {
		return nil, remove, nil
	}
	path, name, err := k(ctx)
	if err != nil {
		return nil, remove, err
	}
	if name == "" {
		if path != "" {
			env = []string{"KUBECONFIG=" + path}
		}
		return env, remove, nil
	}
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = path
	config, err := rules.Load()
	if err != nil {
		return nil, remove, fmt.Errorf("read the kubeconfig: %w", err)
	}
	config.CurrentContext = name
	if err := clientcmd.ConfirmUsable(*config, name); err != nil {
		return nil, remove, fmt.Errorf("use context %s: %w", name, err)
	}
	dir, err := os.MkdirTemp("", "firstlight-kubeconfig-")
	if err != nil {
		return nil, remove, err
	}
	remove = func() { _ = os.RemoveAll(dir) } // credentials
	path = filepath.Join(dir, "config")
	if err := clientcmd.WriteToFile(*config, path); err != nil {
		remove()
		return nil, func() {}, fmt.Errorf("write a kubeconfig: %w", err)
	}
	return []string{"KUBECONFIG=" + path}, remove, nil
}
