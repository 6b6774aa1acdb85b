package component

import (
	"strconv"
	"strings"
	"time"

	"github.com/firstlight/firstlight/internal/adapterrules"
	"github.com/firstlight/firstlight/internal/lab/pki"
)

// RateWindow is the window that the adapter averages over: five scrapes of the lab.
const RateWindow = 5 * time.Second

// noSuchSeries is the series of the power rules under the fault: a plausible name that no exporter
// has.
const noSuchSeries = "DCGM_FI_DEV_POWER_DRAW"

// The series of the inference rules, and those under the fault.
const (
	serviceSeries = "vllm:num_requests_"
	noSuchService = "vllm_engine:num_requests_"
)

// adapterConfig returns the rules that the documentation tells users to install.
func (c Config) adapterConfig() string {
	rules, err := adapterrules.Render(RateWindow)
	if err != nil {
		panic(err) // a constant
	}
	if c.Faults.AdapterRuleWrong {
		rules = strings.ReplaceAll(rules, adapterrules.Power, noSuchSeries)
	}
	if c.Faults.ServiceRuleWrong {
		rules = strings.ReplaceAll(rules, serviceSeries, noSuchService)
	}
	return rules
}

// Adapter serves Prometheus' series as custom and external metrics.
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
		Files:     map[string]string{config: c.adapterConfig()},
		Probe:     c.probe(c.Ports.Adapter, "/healthz"),
		Needs:     []string{APIServer, Prometheus, ObjectsOf(ExtraAdapter)},
		StopGrace: 5 * time.Second,
	}
}
