package component

import (
	"strconv"
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

// alertRoute routes critical alerts to on-call and others to a receiver without a notifier. Without
// a webhook, or under the fault, on-call has no route.
func (c Config) alertRoute() string {
	const root = `route:
  receiver: none
  group_wait: 0s
  group_interval: 1s
  repeat_interval: 1h
  group_by: ["..."]
`
	const none = "receivers:\n- name: none\n"
	if c.AlertWebhook == "" || c.Faults.AlertRouteMissing {
		return root + none
	}
	const critical = `  routes:
  - receiver: on-call
    matchers: ['severity="critical"']
`
	if !c.Faults.OnCallSilent {
		return root + critical + none + webhookOf("on-call", c.AlertWebhook)
	}
	const watchdog = `  - receiver: watchdog
    matchers: ['alertname="Watchdog"']
    repeat_interval: 1s
`
	return root + critical + watchdog + none + webhookOf("on-call", "http://"+c.hostPort(closedPort)+"/") + webhookOf("watchdog", c.AlertWebhook)
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
