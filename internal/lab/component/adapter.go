package component

import (
	"strconv"
	"strings"
	"time"

	"github.com/firstlight/firstlight/internal/adapterrules"
	"github.com/firstlight/firstlight/internal/lab/pki"
)

// RateWindow is what the adapter averages over: five of the lab's scrapes.
const RateWindow = 5 * time.Second

// noSuchSeries is what the power rules ask for when they are wrong: a name that
// could be right, and that nothing exports.
const noSuchSeries = "DCGM_FI_DEV_POWER_DRAW"

// The series of the rules for inference servers, and what they ask for when they are
// wrong.
const (
	serviceSeries = "vllm:num_requests_"
	noSuchService = "vllm_engine:num_requests_"
)

// adapterConfig is firstlight's rules as users are told to install them.
func (c Config) adapterConfig() string {
	rules, err := adapterrules.Render(RateWindow)
	if err != nil {
		panic(err) // of a constant
	}
	if c.Faults.AdapterRuleWrong {
		rules = strings.ReplaceAll(rules, adapterrules.Power, noSuchSeries)
	}
	if c.Faults.ServiceRuleWrong {
		rules = strings.ReplaceAll(rules, serviceSeries, noSuchService)
	}
	return rules
}

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
