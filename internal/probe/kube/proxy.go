package kube

import (
	"fmt"
	"net/http"
	"strings"

	"k8s.io/client-go/rest"
)

// Service is where a Service can be reached through the API server's proxy.
type Service struct {
	// BaseURL ends without a slash; paths are appended.
	BaseURL string
	// Transport carries the cluster's credentials.
	Transport http.RoundTripper
}

// Proxy reaches a Service through the API server. service is
// "namespace/name:port"; a prefix "https:" says that the Service speaks TLS.
func (c *Cluster) Proxy(service string) (Service, error) {
	scheme := ""
	ref := service
	if rest, ok := strings.CutPrefix(ref, "https:"); ok {
		scheme, ref = "https:", rest
	}
	namespace, name, ok := strings.Cut(ref, "/")
	if !ok || namespace == "" || name == "" || strings.Contains(name, "/") {
		return Service{}, fmt.Errorf("service %q: write namespace/name:port, with https: before it for TLS", service)
	}
	transport, err := rest.TransportFor(c.Config)
	if err != nil {
		return Service{}, fmt.Errorf("make transport for service %s: %w", service, err)
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
