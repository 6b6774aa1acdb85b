package kube

import (
	"cmp"
	"context"
	"fmt"
	"net/http"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/firstlight/firstlight/internal/probe/origin"
)

// userAgent identifies firstlight in the audit log of the API server.
const userAgent = "firstlight"

// Client-side rate limits. With the default of client-go, 5 requests per second, the client
// limits the creation of a gang of a few pods.
const (
	clientQPS   = 200
	clientBurst = 400
)

// Cluster is a Kubernetes cluster with its clients.
type Cluster struct {
	Config  *rest.Config
	Client  kubernetes.Interface
	Dynamic dynamic.Interface
	// Namespace is the namespace that runs use: created by an administrator and never deleted.
	// Empty: each run creates its own.
	Namespace string
	// Creating, if set, is called before the first object of a run is created, and may be called
	// again.
	Creating func()
	// RenewLease, if set, is called before any object is created in the namespace of a run.
	// Its error cancels the creation.
	RenewLease func(ctx context.Context) error
	// ReleaseLease, if set, is called before a check deletes the namespace of a run, which has the
	// Lease: without it the deletion reads as that of another process. A later RenewLease acquires
	// the Lease again.
	ReleaseLease func(ctx context.Context) error

	// reviewed has the answers to access reviews where they are kept; see withReviews. unlisted has
	// the resources that could not be listed; see notListed.
	reviewed, unlisted map[schema.GroupVersionResource]bool
}

// withReviews is the same cluster for one operation of one goroutine, with the answer to each
// access review kept.
func (c *Cluster) withReviews() *Cluster {
	out := *c
	out.reviewed, out.unlisted = map[schema.GroupVersionResource]bool{}, map[schema.GroupVersionResource]bool{}
	return &out
}

// NamespaceFor is the namespace of a run in this cluster.
func (c *Cluster) NamespaceFor(runID string) string {
	return cmp.Or(c.Namespace, NamespaceOf(runID))
}

// NamespacesFor are the namespaces that a gate of a run can use: that of the run and that of
// the gate (see Guest.EnsurePrivileged).
func (c *Cluster) NamespacesFor(runID, gate string) []string {
	if c.Namespace != "" {
		return []string{c.Namespace}
	}
	return []string{NamespaceOf(runID), privilegedOf(runID, gate)}
}

// In is the same cluster with runs in the given namespace; empty: each run creates its own.
func (c *Cluster) In(namespace string) *Cluster {
	out := *c
	out.Namespace = namespace
	return &out
}

// With is the same cluster with clients for another configuration. It does not connect.
func (c *Cluster) With(cfg *rest.Config) (*Cluster, error) {
	other, err := New(cfg)
	if err != nil {
		return nil, err
	}
	out := *c
	out.Config, out.Client, out.Dynamic = other.Config, other.Client, other.Dynamic
	return &out, nil
}

// Open reads a kubeconfig (empty: the default locations, then in-cluster) and creates clients
// for one of its contexts (empty: the current one). It does not connect.
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

// Names are the names that a kubeconfig has for one of its contexts (empty: the current one) and
// for the cluster of it; both are empty without a kubeconfig, as in a pod.
func Names(kubeconfig, kubeContext string) (context, cluster string, err error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = kubeconfig
	raw, err := rules.Load()
	if err != nil {
		return "", "", fmt.Errorf("read kubeconfig %s: %w", orDefault(kubeconfig), err)
	}
	context = cmp.Or(kubeContext, raw.CurrentContext)
	if of, ok := raw.Contexts[context]; ok {
		cluster = of.Cluster
	}
	return context, cluster, nil
}

// New creates clients for a configuration. It does not connect.
func New(cfg *rest.Config) (*Cluster, error) {
	cfg = rest.CopyConfig(cfg)
	cfg.UserAgent = userAgent
	cfg.QPS, cfg.Burst = clientQPS, clientBurst
	if err := pinToServer(cfg); err != nil {
		return nil, fmt.Errorf("create client for %s: %w", cfg.Host, err)
	}
	client, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		return nil, fmt.Errorf("create client for %s: %w", cfg.Host, err)
	}
	dyn, err := dynamic.NewForConfig(cfg)
	if err != nil {
		return nil, fmt.Errorf("create dynamic client for %s: %w", cfg.Host, err)
	}
	return &Cluster{Config: cfg, Client: client, Dynamic: dyn}, nil
}

// pinToServer rejects requests to any other host, in the transport below the one that adds
// credentials: client-go adds them to every request, redirected ones included.
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
