package lab

import (
	"fmt"
	"net"
	"slices"
	"strconv"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/firstlight/firstlight/internal/lab/component"
	"github.com/firstlight/firstlight/internal/lab/pki"
)

// Info says how to reach a lab.
type Info struct {
	Name string `json:"name"`
	ID   string `json:"id"`
	Dir  string `json:"dir"`
	// With are the extras that the lab has, or starts with.
	With []string `json:"with,omitempty"`
	// Kubeconfig is the file of the lab's administrator. It holds its
	// certificates itself: copied elsewhere, it still works.
	Kubeconfig string `json:"kubeconfig"`
	// RestConfig is the same, for client-go; nil until the certificates are made.
	RestConfig *rest.Config `json:"-"`
	// Address is where the control plane listens. Subnet is the first three
	// octets of the lab's own loopback /24: .2 to .252 are for the world's hosts.
	Address string `json:"address"`
	Subnet  string `json:"subnet"`

	PrometheusURL   string `json:"prometheusURL"`
	AlertmanagerURL string `json:"alertmanagerURL"`
	// AlertWebhook is where Alertmanager sends (any path). AlertListener is
	// that address, listening: who takes it serves it and closes it.
	AlertWebhook  string       `json:"alertWebhook"`
	AlertListener net.Listener `json:"-"`

	// PodListener is the address of the proxy to pods, listening: who takes it serves
	// it and closes it.
	PodListener net.Listener `json:"-"`

	// CA, ClientCert and ClientKey are files: whom to trust and what to show
	// to Prometheus and Alertmanager (the API server takes them too).
	CA         string `json:"ca"`
	ClientCert string `json:"clientCert"`
	ClientKey  string `json:"clientKey"`

	// Kubelet is where kwok serves the nodes' kubelets; KubeletCert and
	// KubeletKey are its pair, for who stands before it.
	Kubelet     string `json:"kubelet"`
	KubeletCert string `json:"kubeletCert"`
	KubeletKey  string `json:"kubeletKey"`
}

// info computes Info from the configuration of the components.
func (l *Lab) info() Info {
	p := l.conf.PKI()
	return Info{
		Name: l.opts.Name, ID: l.id, Dir: l.opts.Dir, With: slices.Clone(l.conf.With),
		Kubeconfig: l.conf.AdminKubeconfig(),
		Address:    l.conf.Address, Subnet: l.net.subnet,
		PrometheusURL: l.conf.PrometheusURL(), AlertmanagerURL: l.conf.AlertmanagerURL(),
		AlertWebhook: l.conf.AlertWebhook, AlertListener: l.net.listener(l.conf.Ports.AlertWebhook),
		PodListener: l.net.listener(l.conf.Ports.PodNetwork),
		CA:          p.Cert(pki.CA), ClientCert: p.Cert(pki.Admin), ClientKey: p.Key(pki.Admin),
		Kubelet: net.JoinHostPort(l.conf.Address, strconv.Itoa(l.conf.Ports.Kwok)), KubeletCert: p.Cert(pki.Kwok), KubeletKey: p.Key(pki.Kwok),
	}
}

// restConfig reads the administrator's kubeconfig. The lab's own client is
// not held back by client-side rate limits.
func restConfig(c component.Config) (*rest.Config, error) {
	cfg, err := clientcmd.BuildConfigFromFlags("", c.AdminKubeconfig())
	if err != nil {
		return nil, fmt.Errorf("read the lab's kubeconfig: %w", err)
	}
	cfg.QPS, cfg.Burst = 500, 1000
	cfg.UserAgent = "firstlight-lab"
	return cfg, nil
}
