package component

import (
	"strconv"
	"time"

	_ "embed" // its rules

	"github.com/firstlight/firstlight/internal/lab/pki"
)

//go:embed adapter.yaml
var adapterConfig string

// Adapter serves Prometheus's series as custom and external metrics.
func (c Config) Adapter() Component {
	p := c.PKI()
	kubeconfig, config := c.Kubeconfig(pki.Adapter), c.Conf("adapter.yaml")
	return Component{
		Name: Adapter,
		Argv: []string{
			"--config=" + config,
			"--bind-address=" + c.Address,
			"--secure-port=" + strconv.Itoa(c.Ports.Adapter),
			"--tls-cert-file=" + p.Cert(pki.Adapter),
			"--tls-private-key-file=" + p.Key(pki.Adapter),
			"--client-ca-file=" + p.Cert(pki.CA),
			"--requestheader-client-ca-file=" + p.Cert(pki.FrontProxyCA),
			"--requestheader-allowed-names=front-proxy-client",
			"--requestheader-extra-headers-prefix=X-Remote-Extra-",
			"--requestheader-group-headers=X-Remote-Group",
			"--requestheader-username-headers=X-Remote-User",
			"--lister-kubeconfig=" + kubeconfig,
			"--authentication-kubeconfig=" + kubeconfig,
			"--authorization-kubeconfig=" + kubeconfig,
			"--prometheus-url=" + c.PrometheusURL(),
			"--prometheus-ca-file=" + p.Cert(pki.CA),
			"--prometheus-client-tls-cert-file=" + p.Cert(pki.Adapter),
			"--prometheus-client-tls-key-file=" + p.Key(pki.Adapter),
			"--metrics-relist-interval=2s",
			"--metrics-max-age=10s",
		},
		Files:     map[string]string{config: adapterConfig},
		Probe:     c.probe(c.Ports.Adapter, "/healthz"),
		Needs:     []string{APIServer, Objects, Prometheus},
		StopGrace: 5 * time.Second,
	}
}
