package component

import (
	"strconv"
	"strings"
	"time"

	"github.com/firstlight/firstlight/internal/lab/pki"
)

// Alertmanager forwards alerts to a webhook.
func (c Config) Alertmanager() Component {
	config, web := c.Conf("alertmanager.yaml"), c.Conf("alertmanager-web.yaml")
	return Component{
		Name: Alertmanager,
		Argv: []string{
			"--config.file=" + config,
			"--storage.path=" + c.Data(Alertmanager),
			"--web.listen-address=" + c.hostPort(c.Ports.Alertmanager),
			"--web.config.file=" + web,
			"--cluster.listen-address=", // no gossip
			"--enable-feature=receiver-name-in-metrics",
			"--log.level=warn",
		},
		// Alertmanager does not need the API server; an earlier start would only compete for CPU.
		Needs:     []string{APIServer},
		Files:     map[string]string{config: c.alertRoute(), web: c.webConfig(pki.Alertmanager)},
		Probe:     c.probe(c.Ports.Alertmanager, "/-/ready"),
		StopGrace: 5 * time.Second,
	}
}

// alertRoute has one route to one receiver. Without a webhook, or under the fault, the receiver
// notifies nothing.
func (c Config) alertRoute() string {
	route := `route:
  receiver: RECEIVER
  group_wait: 0s
  group_interval: 1s
  repeat_interval: 1h
  group_by: ["..."]
receivers:
`
	if c.AlertWebhook == "" || c.Faults.AlertRouteMissing {
		return strings.Replace(route, "RECEIVER", "none", 1) + "- name: none\n"
	}
	route = strings.Replace(route, "RECEIVER", "on-call", 1)
	if !c.Faults.OnCallSilent {
		return route + webhookOf("on-call", c.AlertWebhook)
	}
	route = strings.Replace(route, "receivers:\n", `  routes:
  - receiver: watchdog
    matchers: ['alertname="Watchdog"']
    repeat_interval: 1s
receivers:
`, 1)
	return route + webhookOf("on-call", "http://"+c.hostPort(closedPort)+"/") + webhookOf("watchdog", c.AlertWebhook)
}

// closedPort is a privileged port, which no program of a lab can bind.
const closedPort = 1

func webhookOf(receiver, url string) string {
	return "- name: " + receiver + `
  webhook_configs:
  - url: ` + strconv.Quote(url) + `
    send_resolved: true
`
}
