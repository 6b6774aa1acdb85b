package component

import (
	"strings"
	"testing"
	"time"
)

// The interval of Prometheus' configuration is that of the site file: freshness is a multiple of it.
func TestScrapeInterval(t *testing.T) {
	t.Parallel()
	for hosts, want := range map[int]time.Duration{0: time.Second, 6: time.Second, 252: time.Second, 256: time.Second, 257: 2 * time.Second, 1002: 4 * time.Second} {
		if got := ScrapeInterval(hosts); got != want {
			t.Errorf("%d hosts: %s, want %s", hosts, got, want)
		}
		c := config()
		c.Hosts = hosts
		p := c.Prometheus()
		if text := p.Files[c.Conf("prometheus.yaml")]; !strings.Contains(text, "scrape_interval: "+want.String()+"\n  scrape_timeout: "+want.String()+"\n") {
			t.Errorf("%d hosts: %.200s", hosts, text)
		}
	}
}

// The limits grow with the hosts; a control plane without hosts has none.
func TestMemoryByHosts(t *testing.T) {
	t.Parallel()
	for hosts, want := range map[int]string{0: "GOGC=400", 6: "GOMEMLIMIT=775MiB GOGC=400", 1002: "GOMEMLIMIT=2020MiB GOGC=400"} {
		c := config()
		c.Hosts = hosts
		if got := strings.Join(c.APIServer().Env, " "); got != want {
			t.Errorf("%d hosts: %q, want %q", hosts, got, want)
		}
	}
}
