// Package promtest runs a real Prometheus for tests of rules.
package promtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/firstlight/firstlight/internal/poll"
	"github.com/firstlight/firstlight/internal/poll/polltest"
	"github.com/firstlight/firstlight/internal/upstream"
)

// Server is a running Prometheus.
type Server struct {
	url string
	log *bytes.Buffer
}

// Start runs a Prometheus until the test ends, which scrapes target and evaluates the rules of a file
// once a second.
func Start(t *testing.T, rules, target string) *Server {
	t.Helper()
	programs, err := upstream.Builder{}.Ensure(t.Context(), []string{"prometheus"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	path, err := programs.Path(t.Context(), "prometheus")
	if err != nil {
		t.Fatal(err)
	}
	abs, err := filepath.Abs(rules)
	if err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(target)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	config := fmt.Sprintf("global: {scrape_interval: 1s, evaluation_interval: 1s}\nrule_files: [%q]\nscrape_configs:\n  - job_name: firstlight\n    static_configs: [{targets: [%q]}]\n", abs, u.Host)
	if err := os.WriteFile(filepath.Join(dir, "prometheus.yaml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	p := &Server{url: "http://" + freeAddress(t), log: &bytes.Buffer{}}
	cmd := exec.CommandContext(t.Context(), path, "--config.file="+filepath.Join(dir, "prometheus.yaml"),
		"--storage.tsdb.path="+filepath.Join(dir, "data"), "--web.listen-address="+strings.TrimPrefix(p.url, "http://"), "--log.level=warn")
	cmd.Stdout, cmd.Stderr = p.log, p.log
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { defer close(ended); _ = cmd.Wait() }() // ended by the test
	t.Cleanup(func() { <-ended })                      // t.Context has ended
	polltest.UntilNil(t, "Prometheus to be ready", func() error {
		select {
		case <-ended:
			return poll.Stop(fmt.Errorf("prometheus has ended:\n%s", p.log))
		default:
		}
		_, err := get(t, p.url+"/-/ready")
		return err
	})
	return p
}

// Log is what it printed.
func (p *Server) Log() string { return p.log.String() }

func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

func get(t *testing.T, url string) (string, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		return "", err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	var b bytes.Buffer
	if _, err := b.ReadFrom(resp.Body); err != nil || resp.StatusCode != http.StatusOK {
		return "", fmt.Errorf("%s: %s: %w", url, resp.Status, err)
	}
	return b.String(), nil
}

// Alerts are the names of those that are pending or firing, in order.
func (p *Server) Alerts(t *testing.T) []string {
	t.Helper()
	names := []string{}
	for _, labels := range p.AlertLabels(t) {
		names = append(names, labels["alertname"])
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// AlertLabels are the labels of each alert that is pending or firing.
func (p *Server) AlertLabels(t *testing.T) []map[string]string {
	t.Helper()
	var out struct {
		Data struct {
			Alerts []struct{ Labels map[string]string }
		}
	}
	p.read(t, "/api/v1/alerts", &out)
	var labels []map[string]string
	for _, a := range out.Data.Alerts {
		labels = append(labels, a.Labels)
	}
	return labels
}

// Evaluated reports whether every rule was evaluated. A rule that failed is an error of
// the test.
func (p *Server) Evaluated(t *testing.T) bool {
	t.Helper()
	var out struct {
		Data struct {
			Groups []struct {
				Rules []struct {
					Name, Health, LastError string
				}
			}
		}
	}
	p.read(t, "/api/v1/rules", &out)
	done := len(out.Data.Groups) > 0
	for _, g := range out.Data.Groups {
		for _, r := range g.Rules {
			if r.Health == "err" {
				t.Errorf("rule %s: %s", r.Name, r.LastError)
			}
			done = done && r.Health == "ok"
		}
	}
	return done
}

func (p *Server) read(t *testing.T, path string, into any) {
	t.Helper()
	text, err := get(t, p.url+path)
	if err != nil {
		t.Fatalf("%v\n%s", err, p.log)
	}
	if err := json.Unmarshal([]byte(text), into); err != nil {
		t.Fatal(err)
	}
}
