package kube

import (
	"fmt"
	"net/http"
	"strings"

	"k8s.io/client-go/rest"
)

// Service is the address of a Service behind the API server proxy.
type Service struct {
	// BaseURL has no trailing slash.
	BaseURL string
	// Transport adds the credentials of the cluster.
	Transport http.RoundTripper
}

// Proxy returns the address of a Service behind the API server proxy. service is
// "namespace/name:port", with the prefix "https:" for a Service with TLS.
func (c *Cluster) Proxy(service string) (Service, error) {
	scheme := ""
	ref := service
	if rest, ok := strings.CutPrefix(ref, "https:"); ok {
		scheme, ref = "https:", rest
	}
	namespace, name, ok := strings.Cut(ref, "/")
	if !ok || namespace == "" || name == "" || strings.Contains(name, "/") {
		return Service{}, fmt.Errorf("invalid service %q: must be namespace/name:port, with the prefix https: for TLS", service)
	}
	transport, err := rest.TransportFor(c.Config)
	if err != nil {
		return Service{}, fmt.Errorf("create transport for service %s: %w", service, err)
	}
	base, err := c.serviceURL(namespace, scheme+name)
	if err != nil {
		return Service{}, err
	}
	return Service{BaseURL: base, Transport: transport}, nil
}

func (c *Cluster) serviceURL(namespace, name string) (string, error) {
	client := c.Client.CoreV1().RESTClient()
	if client == nil {
		return "", fmt.Errorf("proxy to service %s/%s: no REST client", namespace, name)
	}
	return client.Get().Namespace(namespace).Resource("services").Name(name).SubResource("proxy").URL().String(), nil
}
