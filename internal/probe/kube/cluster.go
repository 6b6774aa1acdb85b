package kube

import (
	"cmp"
	"context"
	"fmt"
	"net/http"

	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/firstlight/firstlight/internal/probe/origin"
)

// userAgent is what the API server's audit log shows for us.
const userAgent = "firstlight"

// The client-side limits are raised above client-go's 5 requests a second, at
// which a gang of a few pods waits for the client and not for the cluster.
const (
	clientQPS   = 200
	clientBurst = 400
)

// Cluster is a Kubernetes cluster that can be reached.
type Cluster struct {
	Config  *rest.Config
	Client  kubernetes.Interface
	Dynamic dynamic.Interface
	// Namespace is the one that runs use, made by an administrator and never deleted;
	// empty: each run makes its own.
	Namespace string
	// Hold, if set, is called with each use of a run's namespace, before anything else is
	// created in it. Its error ends the use.
	Hold func(ctx context.Context) error
}

// NamespaceFor is the namespace of a run in this cluster.
func (c *Cluster) NamespaceFor(runID string) string {
	return cmp.Or(c.Namespace, NamespaceOf(runID))
}

// NamespacesFor are those that a gate of a run may use: the run's, and the gate's own (see
// Guest.EnsurePrivileged).
func (c *Cluster) NamespacesFor(runID, gate string) []string {
	if c.Namespace != "" {
		return []string{c.Namespace}
	}
	return []string{NamespaceOf(runID), privilegedOf(runID, gate)}
}

// In is the same cluster with runs in a namespace that an administrator made; empty: in
// their own.
func (c *Cluster) In(namespace string) *Cluster {
	out := *c
	out.Namespace = namespace
	return &out
}

// Open reads a kubeconfig (empty: the usual places, then in-cluster) and makes
// clients for a context of it (empty: the current one). It does not connect.
func Open(kubeconfig, kubeContext string) (*Cluster, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = kubeconfig
	overrides := &clientcmd.ConfigOverrides{CurrentContext: kubeContext}
	cfg, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, overrides).ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("read kubeconfig %s context %q: %w", orDefault(kubeconfig), kubeContext, err)
	}
	return New(cfg)
}

// New makes clients for a configuration. It does not connect.
func New(cfg *rest.Config) (*Cluster, error) {
	cfg = rest.CopyConfig(cfg)
	cfg.UserAgent = userAgent
	cfg.QPS, cfg.Burst = clientQPS, clientBurst
	if err := pinToServer(cfg); err != nil {
		return nil, fmt.Errorf("make client for %s: %w", cfg.Host, err)
	}
	client, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		return nil, fmt.Errorf("make client for %s: %w", cfg.Host, err)
	}
	dyn, err := dynamic.NewForConfig(cfg)
	if err != nil {
		return nil, fmt.Errorf("make dynamic client for %s: %w", cfg.Host, err)
	}
	return &Cluster{Config: cfg, Client: client, Dynamic: dyn}, nil
}

// pinToServer refuses requests to any other host below what adds the credentials:
// client-go adds them to every request, also to one that a redirect led elsewhere.
func pinToServer(cfg *rest.Config) error {
	server, _, err := rest.DefaultServerUrlFor(cfg)
	if err != nil {
		return err
	}
	credentials := cfg.BearerToken != "" || cfg.BearerTokenFile != "" || cfg.Password != "" || cfg.ExecProvider != nil || cfg.AuthProvider != nil
	if credentials && server.Scheme != "https" {
		return fmt.Errorf("%w: use an https server in the kubeconfig", origin.ErrPlainHTTP)
	}
	cfg.Wrap(func(next http.RoundTripper) http.RoundTripper { return origin.Pin(server, next) })
	return nil
}

func orDefault(path string) string {
	if path == "" {
		return "(default)"
	}
	return path
}
