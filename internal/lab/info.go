package lab

import (
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/firstlight/firstlight/internal/lab/component"
	"github.com/firstlight/firstlight/internal/lab/pki"
)

// Info has the endpoints and credentials of a lab.
type Info struct {
	Name string `json:"name"`
	ID   string `json:"id"`
	Dir  string `json:"dir"`
	// Stack manages the GPUs.
	Stack component.Stack `json:"stack"`
	// With lists the extras of the lab.
	With []string `json:"with,omitempty"`
	// Kubeconfig is the administrator's file. It embeds its certificates.
	Kubeconfig string `json:"kubeconfig"`
	// RestConfig has the same credentials; nil until the certificates exist.
	RestConfig *rest.Config `json:"-"`
	// Address is the address of the control plane. Subnet is the first three octets of the lab's
	// first loopback /24; .2 to .252 are for the world.
	Address string `json:"address"`
	Subnet  string `json:"subnet"`

	PrometheusURL   string `json:"prometheusURL"`
	AlertmanagerURL string `json:"alertmanagerURL"`
	// AlertWebhook is the URL that Alertmanager notifies (any path). AlertListener is its
	// listener; the server that takes it closes it.
	AlertWebhook  string       `json:"alertWebhook"`
	AlertListener net.Listener `json:"-"`

	// Metrics has the host:port of metrics servers of processes that pods represent, by component.
	Metrics map[string]string `json:"metrics,omitempty"`

	// PodListener is the listener of the proxy to pods; the server that takes it closes it.
	PodListener net.Listener `json:"-"`

	// CA, ClientCert and ClientKey are files with the credentials for Prometheus, Alertmanager and
	// the API server.
	CA         string `json:"ca"`
	ClientCert string `json:"clientCert"`
	ClientKey  string `json:"clientKey"`

	// Kubelet is the address of kwok's kubelet server. KubeletCert and KubeletKey are its pair,
	// for a proxy in front of it.
	Kubelet     string `json:"kubelet"`
	KubeletCert string `json:"kubeletCert"`
	KubeletKey  string `json:"kubeletKey"`
}

// HostAddress returns the address of the world's host i, below the lab's number of hosts.
func (i Info) HostAddress(host int) string {
	a := netip.MustParseAddr(i.Subnet + "." + strconv.Itoa(firstHost+host%hostsInSubnet)).As4()
	a[2] += byte(host / hostsInSubnet)
	return netip.AddrFrom4(a).String()
}

func (l *Lab) info() Info {
	p := l.conf.PKI()
	metrics := map[string]string{}
	if l.conf.Stack.External() {
		metrics[component.GPUOperator] = hostPort(l.conf.Address, l.conf.Ports.GPUOperatorMetrics)
		metrics[component.NFDMaster] = hostPort(l.conf.Address, l.conf.Ports.NFDMaster)
	}
	return Info{
		Metrics: metrics, Name: l.opts.Name, ID: l.id, Dir: l.opts.Dir,
		Stack: l.stack(), With: slices.Clone(l.conf.With),
		Kubeconfig: l.conf.AdminKubeconfig(),
		Address:    l.conf.Address, Subnet: l.net.subnet,
		PrometheusURL: l.conf.PrometheusURL(), AlertmanagerURL: l.conf.AlertmanagerURL(),
		AlertWebhook: l.conf.AlertWebhook, AlertListener: l.net.listener(l.conf.Ports.AlertWebhook),
		PodListener: l.net.listener(l.conf.Ports.PodNetwork),
		CA:          p.Cert(pki.CA), ClientCert: p.Cert(pki.Admin), ClientKey: p.Key(pki.Admin),
		Kubelet: net.JoinHostPort(l.conf.Address, strconv.Itoa(l.conf.Ports.Kwok)), KubeletCert: p.Cert(pki.Kwok), KubeletKey: p.Key(pki.Kwok),
	}
}

// restConfig reads the administrator's kubeconfig, without client-side rate limits.
func restConfig(c component.Config) (*rest.Config, error) {
	cfg, err := clientcmd.BuildConfigFromFlags("", c.AdminKubeconfig())
	if err != nil {
		return nil, fmt.Errorf("read the lab's kubeconfig: %w", err)
	}
	cfg.QPS, cfg.Burst = 500, 1000
	cfg.UserAgent = "firstlight-lab"
	return cfg, nil
}
