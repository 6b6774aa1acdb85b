package component

import (
	"path/filepath"
	"strconv"
	"strings"
	"time"

	_ "embed" // the configuration's template

	"github.com/firstlight/firstlight/internal/lab/pki"
)

//go:embed prometheus.yaml
var prometheusConfig string

// prometheusServices is the job for Services with the scrape annotation, as in the Prometheus
// chart: the GPU Operator annotates the Service of its exporters.
//
//go:embed prometheus-services.yaml
var prometheusServices string

// prometheusShared is the job for the exporters of another cluster.
//
//go:embed prometheus-shared.yaml
var prometheusShared string

// sharedLabel separates the series of the lab from those of the other cluster.
const sharedLabel = "  - {target_label: cluster, replacement: lab}\n"

// unscraped drops the exporters from the targets of a job.
const unscraped = `  - source_labels: [__meta_kubernetes_pod_label_app]
    regex: nvidia-dcgm-exporter
    action: drop
`

// scrapes is Prometheus' configuration.
func (c Config) scrapes() string {
	jobs := []string{prometheusConfig}
	if c.Stack.External() {
		jobs = append(jobs, prometheusServices)
	}
	var text strings.Builder
	for _, job := range jobs {
		text.WriteString(c.fill(job))
		if c.Faults.ExportersUnscraped {
			text.WriteString(unscraped) // relabel_configs are the last key
		}
		if c.Faults.PrometheusShared {
			text.WriteString(sharedLabel)
		}
	}
	if c.Faults.PrometheusShared {
		text.WriteString(c.fill(prometheusShared))
	}
	return text.String()
}

// scrapesPerSecond is the most scrapes of exporters: each costs a millisecond of CPU of both sides, and 1,000
// a second took more than half of two cores.
const scrapesPerSecond = 256

// ScrapeInterval is a second for up to 256 hosts, and longer for more. Its ceiling in a site file is a minute.
func ScrapeInterval(hosts int) time.Duration {
	return time.Duration(max(1, (hosts+scrapesPerSecond-1)/scrapesPerSecond)) * time.Second
}

// Prometheus scrapes annotated pods and sends alerts to Alertmanager.
func (c Config) Prometheus() Component {
	config, web := c.Conf("prometheus.yaml"), c.Conf("prometheus-web.yaml")
	prometheus := Component{
		Name: Prometheus,
		Argv: []string{
			"--config.file=" + config,
			"--storage.tsdb.path=" + c.Data(Prometheus),
			"--storage.tsdb.retention.time=12h",
			"--web.listen-address=" + c.hostPort(c.Ports.Prometheus),
			"--web.config.file=" + web,
			"--web.enable-lifecycle",
			"--log.level=warn",
		},
		Files: map[string]string{
			config: c.scrapes(),
			web:    c.webConfig(pki.Prometheus),
		},
		Probe: c.probe(c.Ports.Prometheus, "/-/ready"),
		// It takes new targets over every five seconds from its start on: this start is early enough
		// for a fast lab and late enough for a slow one. Its requests wait at the port Discovery.
		Needs:     []string{Serving},
		StopGrace: 5 * time.Second,
	}
	if c.Faults.AlertLabelDropped {
		prometheus.Files[config] = strings.Replace(prometheus.Files[config], "alerting:\n", "alerting:\n"+severityDropped, 1)
	}
	prometheus.Files[config] += "rule_files:\n- " + strconv.Quote(filepath.Join(c.RulesDir(), "*.yaml")) + "\n"
	if c.Faults.OnCallSilent {
		prometheus.Files[config] += "- " + strconv.Quote(c.Conf("prometheus-rules.yaml")) + "\n"
		prometheus.Files[c.Conf("prometheus-rules.yaml")] = watchdogRule
	}
	return prometheus
}

// severityDropped removes the label by which Alertmanager's route selects alerts.
const severityDropped = `  alert_relabel_configs:
  - {regex: severity, action: labeldrop}
`

// RulesDir is the directory of rule files that change while Prometheus runs.
func (c Config) RulesDir() string { return c.Conf("rules") }

// PrometheusReplica is a second Prometheus with the same configuration except scrape targets: it
// is ready and has no samples.
func (c Config) PrometheusReplica() Component {
	replica := c.Prometheus()
	config, web := c.Conf("prometheus-replica.yaml"), c.Conf("prometheus-web.yaml")
	global, _, _ := strings.Cut(c.fill(prometheusConfig), "scrape_configs:")
	replica.Name, replica.Program = PrometheusReplica, Prometheus
	replica.Argv[0] = "--config.file=" + config
	replica.Argv[1] = "--storage.tsdb.path=" + c.Data(PrometheusReplica)
	replica.Argv[3] = "--web.listen-address=" + c.hostPort(c.Ports.PrometheusReplica)
	replica.Files = map[string]string{config: global, web: replica.Files[web]}
	replica.Probe = c.probe(c.Ports.PrometheusReplica, "/-/ready")
	return replica
}

// watchdogRule always fires, like the dead man's switch of kube-prometheus.
const watchdogRule = `groups:
- name: general.rules
  rules:
  - alert: Watchdog
    expr: vector(1)
    labels: {severity: none}
`

// fill expands the placeholders of a configuration.
func (c Config) fill(template string) string {
	p := c.PKI()
	return strings.NewReplacer(
		"${SCRAPE_INTERVAL}", ScrapeInterval(c.Hosts).String(),
		"${DISCOVERY}", c.url(c.Ports.Discovery),
		"${ALERTMANAGER}", c.hostPort(c.Ports.Alertmanager),
		"${CA}", p.Cert(pki.CA),
		"${CERT}", p.Cert(pki.Prometheus),
		"${KEY}", p.Key(pki.Prometheus),
		"${POD_NETWORK}", c.PodNetwork,
		"${NODE_LABEL}", nodeLabel(c.Faults.NodeLabelOff),
		"${HONOR_LABELS}", strconv.FormatBool(!c.Faults.HonorLabelsOff),
	).Replace(template)
}

// nodeLabel is the target label for the node's name; Prometheus drops the label that is used when
// off.
func nodeLabel(off bool) string {
	if off {
		return "__node"
	}
	return "node"
}

// webConfig makes a Prometheus-style server require a certificate of this lab.
func (c Config) webConfig(identity string) string {
	p := c.PKI()
	return `tls_server_config:
  cert_file: ` + p.Cert(identity) + `
  key_file: ` + p.Key(identity) + `
  client_auth_type: RequireAndVerifyClientCert
  client_ca_file: ` + p.Cert(pki.CA) + "\n"
}
